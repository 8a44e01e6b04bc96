//! The XML format of SNDlib.

use crate::error::Problem;
use crate::graph::{Format, Graph};
use crate::meaning::{Given, Value};

use super::sndlib_native::{Network, WireLink};
use super::xml::{self, Attributes, Visit};

/// Reads a graph from SNDlib's XML.
pub(super) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let mut file = File::new(given);
    xml::walk(text, &mut file)?;
    file.network.finish()
}

/// The element that is open, as far as it is known.
struct File<'a> {
    network: Network<'a>,
    is_geographical: bool,
    id: String,
    line: u32,
    x: Option<f64>,
    y: Option<f64>,
    source: String,
    target: String,
    is_installed: bool,
    link: WireLink,
    demand: Option<f64>,
}

impl<'a> File<'a> {
    fn new(given: &'a Given) -> Self {
        File {
            network: Network::new(Format::SndlibXml, given),
            is_geographical: true,
            id: String::new(),
            line: 0,
            x: None,
            y: None,
            source: String::new(),
            target: String::new(),
            is_installed: false,
            link: WireLink::default(),
            demand: None,
        }
    }

    fn number(&self, name: &str, text: &str) -> Result<Option<f64>, Problem> {
        match Value::Text(text).number() {
            Ok(number) => Ok(number.filter(|number| number.is_finite())),
            Err(text) => Err(format!(
                "has `{text}` as `<{name}>` of {} (line {}); it must be a number",
                self.id, self.line
            )),
        }
    }
}

impl Visit for File<'_> {
    fn start(&mut self, name: &str, attributes: &Attributes<'_>, line: u32) -> Result<(), Problem> {
        match name {
            "nodes" => self.is_geographical = attributes.get("coordinatesType") != Some("pixel"),
            "node" | "link" | "demand" => {
                let id = attributes.get("id");
                self.id = id
                    .ok_or_else(|| format!("has a `<{name}>` without `id` in line {line}"))?
                    .to_owned();
                self.line = line;
                self.link = WireLink::default();
                (self.x, self.y, self.demand) = (None, None, None);
                self.source.clear();
                self.target.clear();
            }
            "preInstalledModule" => self.is_installed = true,
            "addModule" => self.is_installed = false,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str) -> Result<(), Problem> {
        match name {
            "x" => self.x = self.number(name, text)?,
            "y" => self.y = self.number(name, text)?,
            "source" => text.clone_into(&mut self.source),
            "target" => text.clone_into(&mut self.target),
            "capacity" => {
                if let Some(capacity) = self.number(name, text)? {
                    if self.is_installed {
                        self.link.installed += capacity;
                    } else {
                        self.link.modules.push(capacity);
                    }
                }
            }
            "demandValue" => self.demand = self.number(name, text)?,
            "node" => {
                let position = self.x.zip(self.y).filter(|_| self.is_geographical);
                let has_pixels = !self.is_geographical && self.x.is_some();
                self.network.node(&self.id, self.line, position, has_pixels);
            }
            "link" => {
                let link = std::mem::take(&mut self.link);
                self.network.link((&self.source, &self.target), self.line, &link)?;
            }
            "demand" => {
                let value = self.demand.ok_or_else(|| {
                    format!("has no `<demandValue>` of {} (line {})", self.id, self.line)
                })?;
                self.network.demand((&self.source, &self.target), self.line, value);
            }
            _ => {}
        }
        Ok(())
    }
}
