//! GraphML: keys, and nodes and edges with data under these keys.

use std::collections::HashMap;

use crate::builder::Builder;
use crate::error::Problem;
use crate::graph::{Format, Graph, Id};
use crate::meaning::{Given, Value};

use super::xml::{self, Attributes, Visit};

/// The most keys that a file may declare: every node or edge is looked at for every one.
const MOST_KEYS: usize = 1000;

/// Reads a graph from GraphML.
pub(super) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let mut file = GraphMl {
        builder: Builder::of_lines(Format::GraphMl, given),
        keys: HashMap::new(),
        defining: None,
        elements: Vec::new(),
        data: None,
        graphs: 0,
        hyperedges: 0,
    };
    xml::walk(text, &mut file)?;
    if file.graphs == 0 {
        return Err("is GraphML without a `<graph>`".into());
    }
    if file.hyperedges > 0 {
        let count = file.hyperedges;
        file.builder.assumptions.push(format!(
            "{count} hyperedge{} left out: only links of two nodes are read",
            if count == 1 { " is" } else { "s are" }
        ));
    }
    file.builder.finish()
}

/// What a `<key>` declares.
#[derive(Default)]
struct Key {
    name: String,
    /// `node`, `edge`, `graph` or `all`.
    of: String,
    default: Option<String>,
}

/// A node or edge that is open.
struct Element {
    kind: Kind,
    line: u32,
    values: Vec<(String, String)>,
}

enum Kind {
    Node { id: String },
    Edge { source: String, target: String, directed: bool },
}

struct GraphMl<'a> {
    builder: Builder<'a>,
    keys: HashMap<String, Key>,
    /// The id of the `<key>` that is open.
    defining: Option<String>,
    elements: Vec<Element>,
    /// The name of the `<data>` that is open, if it belongs to a node or edge.
    data: Option<String>,
    graphs: u32,
    hyperedges: u32,
}

impl Visit for GraphMl<'_> {
    fn start(&mut self, name: &str, attributes: &Attributes<'_>, line: u32) -> Result<(), Problem> {
        let needed = |what: &str| {
            attributes
                .get(what)
                .map(str::to_owned)
                .ok_or_else(|| format!("has a `<{name}>` without `{what}` in line {line}"))
        };
        match name {
            "key" => {
                let id = needed("id")?;
                let word =
                    |what: &str, default: &str| attributes.get(what).unwrap_or(default).to_owned();
                let key =
                    Key { name: word("attr.name", &id), of: word("for", "all"), default: None };
                if self.keys.len() == MOST_KEYS {
                    return Err(format!("declares more than {MOST_KEYS} keys, in line {line}"));
                }
                self.keys.insert(id.clone(), key);
                self.defining = Some(id);
            }
            "graph" => {
                self.graphs += 1;
                let is_outermost = self.elements.is_empty();
                if is_outermost && self.graphs > 1 {
                    return Err(format!(
                        "has a second `<graph>` in line {line}; a file must have one"
                    ));
                }
                if is_outermost {
                    self.builder.directed = attributes.get("edgedefault") == Some("directed");
                } else if self.graphs == 2 {
                    self.builder
                        .assumptions
                        .push("graphs within nodes are read as one with the rest".into());
                }
            }
            "node" => {
                self.elements.push(Element {
                    kind: Kind::Node { id: needed("id")? },
                    line,
                    values: Vec::new(),
                });
            }
            "edge" => {
                let directed = match attributes.get("directed") {
                    None => self.builder.directed,
                    Some("true") => true,
                    Some("false") => false,
                    Some(other) => {
                        return Err(format!(
                            "says directed=`{other}` in line {line}; it must be `true` or `false`"
                        ));
                    }
                };
                let kind =
                    Kind::Edge { source: needed("source")?, target: needed("target")?, directed };
                self.elements.push(Element { kind, line, values: Vec::new() });
            }
            "hyperedge" => self.hyperedges += 1,
            "data" if !self.elements.is_empty() => {
                let key = needed("key")?;
                let Some(known) = self.keys.get(&key) else {
                    return Err(format!(
                        "has data under the key `{key}` in line {line}, which no `<key>` declares"
                    ));
                };
                self.data = Some(known.name.clone());
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str) -> Result<(), Problem> {
        match name {
            "key" => self.defining = None,
            "default" => {
                if let Some(key) = self.defining.as_ref().and_then(|id| self.keys.get_mut(id)) {
                    key.default = Some(text.to_owned());
                }
            }
            "data" => {
                if let (Some(name), Some(element)) = (self.data.take(), self.elements.last_mut()) {
                    element.values.push((name, text.to_owned()));
                }
            }
            "node" | "edge" => {
                if let Some(element) = self.elements.pop() {
                    self.add(name, element)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl GraphMl<'_> {
    fn add(&mut self, of: &str, element: Element) -> Result<(), Problem> {
        let Element { kind, line, values } = element;
        let given = |name: &str| values.iter().any(|(known, _)| known == name);
        let defaults =
            self.keys.values().filter(|key| key.of == of || key.of == "all").filter_map(|key| {
                key.default
                    .as_deref()
                    .filter(|_| !given(&key.name))
                    .map(|text| (key.name.as_str(), Value::Text(text)))
            });
        let own = values.iter().map(|(name, text)| (name.as_str(), Value::Text(text)));
        let all = own.chain(defaults).filter(
            |(_, value)| !matches!(value, Value::Text(text) if crate::meaning::is_nothing(text)),
        );
        match kind {
            Kind::Node { id } => self.builder.node(Id::Text(id), line, all).map(|_| ()),
            Kind::Edge { source, target, directed } => {
                let source = self.builder.mention(&source, (line, "source"))?;
                let target = self.builder.mention(&target, (line, "target"))?;
                self.builder.link((source, target), directed, line, all)
            }
        }
    }
}
