//! The part of TOML that machine files need: tables, and in them texts, numbers, lists of numbers
//! and tables on one line. Programs that use the library alone need no other TOML, so that this
//! spares them a parser of all of it.

use std::fmt::{self, Display};

/// A value of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    List(Vec<f64>),
    Table(Table),
}

/// Keys and values, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table(Vec<(String, Value)>);

/// What is wrong in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Adds a key, which must be new.
    fn add(&mut self, key: String, value: Value) -> Result<(), String> {
        if self.get(&key).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
        self.0.push((key, value));
        Ok(())
    }

    /// Reads a file.
    pub(crate) fn read(text: &str) -> Result<Self, SyntaxError> {
        let mut all = Table::default();
        // The table that lines belong to, if it is not the whole.
        let mut open: Option<(String, Table)> = None;
        for (line, content) in (1..).zip(text.lines()) {
            let fail = |why| SyntaxError { line, why };
            let mut rest = Cursor(content);
            rest.skip_spaces();
            if rest.is_at_end() {
                continue;
            }
            if rest.takes('[') {
                let name = rest.key().map_err(fail)?;
                rest.expect(']').and_then(|()| rest.end()).map_err(fail)?;
                if let Some((name, table)) = open.replace((name, Table::default())) {
                    all.add(name, Value::Table(table)).map_err(fail)?;
                }
                continue;
            }
            let (key, value) = rest.entry().map_err(fail)?;
            rest.end().map_err(fail)?;
            let table = open.as_mut().map_or(&mut all, |(_, table)| table);
            table.add(key, value).map_err(fail)?;
        }
        if let Some((name, table)) = open {
            let fail = |why| SyntaxError { line: text.lines().count(), why };
            all.add(name, Value::Table(table)).map_err(fail)?;
        }
        Ok(all)
    }
}

/// What is left of a line.
struct Cursor<'t>(&'t str);

impl Cursor<'_> {
    fn skip_spaces(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn is_at_end(&self) -> bool {
        self.0.is_empty() || self.0.starts_with('#')
    }

    /// Takes a character and the spaces behind it, if it comes next.
    fn takes(&mut self, next: char) -> bool {
        let rest = self.0.strip_prefix(next);
        self.0 = rest.unwrap_or(self.0);
        self.skip_spaces();
        rest.is_some()
    }

    fn expect(&mut self, next: char) -> Result<(), String> {
        if self.takes(next) { Ok(()) } else { Err(format!("`{next}` is missing{}", self.before())) }
    }

    /// What comes next, for messages.
    fn before(&self) -> String {
        if self.0.is_empty() { " at the end".to_owned() } else { format!(" before `{}`", self.0) }
    }

    fn end(&self) -> Result<(), String> {
        if self.is_at_end() { Ok(()) } else { Err(format!("`{}` is too much", self.0)) }
    }

    /// Takes the characters for which `belongs` holds, and the spaces behind them.
    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let end = self.0.find(|next| !belongs(next)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        self.skip_spaces();
        taken.to_owned()
    }

    fn key(&mut self) -> Result<String, String> {
        let key = self.take_while(|next| next.is_ascii_alphanumeric() || "_-".contains(next));
        if key.is_empty() { Err(format!("a name is missing{}", self.before())) } else { Ok(key) }
    }

    fn entry(&mut self) -> Result<(String, Value), String> {
        let key = self.key()?;
        self.expect('=')?;
        Ok((key, self.value()?))
    }

    fn value(&mut self) -> Result<Value, String> {
        if self.0.starts_with('"') {
            return self.text().map(Value::Text);
        }
        if self.takes('{') {
            let mut table = Table::default();
            while !self.takes('}') {
                let (key, value) = self.entry()?;
                table.add(key, value)?;
                if !self.takes(',') {
                    self.expect('}')?;
                    break;
                }
            }
            return Ok(Value::Table(table));
        }
        if self.takes('[') {
            let mut list = Vec::new();
            while !self.takes(']') {
                list.push(self.number()?);
                if !self.takes(',') {
                    self.expect(']')?;
                    break;
                }
            }
            return Ok(Value::List(list));
        }
        self.number().map(Value::Number)
    }

    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut characters = self.0.char_indices().skip(1);
        while let Some((place, next)) = characters.next() {
            match next {
                '"' => {
                    self.0 = &self.0[place + 1..];
                    self.skip_spaces();
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                    _ => return Err("after `\\` comes `\\` or a quotation mark".to_owned()),
                },
                other => text.push(other),
            }
        }
        Err(format!("the text {} has no end", self.0))
    }

    fn number(&mut self) -> Result<f64, String> {
        let word = self.take_while(|next| next.is_ascii_alphanumeric() || "+-._".contains(next));
        let starts = word.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
        let number = word.replace('_', "").parse().ok().filter(|_| starts);
        number.ok_or_else(|| match word.is_empty() {
            true => format!("a value is missing{}", self.before()),
            false => format!("`{word}` is neither a number nor a text in quotation marks"),
        })
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::List(list) => write!(f, "{list:?}"),
            Value::Table(table) => {
                let entries: Vec<String> =
                    table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_texts_numbers_and_lists_are_read() {
        let text = "# a machine\nabout = \"a \\\"b\\\" # c\" # d\n\n[x]\nn = 1_000 \nlist=[1, 2.5,]\nt = { a = -1e3, b = \"c\" }\n[y-z]\n";
        let read = Table::read(text).unwrap();
        assert_eq!(read.get("about"), Some(&Value::Text("a \"b\" # c".to_owned())));
        let shown: Vec<String> = read.iter().skip(1).map(|(_, value)| value.to_string()).collect();
        assert_eq!(
            shown,
            ["{ n = 1000, list = [1.0, 2.5], t = { a = -1000, b = \"c\" } }", "{  }"]
        );
    }

    #[test]
    fn mistakes_are_said_with_their_line() {
        for (text, line, why) in [
            ("a = 1\n[b", 2, "`]` is missing at the end"),
            ("a 1", 1, "`=` is missing before `1`"),
            ("a =", 1, "a value is missing at the end"),
            ("a = 1 2", 1, "`2` is too much"),
            ("a = yes", 1, "`yes` is neither a number nor a text in quotation marks"),
            ("a = \"x", 1, "the text \"x has no end"),
            ("a = { b = 1", 1, "`}` is missing at the end"),
            ("a = 1\na = 2", 2, "`a` is given twice"),
            ("= 2", 1, "a name is missing before `= 2`"),
        ] {
            let error = Table::read(text).unwrap_err();
            assert_eq!(error, SyntaxError { line, why: why.to_owned() }, "{text}");
        }
    }
}
