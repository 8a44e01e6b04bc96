//! JSON values as bytes: smaller than their text, and exactly what they were.

use serde_json::{Map, Number, Value};

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NATURAL: u8 = 3;
const NEGATIVE: u8 = 4;
const REAL: u8 = 5;
const TEXT: u8 = 6;
const LIST: u8 = 7;
const OBJECT: u8 = 8;

/// Adds a value to `bytes`.
pub(super) fn pack(value: &Value, bytes: &mut Vec<u8>) {
    let word = |bytes: &mut Vec<u8>, kind: u8, word: u64| {
        bytes.push(kind);
        bytes.extend(word.to_le_bytes());
    };
    match value {
        Value::Null => bytes.push(NULL),
        Value::Bool(is) => bytes.push(if *is { TRUE } else { FALSE }),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(natural), _) => word(bytes, NATURAL, natural),
            (None, Some(negative)) => word(bytes, NEGATIVE, negative as u64),
            (None, None) => word(bytes, REAL, number.as_f64().unwrap_or(f64::NAN).to_bits()),
        },
        Value::String(text) => {
            bytes.push(TEXT);
            pack_text(text, bytes);
        }
        Value::Array(list) => {
            word(bytes, LIST, list.len() as u64);
            list.iter().for_each(|entry| pack(entry, bytes));
        }
        Value::Object(fields) => {
            word(bytes, OBJECT, fields.len() as u64);
            for (name, field) in fields {
                pack_text(name, bytes);
                pack(field, bytes);
            }
        }
    }
}

fn pack_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// Takes a value from the beginning of `bytes`; `None` if there is none.
pub(super) fn unpack(bytes: &mut &[u8]) -> Option<Value> {
    let kind = *bytes.split_off_first()?;
    Some(match kind {
        NULL => Value::Null,
        FALSE | TRUE => Value::Bool(kind == TRUE),
        NATURAL => Value::from(unpack_word(bytes)?),
        NEGATIVE => Value::from(unpack_word(bytes)? as i64),
        REAL => {
            Number::from_f64(f64::from_bits(unpack_word(bytes)?)).map_or(Value::Null, Value::Number)
        }
        TEXT => Value::String(unpack_text(bytes)?),
        LIST => {
            let len = unpack_word(bytes)?;
            Value::Array((0..len).map(|_| unpack(bytes)).collect::<Option<_>>()?)
        }
        OBJECT => {
            let len = unpack_word(bytes)?;
            Value::Object(
                (0..len)
                    .map(|_| Some((unpack_text(bytes)?, unpack(bytes)?)))
                    .collect::<Option<Map<_, _>>>()?,
            )
        }
        _ => return None,
    })
}

fn unpack_word(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*word))
}

fn unpack_text(bytes: &mut &[u8]) -> Option<String> {
    let len = usize::try_from(unpack_word(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_comes_back_as_it_was() {
        let value = json!({
            "": null, "yes": true, "no": false, "most": u64::MAX, "least": i64::MIN, "third": 1.0 / 3.0, "tiny": 5e-324, "whole": 2.0,
            "words": "Zürich \u{2028}", "list": [[], {}, [1, [2.5]]],
        });
        let mut bytes = Vec::new();
        pack(&value, &mut bytes);
        pack(&json!(7), &mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(unpack(&mut rest), Some(value));
        assert_eq!((unpack(&mut rest), unpack(&mut rest)), (Some(json!(7)), None));
        for end in 0..bytes.len() - 9 {
            assert_eq!(unpack(&mut &bytes[..end]), None, "{end} of {}", bytes.len());
        }
        assert_eq!(unpack(&mut &[99u8][..]), None);
    }
}
