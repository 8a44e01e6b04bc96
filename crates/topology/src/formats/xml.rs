//! Walks through XML, element by element. Nothing of it is kept, and no entity is expanded but the
//! five of XML itself, so a file cannot take more than time in proportion to its length.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::Problem;

use super::lines::Lines;

/// How deep elements may lie within each other.
const MOST_LEVELS: usize = 100;

/// The most attributes that an element may have.
const MOST_ATTRIBUTES: usize = 100;

/// What hears of the elements of a file.
pub(super) trait Visit {
    /// An element begins, in this line.
    fn start(&mut self, name: &str, attributes: &Attributes, line: u32) -> Result<(), Problem>;

    /// It ends. `text` is what is in it, without what is in elements within it.
    fn end(&mut self, name: &str, text: &str) -> Result<(), Problem>;
}

/// The attributes of an element.
#[derive(Default)]
pub(super) struct Attributes(Vec<(String, String)>);

impl Attributes {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The name of the first element.
pub(super) fn root(text: &str) -> Result<String, Problem> {
    struct First(Option<String>);
    impl Visit for First {
        fn start(&mut self, name: &str, _: &Attributes, _: u32) -> Result<(), Problem> {
            self.0 = Some(name.to_owned());
            // Ends the walk.
            Err(String::new())
        }
        fn end(&mut self, _: &str, _: &str) -> Result<(), Problem> {
            Ok(())
        }
    }
    let mut first = First(None);
    match (walk(text, &mut first), first.0) {
        (_, Some(name)) => Ok(name),
        (Err(why), None) => Err(why),
        (Ok(()), None) => Err("is XML without an element".into()),
    }
}

/// Walks through a file.
pub(super) fn walk(text: &str, visit: &mut impl Visit) -> Result<(), Problem> {
    let mut reader = Reader::from_str(text);
    let mut lines = Lines::new(text);
    // The names and texts of the elements that are open.
    let mut open: Vec<(String, String)> = Vec::new();
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(why) => {
                let line = lines.of(reader.error_position() as usize);
                return Err(format!("is not valid XML: {why}, in line {line}"));
            }
        };
        let line = lines.of(reader.buffer_position() as usize);
        match event {
            Event::Start(element) => {
                if open.len() == MOST_LEVELS {
                    return Err(format!(
                        "has more than {MOST_LEVELS} elements within each other, in line {line}: no topology is nested so deeply"
                    ));
                }
                let (name, attributes) = opened(&element, line)?;
                visit.start(&name, &attributes, line)?;
                open.push((name, String::new()));
            }
            Event::Empty(element) => {
                let (name, attributes) = opened(&element, line)?;
                visit.start(&name, &attributes, line)?;
                visit.end(&name, "")?;
            }
            Event::End(_) => {
                if let Some((name, text)) = open.pop() {
                    visit.end(&name, text.trim())?;
                }
            }
            Event::Text(part) => add(&mut open, &part.decode().map_err(|why| why.to_string())?),
            Event::CData(part) => add(&mut open, &part.decode().map_err(|why| why.to_string())?),
            Event::GeneralRef(entity) => {
                let name = entity.decode().map_err(|why| why.to_string())?;
                let known = quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned);
                let of_number = || entity.resolve_char_ref().ok().flatten().map(String::from);
                let Some(character) = known.or_else(of_number) else {
                    return Err(format!(
                        "uses the entity `&{name};` in line {line}; entities that a file defines itself are not expanded"
                    ));
                };
                add(&mut open, &character);
            }
            Event::DocType(content) => {
                if content.windows(ENTITY.len()).any(|part| part == ENTITY) {
                    return Err(format!(
                        "defines entities of its own in its DOCTYPE (up to line {line}), which are not expanded; remove the DOCTYPE"
                    ));
                }
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    match open.last() {
        None => Ok(()),
        Some((name, _)) => {
            Err(format!("ends within `<{name}>`, in line {}: is it cut off?", lines.of(text.len())))
        }
    }
}

const ENTITY: &[u8] = b"<!ENTITY";

fn add(open: &mut [(String, String)], part: &str) {
    if let Some((_, text)) = open.last_mut() {
        text.push_str(part);
    }
}

/// The name of an element without its prefix, and its attributes.
fn opened(element: &BytesStart<'_>, line: u32) -> Result<(String, Attributes), Problem> {
    let name = String::from_utf8_lossy(element.local_name().as_ref()).into_owned();
    let mut attributes = Vec::new();
    for attribute in element.attributes() {
        if attributes.len() == MOST_ATTRIBUTES {
            return Err(format!(
                "has more than {MOST_ATTRIBUTES} attributes of `<{name}>`, in line {line}"
            ));
        }
        let wrong = |why: String| format!("is not valid XML: {why}, in `<{name}>` in line {line}");
        let attribute = attribute.map_err(|why| wrong(why.to_string()))?;
        let value = attribute.unescape_value().map_err(|why| wrong(why.to_string()))?;
        let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        attributes.push((key, value.into_owned()));
    }
    Ok((name, Attributes(attributes)))
}
