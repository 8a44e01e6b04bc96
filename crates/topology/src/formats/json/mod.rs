//! JSON in the shapes of networkx, D3, Cytoscape, graphology and JGF.

mod demands;
mod elements;
mod shapes;
mod value;

use crate::error::Problem;
use crate::graph::Graph;
use crate::meaning::Given;

use value::Json;

/// Reads a graph from JSON.
pub(super) fn read(text: &str, given: &Given) -> Result<Graph, Problem> {
    let (file, not_numbers) = value::parse(text)?;
    let Json::Object(file) = &file else {
        return Err(format!("is {}, not a JSON object with `nodes` and `edges`", file.kind()));
    };
    let mut builder = shapes::read(file, given)?;
    if not_numbers > 0 {
        let values = if not_numbers == 1 { "value is" } else { "values are" };
        builder
            .assumptions
            .push(format!("{not_numbers} {values} NaN or Infinity: taken as missing"));
    }
    if let Some(Json::Object(graph)) = file.get("graph") {
        let found = demands::read(graph, &builder);
        builder.demands(found);
    }
    builder.finish()
}
