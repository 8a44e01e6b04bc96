//! Where the shapes of JSON have their nodes and links.

use std::collections::{HashMap, HashSet};

use crate::builder::{Builder, quoted};
use crate::error::Problem;
use crate::graph::{Format, Id};
use crate::meaning::Given;

use super::elements::{
    SOURCES, TARGETS, WRAPPERS, add_node, at, format_of, id as node_id, values, whole,
};
use super::value::{Json, Object};

/// Reads the nodes and links of a file.
pub(super) fn read<'g>(file: &Object, given: &'g Given) -> Result<Builder<'g>, Problem> {
    match format_of(file) {
        Format::Adjacency => adjacency(file, given),
        Format::Cytoscape => cytoscape(file, given),
        Format::JsonGraph => match file.get("graph") {
            Some(Json::Object(graph)) => json_graph(graph, given),
            _ => unreachable!("the format is recognised by this object"),
        },
        _ => node_link(file, given),
    }
}

/// A builder with what the file says of all links.
fn builder<'g>(
    file: &Object,
    format: Format,
    list: &'static str,
    given: &'g Given,
) -> Result<Builder<'g>, Problem> {
    let mut builder = Builder::new(format, ("nodes", list), given);
    builder.directed = flag(file, "directed")?;
    builder.multigraph = flag(file, "multigraph")?;
    Ok(builder)
}

fn node_link<'g>(file: &Object, given: &'g Given) -> Result<Builder<'g>, Problem> {
    let nodes = list(file, "nodes")?.ok_or_else(|| missing("`nodes`"))?;
    let (name, links) = match (list(file, "edges")?, list(file, "links")?) {
        (Some(edges), Some(links)) => {
            return Err(format!(
                "has both `edges` ({}) and `links` ({}): remove the list that is not meant",
                edges.len(),
                links.len()
            ));
        }
        (Some(edges), None) => ("edges", edges),
        (None, Some(links)) => ("links", links),
        (None, None) => return Err(missing("`edges` or `links`")),
    };
    let mut builder = builder(file, Format::NodeLink, name, given)?;
    add_nodes(&mut builder, nodes)?;
    add_links(&mut builder, name, links)?;
    Ok(builder)
}

fn cytoscape<'g>(file: &Object, given: &'g Given) -> Result<Builder<'g>, Problem> {
    let mut builder = builder(file, Format::Cytoscape, "edges", given)?;
    match file.get("elements") {
        Some(Json::Object(elements)) => {
            let [nodes, edges] = [list(elements, "nodes")?, list(elements, "edges")?];
            add_nodes(&mut builder, nodes.ok_or_else(|| missing("`elements.nodes`"))?)?;
            add_links(&mut builder, "edges", edges.unwrap_or_default())?;
        }
        // One list of both; only links have a source.
        Some(Json::List(elements)) => {
            let is_link = |element: &&Json| match element {
                Json::Object(fields) => end(fields, &SOURCES).is_some(),
                _ => false,
            };
            let (links, nodes): (Vec<&Json>, Vec<&Json>) = elements.iter().partition(is_link);
            let [links, nodes] =
                [links, nodes].map(|list| list.into_iter().cloned().collect::<Vec<Json>>());
            add_nodes(&mut builder, &nodes)?;
            add_links(&mut builder, "edges", &links)?;
        }
        _ => return Err(missing("`elements.nodes`")),
    }
    // Cytoscape itself has no flag for this.
    builder.multigraph |= file.get("multigraph").is_none();
    Ok(builder)
}

fn json_graph<'g>(graph: &Object, given: &'g Given) -> Result<Builder<'g>, Problem> {
    let mut builder = builder(graph, Format::JsonGraph, "edges", given)?;
    match graph.get("nodes") {
        Some(Json::Object(nodes)) => {
            for (number, (name, fields)) in (0u32..).zip(nodes.iter()) {
                let Json::Object(fields) = fields else {
                    return Err(format!(
                        "has {} at nodes[{name:?}], where a node is expected",
                        fields.kind()
                    ));
                };
                add_node(&mut builder, number, Id::Text(name.to_owned()), fields)?;
            }
        }
        _ => add_nodes(&mut builder, list(graph, "nodes")?.unwrap_or_default())?,
    }
    add_links(
        &mut builder,
        "edges",
        list(graph, "edges")?.ok_or_else(|| missing("`graph.edges`"))?,
    )?;
    builder.multigraph = true;
    Ok(builder)
}

/// Row i of `adjacency` has the links of node i. Where links go both ways, both of its rows have a
/// link.
fn adjacency<'g>(file: &Object, given: &'g Given) -> Result<Builder<'g>, Problem> {
    let mut builder = builder(file, Format::Adjacency, "adjacency", given)?;
    let nodes = list(file, "nodes")?.ok_or_else(|| missing("`nodes`"))?;
    add_nodes(&mut builder, nodes)?;
    let rows = list(file, "adjacency")?.unwrap_or_default();
    if rows.len() != nodes.len() {
        return Err(format!(
            "has {} rows in `adjacency` for {} nodes; there must be one for each",
            rows.len(),
            nodes.len()
        ));
    }
    let mut seen: HashSet<(u32, u32, String)> = HashSet::new();
    for (source, row) in (0u32..).zip(rows) {
        let Json::List(row) = row else {
            return Err(format!(
                "has {} at adjacency[{source}], where a list is expected",
                row.kind()
            ));
        };
        for (i, link) in row.iter().enumerate() {
            let here = format!("adjacency[{source}][{i}]");
            let Json::Object(fields) = link else {
                return Err(format!("has {} at {here}, where a link is expected", link.kind()));
            };
            let id = fields.get("id").unwrap_or(&Json::Null);
            let Some(target) = node_id(id).and_then(|id| builder.find(&id.to_string())) else {
                return Err(format!("has a mistake at {here}.id: there is no node {id}"));
            };
            let key = fields.get("key").map(Json::to_string).unwrap_or_default();
            if !builder.directed && !seen.insert((source.min(target), source.max(target), key)) {
                continue;
            }
            let mut found = Vec::new();
            values(fields, &mut found);
            let directed = builder.directed;
            let values = found.iter().map(|(name, value)| (name.as_ref(), *value));
            builder.link((source, target), directed, source, values)?;
        }
    }
    Ok(builder)
}

/// Adds nodes that are objects with an `id` (or `key`), or ids alone.
fn add_nodes(builder: &mut Builder<'_>, list: &[Json]) -> Result<(), Problem> {
    let plain = !list.is_empty()
        && list.iter().all(|node| !matches!(node, Json::Object(_)) && node_id(node).is_some());
    let own_id = |fields: &Object| -> Option<Json> {
        let wrapped = WRAPPERS.iter().filter_map(|name| match fields.get(name) {
            Some(Json::Object(inner)) => inner.get("id").cloned(),
            _ => None,
        });
        fields.first(&["id", "key"]).cloned().or_else(|| wrapped.into_iter().next())
    };
    let none_has =
        list.iter().all(|node| matches!(node, Json::Object(fields) if own_id(fields).is_none()));
    if none_has && !list.is_empty() {
        builder.assumptions.push("nodes have no `id`: they are numbered from 0".into());
    }
    for (number, node) in (0u32..).zip(list) {
        match node {
            Json::Object(fields) if none_has => {
                add_node(builder, number, Id::Number(i64::from(number)), fields)?;
            }
            Json::Object(fields) => {
                let given = own_id(fields).unwrap_or(Json::Null);
                let Some(own_id) = node_id(&given) else {
                    return Err(format!(
                        "has {given} as nodes[{number}].id; a node's id is a whole number or a string"
                    ));
                };
                add_node(builder, number, own_id, fields)?;
            }
            other => match node_id(other).filter(|_| plain) {
                Some(own_id) => add_node(builder, number, own_id, &Object::default())?,
                None => {
                    return Err(format!(
                        "has {} at nodes[{number}], where a node is expected",
                        other.kind()
                    ));
                }
            },
        }
    }
    Ok(())
}

/// How links name their ends.
enum Ends {
    Ids,
    /// By the place of the node in the list.
    Places,
    /// By the name of the node, where that is not an id.
    Names(HashMap<String, Option<u32>>),
}

impl Ends {
    /// How all these links name their ends: by id, if only one of them does.
    fn of(builder: &mut Builder<'_>, links: &[Json]) -> Ends {
        let ends = || {
            links.iter().filter_map(|link| match link {
                Json::Object(fields) => Some([end(fields, &SOURCES)?, end(fields, &TARGETS)?]),
                Json::List(parts) => Some([parts.first()?, parts.get(1)?]),
                _ => None,
            })
        };
        let is_id =
            |end: &Json| node_id(end).is_some_and(|id| builder.find(&id.to_string()).is_some());
        if links.is_empty() || ends().flatten().any(is_id) {
            return Ends::Ids;
        }
        let nodes = builder.names().len();
        let is_place = |end: &Json| match end {
            Json::Number(number) => {
                whole(number).is_some_and(|at| usize::try_from(at).is_ok_and(|at| at < nodes))
            }
            _ => false,
        };
        if ends().flatten().all(is_place) {
            builder.assumptions.push("links name nodes by their place in the list, from 0".into());
            return Ends::Places;
        }
        let mut names: HashMap<String, Option<u32>> = HashMap::new();
        for (number, (_, name)) in (0u32..).zip(builder.names()) {
            // A name of two nodes is that of neither.
            names.entry(name.to_owned()).and_modify(|known| *known = None).or_insert(Some(number));
        }
        let is_name = |end: &Json| matches!(end, Json::Text(text) if names.contains_key(&**text));
        if ends().flatten().all(is_name) {
            builder.assumptions.push("links name nodes by their names, not their ids".into());
            return Ends::Names(names);
        }
        Ends::Ids
    }

    fn find(&self, builder: &Builder<'_>, end: &Json) -> Option<u32> {
        match (self, end) {
            (Ends::Ids, _) => builder.find(&node_id(end)?.to_string()),
            (Ends::Places, Json::Number(number)) => u32::try_from(whole(number)?).ok(),
            (Ends::Names(names), Json::Text(name)) => names.get(&**name).copied().flatten(),
            _ => None,
        }
    }
}

/// Adds links that are objects with a source and a target, or lists of the two.
fn add_links(builder: &mut Builder<'_>, name: &'static str, links: &[Json]) -> Result<(), Problem> {
    let by = Ends::of(builder, links);
    let empty = Object::default();
    for (number, link) in links.iter().enumerate() {
        let here = || at(name, number);
        let (fields, source, target) = match link {
            Json::Object(fields) => (fields, end(fields, &SOURCES), end(fields, &TARGETS)),
            Json::List(parts) if parts.len() >= 2 => {
                let fields = match parts.get(2) {
                    Some(Json::Object(fields)) => fields,
                    _ => &empty,
                };
                (fields, parts.first(), parts.get(1))
            }
            other => {
                return Err(format!(
                    "has {} at {}, where an edge is expected",
                    other.kind(),
                    here()
                ));
            }
        };
        let find = |end: Option<&Json>, role: &str| {
            let end = end.ok_or_else(|| {
                format!("has no {}.{role}: every edge needs a source and a target", here())
            })?;
            by.find(builder, end).ok_or_else(|| {
                format!(
                    "has a mistake at {}.{role}: there is no node {}{}",
                    here(),
                    end,
                    some(builder)
                )
            })
        };
        let ends = (find(source, "source")?, find(target, "target")?);
        let mut found = Vec::new();
        values(fields, &mut found);
        let directed = match fields.get("directed") {
            Some(_) => flag(fields, "directed").map_err(|why| format!("{why} (at {})", here()))?,
            None => builder.directed,
        };
        let values = found.iter().map(|(name, value)| (name.as_ref(), *value));
        builder.link(ends, directed, number as u32, values)?;
    }
    Ok(())
}

/// Some of the nodes that there are, for a message about one that is not.
fn some(builder: &Builder<'_>) -> String {
    const SHOWN: usize = 3;
    let all = builder.names();
    let dots = if all.len() > SHOWN { ", …" } else { "" };
    let shown: Vec<String> = all.take(SHOWN).map(|(id, _)| quoted(id)).collect();
    format!(" (nodes are {}{dots})", shown.join(", "))
}

/// An end of a link under the first of these names that it has.
fn end<'a>(fields: &'a Object, names: &[&str]) -> Option<&'a Json> {
    fields.first(names).or_else(|| {
        WRAPPERS.iter().find_map(|wrapper| match fields.get(wrapper) {
            Some(Json::Object(inner)) => inner.first(names),
            _ => None,
        })
    })
}

/// A list of the file, if there is one under this name.
fn list<'a>(file: &'a Object, name: &str) -> Result<Option<&'a [Json]>, Problem> {
    match file.get(name) {
        None => Ok(None),
        Some(Json::List(list)) => Ok(Some(list)),
        Some(other) => Err(format!("has {} as `{name}`, where a list is expected", other.kind())),
    }
}

fn missing(what: &str) -> Problem {
    format!("has no {what}: it must be JSON as networkx writes it, with `nodes` and `edges`")
}

/// A field that is true or false, or 1 or 0; false if there is none.
fn flag(file: &Object, name: &str) -> Result<bool, Problem> {
    match file.get(name) {
        None | Some(Json::Null) => Ok(false),
        Some(Json::Flag(flag)) => Ok(*flag),
        Some(Json::Number(number)) if number.as_i64() == Some(0) => Ok(false),
        Some(Json::Number(number)) if number.as_i64() == Some(1) => Ok(true),
        Some(other) => Err(format!("says `{name}`: {other}; it must be true or false")),
    }
}
