//! JSON values. Unlike those of `serde_json`, their objects have no key twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::error::Problem;

/// Objects with more keys than this are checked for double ones by hash.
const FEW_KEYS: usize = 16;

/// A JSON value.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Null,
    Flag(bool),
    Number(serde_json::Number),
    Text(Box<str>),
    List(Vec<Json>),
    Object(Object),
}

/// The fields of an object, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Object(Vec<(Box<str>, Json)>);

impl Object {
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// The first of these fields that is there.
    pub(super) fn first(&self, names: &[&str]) -> Option<&Json> {
        names.iter().find_map(|name| self.get(name))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}

impl Json {
    /// The kind of value, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Flag(_) => "true or false",
            Json::Number(_) => "a number",
            Json::Text(_) => "a string",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }
}

/// As in the file, but without blanks.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Flag(flag) => write!(f, "{flag}"),
            Json::Number(number) => write!(f, "{number}"),
            Json::Text(text) => write!(f, "{:?}", text),
            Json::List(list) => {
                f.write_str("[")?;
                for (i, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(_) => f.write_str("an object"),
        }
    }
}

/// The value that a text is, and how many numbers in it were none and are null.
pub(super) fn parse(text: &str) -> Result<(Json, usize), Problem> {
    let wrong = match serde_json::from_str(text) {
        Ok(value) => return Ok((value, 0)),
        Err(wrong) => wrong,
    };
    // Python writes numbers that JSON does not have.
    if let Some((plain, count)) = without_nan(text)
        && let Ok(value) = serde_json::from_str(&plain)
    {
        return Ok((value, count));
    }
    let hint = if wrong.is_eof() {
        "; it ends too early: is it cut off?"
    } else if wrong.to_string().contains("recursion limit") {
        "; it is nested far deeper than any topology"
    } else {
        ""
    };
    let what = if wrong.is_data() { "has a mistake" } else { "is not valid JSON" };
    Err(format!("{what}: {wrong}{hint}"))
}

/// The text with null for each NaN and Infinity outside strings, and how many; `None` if there is
/// none.
fn without_nan(text: &str) -> Option<(String, usize)> {
    const NOT_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    let mut plain = String::with_capacity(text.len() + text.len() / 8);
    let mut count = 0;
    let mut rest = text;
    let mut is_string = false;
    while let Some(at) = rest.find(['"', '\\', 'N', 'I', '-']) {
        let (before, here) = rest.split_at(at);
        plain.push_str(before);
        let taken = match here.as_bytes()[0] {
            b'"' => {
                is_string = !is_string;
                1
            }
            // What follows is a part of the string, such as a quote.
            b'\\' => 1 + here[1..].chars().next().map_or(0, char::len_utf8),
            _ => match NOT_NUMBERS.iter().find(|word| !is_string && here.starts_with(**word)) {
                Some(word) => {
                    plain.push_str("null");
                    count += 1;
                    rest = &here[word.len()..];
                    continue;
                }
                None => 1,
            },
        };
        plain.push_str(&here[..taken]);
        rest = &here[taken..];
    }
    plain.push_str(rest);
    (count > 0).then_some((plain, count))
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visiting)
    }
}

struct Visiting;

impl<'de> Visitor<'de> for Visiting {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(serde_json::Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut object: Vec<(Box<str>, Json)> = Vec::new();
        let mut many: HashSet<Box<str>> = HashSet::new();
        while let Some(key) = fields.next_key::<Box<str>>()? {
            let is_double = if object.len() < FEW_KEYS {
                object.iter().any(|(known, _)| *known == key)
            } else {
                if many.is_empty() {
                    many.extend(object.iter().map(|(known, _)| known.clone()));
                }
                !many.insert(key.clone())
            };
            if is_double {
                return Err(A::Error::custom(format!(
                    "the key {key:?} is there twice; only one of the two can be meant"
                )));
            }
            object.push((key, fields.next_value()?));
        }
        object.shrink_to_fit();
        Ok(Json::Object(Object(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_null_outside_strings() {
        let (value, count) =
            parse(r#"[NaN, "NaN \" -Infinity", -Infinity, -3, "\\", Infinity]"#).unwrap();
        assert_eq!(value.to_string(), r#"[null,"NaN \" -Infinity",null,-3,"\\",null]"#);
        assert_eq!(count, 3);
    }

    #[test]
    fn keys_are_there_once() {
        for keys in [2, 100] {
            let fields: Vec<String> = (0..keys).map(|key| format!("\"k{key}\": 1")).collect();
            let fields = fields.join(",");
            assert!(parse(&format!("{{{fields}}}")).is_ok());
            let error = parse(&format!("{{{fields},\n \"k1\": 2}}")).unwrap_err();
            assert!(error.contains("\"k1\" is there twice") && error.contains("line 2"), "{error}");
        }
    }
}
