//! Walks through XML, element by element. Nothing of it is kept, and no entity is expanded but the
//! five of XML itself, so a file cannot take more than time in proportion to its length.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::LocalName;

use crate::error::Problem;

use super::lines::Lines;

/// How deep elements may lie within each other.
const MOST_LEVELS: usize = 100;

/// The most attributes that an element may have.
const MOST_ATTRIBUTES: usize = 100;

/// What hears of the elements of a file.
pub(super) trait Visit {
    /// An element begins, in this line.
    fn start(&mut self, name: &str, attributes: &Attributes<'_>, line: u32) -> Result<(), Problem>;

    /// It ends. `text` is what is in it, without what is in elements within it.
    fn end(&mut self, name: &str, text: &str) -> Result<(), Problem>;
}

/// The attributes of an element.
pub(super) struct Attributes<'e>(Vec<(&'e str, Cow<'e, str>)>);

impl Attributes<'_> {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
    }
}

/// The name of the first element.
pub(super) fn root(text: &str) -> Result<String, Problem> {
    struct First(Option<String>);
    impl Visit for First {
        fn start(&mut self, name: &str, _: &Attributes<'_>, _: u32) -> Result<(), Problem> {
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
    // The texts of the elements that are open; and those of closed ones, to be used again.
    let mut open: Vec<String> = Vec::new();
    let mut spare: Vec<String> = Vec::new();
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
                visit.start(name_of(&element.local_name())?, &attributes(&element, line)?, line)?;
                open.push(spare.pop().unwrap_or_default());
            }
            Event::Empty(element) => {
                let local = element.local_name();
                let name = name_of(&local)?;
                visit.start(name, &attributes(&element, line)?, line)?;
                visit.end(name, "")?;
            }
            Event::End(element) => {
                if let Some(mut text) = open.pop() {
                    visit.end(name_of(&element.local_name())?, text.trim())?;
                    text.clear();
                    spare.push(text);
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
    if open.is_empty() {
        return Ok(());
    }
    let levels = open.len();
    let line = lines.of(text.len());
    Err(format!("ends with {levels} element(s) open, in line {line}: is it cut off?"))
}

const ENTITY: &[u8] = b"<!ENTITY";

fn add(open: &mut [String], part: &str) {
    if let Some(text) = open.last_mut() {
        text.push_str(part);
    }
}

/// The name of an element without its prefix.
fn name_of<'e>(name: &'e LocalName<'_>) -> Result<&'e str, Problem> {
    str::from_utf8(name.as_ref()).map_err(|why| why.to_string())
}

/// The attributes of an element.
fn attributes<'e>(element: &'e BytesStart<'_>, line: u32) -> Result<Attributes<'e>, Problem> {
    let mut attributes = Vec::new();
    let name = String::from_utf8_lossy(element.name().into_inner());
    for attribute in element.attributes() {
        if attributes.len() == MOST_ATTRIBUTES {
            return Err(format!(
                "has more than {MOST_ATTRIBUTES} attributes of `<{name}>`, in line {line}"
            ));
        }
        let wrong = |why: String| format!("is not valid XML: {why}, in `<{name}>` in line {line}");
        let attribute = attribute.map_err(|why| wrong(why.to_string()))?;
        let key = str::from_utf8(attribute.key.into_inner()).map_err(|why| why.to_string())?;
        let value = match attribute.value {
            Cow::Borrowed(value) => unescaped(value),
            Cow::Owned(value) => unescaped(&value).map(|value| Cow::Owned(value.into_owned())),
        };
        attributes.push((key, value.map_err(wrong)?));
    }
    Ok(Attributes(attributes))
}

fn unescaped(value: &[u8]) -> Result<Cow<'_, str>, String> {
    let text = str::from_utf8(value).map_err(|why| why.to_string())?;
    quick_xml::escape::unescape(text).map_err(|why| why.to_string())
}
