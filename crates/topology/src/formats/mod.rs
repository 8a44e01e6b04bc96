//! The formats, and which one a file is in.

mod edge_list;
mod gml;
mod graphml;
mod json;
mod sndlib_native;
mod sndlib_xml;
mod xml;

use crate::error::Problem;
use crate::graph::Graph;
use crate::meaning::Given;

/// What can be read, for messages.
const EXPECTED: &str = "expected GraphML, GML, SNDlib (XML or native), JSON (node-link, adjacency, Cytoscape or JGF), or a list of edges (CSV)";

/// Reads a file in the format that its first characters tell.
pub(crate) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let start = text.trim_start();
    match start.chars().next() {
        Some('{' | '[') => json::read(text, given),
        Some('<') => xml::root(text).and_then(|root| match root.as_str() {
            "graphml" => graphml::read(text, given),
            "network" => sndlib_xml::read(text, given),
            other => {
                Err(format!("is XML whose root is `{other}`, which is no topology; {EXPECTED}"))
            }
        }),
        _ if sndlib_native::is_meant(start) => sndlib_native::read(text, given),
        _ if gml::is_meant(start) => gml::read(text, given),
        _ => edge_list::read(text, given),
    }
}

/// Tells lines by offset, for offsets that come in order.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Lines { text: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of this byte, which is not before the one asked for last.
    fn of(&mut self, offset: usize) -> u32 {
        let offset = offset.clamp(self.at, self.text.len());
        let ends = self.text[self.at..offset].iter().filter(|&&byte| byte == b'\n').count();
        self.line += ends as u32;
        self.at = offset;
        self.line
    }
}
