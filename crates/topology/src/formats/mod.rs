//! The formats, and which one a file is in.

mod edge_list;
mod gml;
mod graphml;
mod json;
mod lines;
mod sndlib_native;
mod sndlib_xml;
mod xml;

use crate::error::{EXPECTED, Problem};
use crate::graph::Graph;
use crate::meaning::Given;

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
