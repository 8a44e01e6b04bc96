//! GML: keys and values, where a value may be a list of keys and values in brackets.

use std::borrow::Cow;

use crate::builder::Builder;
use crate::error::Problem;
use crate::graph::{Format, Graph, Id};
use crate::meaning::{Given, Value, is_nothing};

/// How deep lists may lie within each other.
const MOST_LEVELS: u32 = 100;

/// The most values that a node or edge may have.
const MOST_VALUES: usize = 1000;

/// How many keys may come before the graph, as far as it is looked for.
const KEYS_BEFORE: usize = 64;

/// Whether a file begins like GML: perhaps with a few keys, then with `graph [`.
pub(super) fn is_meant(start: &str) -> bool {
    let mut parser = Parser::new(start);
    for _ in 0..KEYS_BEFORE {
        match (parser.next(), parser.next()) {
            (Ok(Some(Token::Word(key))), Ok(Some(Token::Open))) => {
                return key.eq_ignore_ascii_case("graph");
            }
            (Ok(Some(Token::Word(key))), Ok(Some(_))) if key.starts_with(char::is_alphabetic) => {}
            _ => return false,
        }
    }
    false
}

/// Reads a graph from GML.
pub(super) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let mut parser = Parser::new(text);
    let mut builder = Builder::of_lines(Format::Gml, given);
    let mut found = false;
    while let Some(key) = parser.key()? {
        match parser.value()? {
            Token::Open if key.eq_ignore_ascii_case("graph") && !found => {
                found = true;
                graph(&mut parser, &mut builder)?;
            }
            Token::Open if key.eq_ignore_ascii_case("graph") => {
                return Err(format!(
                    "has a second graph in line {}; a file must have one",
                    parser.line
                ));
            }
            Token::Open => parser.skip()?,
            _ => {}
        }
    }
    builder.finish()
}

/// What is within `graph [ … ]`.
fn graph(parser: &mut Parser<'_>, builder: &mut Builder<'_>) -> Result<(), Problem> {
    // Whether links go both ways may be said after them.
    let mut edges = Vec::new();
    loop {
        let line = parser.line;
        let Some(key) = parser.key()? else {
            if parser.is_closed() {
                break;
            }
            return Err(parser.cut_off());
        };
        let line = line.max(parser.line);
        match (key.to_ascii_lowercase().as_str(), parser.value()?) {
            ("node", Token::Open) => node(parser, builder, line)?,
            ("edge", Token::Open) => edges.push((line, fields(parser)?)),
            ("directed", Token::Word(flag)) => {
                builder.directed = is_true(flag, "directed", parser.line)?
            }
            (_, Token::Open) => parser.skip()?,
            _ => {}
        }
    }
    let directed = builder.directed;
    for (line, fields) in edges {
        let end = |name: &'static str| {
            one(&fields, name, line)?
                .ok_or_else(|| format!("has an edge without `{name}` in line {line}"))
        };
        let source = builder.mention(end("source")?, (line, "source"))?;
        let target = builder.mention(end("target")?, (line, "target"))?;
        let values = values(&fields, &["source", "target"]);
        builder.link((source, target), directed, line, values)?;
    }
    Ok(())
}

fn node(parser: &mut Parser<'_>, builder: &mut Builder<'_>, line: u32) -> Result<(), Problem> {
    let fields = fields(parser)?;
    let id = one(&fields, "id", line)?
        .ok_or_else(|| format!("has a node without `id` in line {line}"))?;
    let id = id.parse().map_or_else(|_| Id::Text(id.to_owned()), Id::Number);
    builder.node(id, line, values(&fields, &["id"])).map(|_| ())
}

type Field<'a> = (&'a str, Cow<'a, str>);

/// The keys and plain values of a list, up to its end. Lists within it, such as `graphics`, are
/// skipped.
fn fields<'a>(parser: &mut Parser<'a>) -> Result<Vec<Field<'a>>, Problem> {
    let mut fields = Vec::new();
    while let Some(key) = parser.key()? {
        if fields.len() == MOST_VALUES {
            let line = parser.line;
            return Err(format!(
                "has more than {MOST_VALUES} values of a node or edge, in line {line}"
            ));
        }
        match parser.value()? {
            Token::Open => parser.skip()?,
            Token::Word(word) => fields.push((key, Cow::Borrowed(word))),
            Token::Text(text) => fields.push((key, text)),
            Token::Close => {}
        }
    }
    if parser.is_closed() { Ok(fields) } else { Err(parser.cut_off()) }
}

/// The value of a key that must be there at most once.
fn one<'a>(fields: &'a [Field<'_>], name: &str, line: u32) -> Result<Option<&'a str>, Problem> {
    let mut found = fields.iter().filter(|(key, _)| *key == name);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(format!("has `{name}` twice in the list of line {line}")),
        (first, _) => Ok(first.map(|(_, value)| &**value)),
    }
}

/// What else is said. Of keys that are there several times, the first counts.
fn values<'a>(
    fields: &'a [Field<'_>],
    but: &'a [&str],
) -> impl Iterator<Item = (&'a str, Value<'a>)> {
    let is_first = |at: usize, key: &str| fields[..at].iter().all(|(before, _)| *before != key);
    fields
        .iter()
        .enumerate()
        .filter(move |(at, (key, value))| {
            !but.contains(key) && !is_nothing(value) && is_first(*at, key)
        })
        .map(|(_, (key, value))| (*key, Value::Text(value)))
}

fn is_true(flag: &str, name: &str, line: u32) -> Result<bool, Problem> {
    match flag {
        "0" => Ok(false),
        "1" => Ok(true),
        other => Err(format!("says `{name} {other}` in line {line}; it must be 0 or 1")),
    }
}

enum Token<'a> {
    Open,
    Close,
    /// A key or a number.
    Word(&'a str),
    /// What is in quotes.
    Text(Cow<'a, str>),
}

struct Parser<'a> {
    rest: &'a str,
    /// That of the last token.
    line: u32,
    /// How many lists are open.
    level: u32,
    /// Whether the last key was none, but the end of a list.
    closed: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Parser { rest: text, line: 1, level: 0, closed: false }
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, Problem> {
        loop {
            match self.rest.chars().next() {
                None => return Ok(None),
                Some('#') => {
                    self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..]
                }
                Some('\n') => {
                    self.line += 1;
                    self.rest = &self.rest[1..];
                }
                Some(blank) if blank.is_whitespace() => self.rest = &self.rest[blank.len_utf8()..],
                Some(_) => break,
            }
        }
        let rest = self.rest;
        let (token, length) = match rest.as_bytes()[0] {
            b'[' => (Token::Open, 1),
            b']' => (Token::Close, 1),
            b'"' => {
                let end = rest[1..].find('"').ok_or_else(|| {
                    format!("has a text without closing quotes, from line {} on", self.line)
                })?;
                let text = &rest[1..=end];
                self.line += text.bytes().filter(|&byte| byte == b'\n').count() as u32;
                (Token::Text(decoded(text)), end + 2)
            }
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"'))
                    .unwrap_or(rest.len());
                (Token::Word(&rest[..end]), end)
            }
        };
        self.rest = &rest[length..];
        Ok(Some(token))
    }

    /// The next key, or `None` at the end of a list or of the file.
    fn key(&mut self) -> Result<Option<&'a str>, Problem> {
        self.closed = false;
        match self.next()? {
            None => Ok(None),
            Some(Token::Word(key)) => Ok(Some(key)),
            Some(Token::Close) if self.level > 0 => {
                self.level -= 1;
                self.closed = true;
                Ok(None)
            }
            Some(Token::Close) => Err(format!("has a `]` too many in line {}", self.line)),
            Some(Token::Open) => {
                Err(format!("has `[` in line {}, where a key is expected", self.line))
            }
            Some(Token::Text(text)) => {
                Err(format!("has \"{text}\" in line {}, where a key is expected", self.line))
            }
        }
    }

    fn value(&mut self) -> Result<Token<'a>, Problem> {
        match self.next()? {
            None => Err(self.cut_off()),
            Some(Token::Close) => {
                Err(format!("has `]` in line {}, where a value is expected", self.line))
            }
            Some(Token::Open) if self.level == MOST_LEVELS => Err(format!(
                "has more than {MOST_LEVELS} lists within each other, in line {}: no topology is nested so deeply",
                self.line
            )),
            Some(Token::Open) => {
                self.level += 1;
                Ok(Token::Open)
            }
            Some(value) => Ok(value),
        }
    }

    /// Whether the last key was none because its list ended there.
    fn is_closed(&self) -> bool {
        self.closed
    }

    fn cut_off(&self) -> Problem {
        format!("ends too early, in line {}: is it cut off?", self.line)
    }

    /// Skips the rest of the list that was opened last.
    fn skip(&mut self) -> Result<(), Problem> {
        let outside = self.level - 1;
        while self.level > outside {
            match self.key()? {
                Some(_) => {
                    self.value()?;
                }
                None if self.closed => {}
                None => return Err(self.cut_off()),
            }
        }
        Ok(())
    }
}

/// A text with its character references resolved; it stays as it is where they are none.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    quick_xml::escape::unescape(text).unwrap_or(Cow::Borrowed(text))
}
