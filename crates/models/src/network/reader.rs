//! Reads node-link JSON, with errors that name the element. Unknown fields are ignored.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::topology::{Coordinates, Demands, Edges, Link, Node, Topology};

impl Topology {
    /// The built-in backbone of twelve European cities.
    ///
    /// # Errors
    /// Never; see [`parse`](Self::parse).
    pub fn built_in() -> Result<Self, String> {
        read(include_str!("default.json")).map_err(|why| format!("the built-in topology {why}"))
    }

    /// Reads node-link JSON.
    ///
    /// # Errors
    /// If the text is no valid topology: the message says where (`edges[3].target`), and what is
    /// expected there.
    pub fn parse(text: &str) -> Result<Self, String> {
        read(text).map_err(|why| format!("the topology {why}"))
    }

    /// Reads a file of node-link JSON.
    ///
    /// # Errors
    /// Like [`parse`](Self::parse), and if the file cannot be read; the message names the file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, String> {
        let shown = path.as_ref().display();
        let text = std::fs::read_to_string(&path)
            .map_err(|why| format!("the topology file `{shown}` cannot be read: {why}"))?;
        read(&text).map_err(|why| format!("the topology file `{shown}` {why}"))
    }
}

type Object = Map<String, Value>;

/// Reads a topology. Errors continue a phrase like "the topology file `x`".
fn read(text: &str) -> Result<Topology, String> {
    // Some editors put a byte order mark first.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: Value =
        serde_json::from_str(text).map_err(|why| format!("is not valid JSON: {why}"))?;
    let Value::Object(mut file) = file else {
        return Err(format!("is {}, not a JSON object with `nodes` and `edges`", kind(&file)));
    };
    let directed = flag(&file, "directed")?;
    let multigraph = flag(&file, "multigraph")?;
    let (_, list) = list(&file, &["nodes"])?;
    let (mut nodes, index) = read_nodes(list)?;
    let (name, list) = self::list(&file, &["edges", "links"])?;
    let mut links = Vec::with_capacity(list.len() * 2);
    let mut published = Some(Vec::with_capacity(list.len() * 2));
    for (i, edge) in list.iter().enumerate() {
        let at = format!("{name}[{i}]");
        let link = read_edge(&at, edge, &nodes, &index)?;
        links.push(link);
        let ways: &[&str] = if directed { &["ecmp_fwd"] } else { &["ecmp_fwd", "ecmp_bwd"] };
        for way in ways {
            match (edge[way]["org"].as_f64(), &mut published) {
                (Some(load), Some(loads)) => loads.push(load),
                _ => published = None,
            }
        }
        if !directed {
            links.push(Link { source: link.target, target: link.source, ..link });
        }
        nodes[link.source as usize].degree += 1;
        nodes[link.target as usize].degree += 1;
    }
    let demands = match file.get_mut("graph") {
        Some(Value::Object(graph)) => graph.remove("demands").filter(|demands| {
            !demands.is_null() && demands.as_object().is_none_or(|rows| !rows.is_empty())
        }),
        _ => None,
    };
    Ok(Topology {
        nodes,
        links,
        demands: demands.map(Demands::File),
        edges: Edges { list: name, directed, multigraph },
        published,
    })
}

/// Describes a value in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A node's id as text: `7` and `"7"` are the same.
pub(super) fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// A field that is true or false; false if there is none.
fn flag(file: &Object, name: &str) -> Result<bool, String> {
    match file.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("says `{name}`: {other}; it must be true or false")),
    }
}

/// The first list of these names, with its name.
fn list<'a>(
    file: &'a Object,
    names: &[&'static str],
) -> Result<(&'static str, &'a [Value]), String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.iter().find_map(|name| Some((*name, file.get(*name)?))) {
        Some((name, Value::Array(list))) => Ok((name, list)),
        Some((name, other)) => {
            Err(format!("has {} as `{name}`, where a list is expected", kind(other)))
        }
        None => Err(format!(
            "has no {}: it must be node-link JSON, as networkx writes it",
            quoted.join(" or ")
        )),
    }
}

/// The nodes, and the index of each id.
fn read_nodes(list: &[Value]) -> Result<(Vec<Node>, BTreeMap<String, u32>), String> {
    if list.len() < 2 {
        return Err(format!("has {} node(s); a network needs at least 2", list.len()));
    }
    if u32::try_from(list.len()).is_err() {
        return Err(format!("has {} nodes, more than can be numbered ({})", list.len(), u32::MAX));
    }
    let mut index = BTreeMap::new();
    let mut nodes = Vec::with_capacity(list.len());
    for (i, value) in (0u32..).zip(list) {
        let at = format!("nodes[{i}]");
        let Value::Object(fields) = value else {
            return Err(format!("has {} at {at}, where a node is expected", kind(value)));
        };
        let id = fields.get("id").cloned().unwrap_or(Value::Null);
        let Some(text) = id_text(&id) else {
            return Err(format!("has {id} as {at}.id; a node's id is a whole number or a string"));
        };
        let name = match fields.get("name").or(fields.get("label")) {
            Some(Value::String(name)) => name.clone(),
            _ => text.clone(),
        };
        let position = read_position(&at, fields)?;
        if let Some(before) = index.insert(text, i) {
            return Err(format!(
                "has the id {id} at {at}, but nodes[{before}] has it already; ids must differ"
            ));
        }
        nodes.push(Node { id, name, position, degree: 0 });
    }
    Ok((nodes, index))
}

fn read_position(at: &str, fields: &Object) -> Result<Option<Coordinates>, String> {
    let position = match fields.get("pos") {
        None | Some(Value::Null) => return Ok(None),
        Some(position) => position,
    };
    let numbers: Option<Vec<f64>> =
        position.as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
    match numbers.as_deref() {
        Some(&[longitude, latitude]) => Ok(Some(Coordinates { longitude, latitude })),
        _ => {
            Err(format!("has {position} as {at}.pos; it must be [longitude, latitude] in degrees"))
        }
    }
}

fn read_edge(
    at: &str,
    edge: &Value,
    nodes: &[Node],
    index: &BTreeMap<String, u32>,
) -> Result<Link, String> {
    let Value::Object(fields) = edge else {
        return Err(format!("has {} at {at}, where an edge is expected", kind(edge)));
    };
    let end = |name: &str| {
        let id = fields
            .get(name)
            .ok_or_else(|| format!("has no {at}.{name}: every edge needs a source and a target"))?;
        let found = id_text(id).and_then(|text| index.get(&text).copied());
        found.ok_or_else(|| format!("has a mistake at {at}.{name}: there is no node {id}"))
    };
    let (source, target) = (end("source")?, end("target")?);
    if source == target {
        return Err(format!(
            "has a link from node {} to itself at {at}; remove it",
            nodes[source as usize].id
        ));
    }
    let length = match fields.get("dist") {
        None | Some(Value::Null) => {
            great_circle(at, &nodes[source as usize], &nodes[target as usize])?
        }
        Some(dist) => match dist.as_f64() {
            Some(length) if length.is_finite() && length >= 0.0 => length,
            _ => {
                return Err(format!(
                    "has {dist} as {at}.dist; it must be a length in km, 0 or more"
                ));
            }
        },
    };
    Ok(Link { source, target, length, lines: 1 })
}

/// The great-circle length of an edge without `dist`.
fn great_circle(at: &str, source: &Node, target: &Node) -> Result<f64, String> {
    let place = |node: &Node| {
        let known = node.position.ok_or_else(|| {
            format!(
                "has neither {at}.dist, in km, nor a `pos` of node {} to work it out from",
                node.id
            )
        })?;
        let on_earth = known.longitude.abs() <= 360.0 && known.latitude.abs() <= 90.0;
        on_earth.then_some(known).ok_or_else(|| {
            let Coordinates { longitude, latitude } = known;
            format!("has no {at}.dist, and `pos` of node {} is no [longitude, latitude] in degrees: [{longitude}, {latitude}]", node.id)
        })
    };
    Ok(place(source)?.distance(place(target)?))
}
