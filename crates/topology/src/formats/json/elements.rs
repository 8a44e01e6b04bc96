//! What nodes and links are in all shapes of JSON.

use std::borrow::Cow;

use crate::builder::Builder;
use crate::error::Problem;
use crate::graph::{Format, Id};
use crate::meaning::Value;

use super::value::{Json, Object};

/// Objects within a node or link whose fields are those of the node or link itself.
pub(super) const WRAPPERS: [&str; 4] = ["data", "attributes", "metadata", "properties"];

pub(super) const SOURCES: [&str; 5] = ["source", "from", "src", "start", "u"];
pub(super) const TARGETS: [&str; 6] = ["target", "to", "dst", "dest", "end", "v"];

/// A node's id; `7`, `7.0` and `"7"` are the same.
pub(super) fn id(value: &Json) -> Option<Id> {
    match value {
        Json::Text(text) => Some(Id::Text(text.to_string())),
        Json::Number(number) => match whole(number) {
            Some(whole) => Some(Id::Number(whole)),
            None if number.is_f64() => None,
            None => Some(Id::Text(number.to_string())),
        },
        // As Python writes the tuple that it was.
        Json::List(parts) if !parts.is_empty() => {
            let parts: Option<Vec<String>> = parts
                .iter()
                .map(|part| match part {
                    Json::Text(text) => Some(format!("'{text}'")),
                    Json::Number(number) => Some(
                        whole(number).map_or_else(|| number.to_string(), |whole| whole.to_string()),
                    ),
                    _ => None,
                })
                .collect();
            Some(Id::Text(format!("({})", parts?.join(", "))))
        }
        _ => None,
    }
}

/// The whole number that this is, also if it is written as `3.0`.
pub(super) fn whole(number: &serde_json::Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| {
        let number = number.as_f64().filter(|_| number.is_f64())?;
        (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
    })
}

/// The numbers and texts of a node or link, with those of objects within it.
pub(super) fn values<'a>(fields: &'a Object, to: &mut Vec<(Cow<'a, str>, Value<'a>)>) {
    for (name, value) in fields.iter() {
        match value {
            Json::Object(inner) if WRAPPERS.contains(&name) => values(inner, to),
            Json::Object(inner) => {
                for (inner_name, value) in inner.iter() {
                    if let Json::Number(_) = value {
                        to.extend(
                            plain(value)
                                .map(|value| (format!("{name}.{inner_name}").into(), value)),
                        );
                    }
                }
            }
            _ => to.extend(plain(value).map(|value| (name.into(), value))),
        }
    }
}

fn plain(value: &Json) -> Option<Value<'_>> {
    match value {
        Json::Number(number) => number.as_f64().map(Value::Number),
        Json::Text(text) => Some(Value::Text(text)),
        _ => None,
    }
}

/// Adds a node that is an object, or an id alone.
pub(super) fn add_node(
    builder: &mut Builder<'_>,
    number: u32,
    own_id: Id,
    fields: &Object,
) -> Result<(), Problem> {
    let mut found = Vec::new();
    values(fields, &mut found);
    let position = position(number, fields)?.map(|(x, y)| ("pos", Value::Pair(x, y)));
    let values = found.iter().map(|(name, value)| (name.as_ref(), *value));
    builder.node(own_id, number, values.chain(position)).map(|_| ())
}

/// Longitude and latitude, if a node has both in one.
fn position(number: u32, fields: &Object) -> Result<Option<(f64, f64)>, Problem> {
    let position = match fields.get("pos") {
        None | Some(Json::Null) => return Ok(None),
        Some(position) => position,
    };
    let parts = match position {
        Json::List(parts) => parts.as_slice(),
        _ => &[],
    };
    match parts {
        [Json::Number(longitude), Json::Number(latitude)] => {
            Ok(longitude.as_f64().zip(latitude.as_f64()))
        }
        // Null, or a NaN.
        [first, second]
            if [first, second].iter().all(|part| matches!(part, Json::Null | Json::Number(_))) =>
        {
            Ok(None)
        }
        _ => Err(format!(
            "has {position} as nodes[{number}].pos; it must be [longitude, latitude] in degrees"
        )),
    }
}

/// What a link is called in messages: `edges[3]`.
pub(super) fn at(list: &str, number: usize) -> String {
    format!("{list}[{number}]")
}

/// The format of a file with these fields.
pub(super) fn format_of(file: &Object) -> Format {
    if file.get("adjacency").is_some() {
        Format::Adjacency
    } else if file.get("elements").is_some() {
        Format::Cytoscape
    } else if file.get("nodes").is_none()
        && matches!(file.get("graph"), Some(Json::Object(graph)) if graph.get("nodes").is_some())
    {
        Format::JsonGraph
    } else {
        Format::NodeLink
    }
}
