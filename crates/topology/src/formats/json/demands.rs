//! The demands of `graph.demands[source][target]`, as TopoHub has them.

use crate::builder::Builder;
use crate::error::Problem;
use crate::graph::Demand;

use super::value::{Json, Object};

/// Reads the demands of a file; `None` if it has none.
pub(super) fn read(graph: &Object, builder: &Builder<'_>) -> Result<Option<Vec<Demand>>, Problem> {
    let rows = match graph.get("demands") {
        None | Some(Json::Null) => return Ok(None),
        Some(rows) => object("", rows)?,
    };
    let mut demands = Vec::new();
    let mut any = false;
    for (from, row) in rows.iter() {
        any = true;
        let at = format!("[\"{from}\"]");
        let source = node(builder, &at, from)?;
        for (to, value) in object(&at, row)?.iter() {
            let at = format!("{at}[\"{to}\"]");
            let target = node(builder, &at, to)?;
            let number = match value {
                Json::Number(number) => number.as_f64(),
                _ => None,
            };
            let Some(value) = number.filter(|value| value.is_finite() && *value >= 0.0) else {
                return Err(format!(
                    "has {value} at graph.demands{at}; a demand must be a finite number, 0 or more"
                ));
            };
            demands.push(Demand { source, target, value });
        }
    }
    Ok(any.then_some(demands))
}

fn node(builder: &Builder<'_>, at: &str, id: &str) -> Result<u32, Problem> {
    builder
        .find(id)
        .ok_or_else(|| format!("has a mistake at graph.demands{at}: there is no node `{id}`"))
}

fn object<'a>(at: &str, value: &'a Json) -> Result<&'a Object, Problem> {
    match value {
        Json::Object(fields) => Ok(fields),
        other => Err(format!(
            "has {} at graph.demands{at}, where an object of node ids is expected",
            other.kind()
        )),
    }
}
