//! Pictures and tables of a report.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::null::{lines, marks, number};

/// A picture or table that a model adds to the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "view", rename_all = "snake_case")]
pub enum View {
    /// Nodes on a map, joined by links that are coloured by a value.
    Map(MapView),
    /// Cells in rows and columns, each coloured by a value.
    Grid(GridView),
    /// Bars over ranges of a quantity.
    Histogram(HistogramView),
    /// Lines over a common axis.
    Lines(LinesView),
    /// Bars side by side, in groups.
    Bars(BarsView),
    /// Rows that can be sorted by column.
    Table(TableView),
}

/// See [`View::Map`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapView {
    /// The heading.
    pub title: String,
    /// What colours the links, such as `utilisation`.
    pub value_name: String,
    /// The unit of the value; empty for a pure number.
    pub unit: String,
    /// The value of the coldest colour.
    #[serde(deserialize_with = "number")]
    pub low: f64,
    /// The value of the hottest colour.
    #[serde(deserialize_with = "number")]
    pub high: f64,
    /// The nodes.
    pub nodes: Vec<MapNode>,
    /// The links.
    pub links: Vec<MapLink>,
}

/// A node of a [`MapView`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapNode {
    /// Its name.
    pub name: String,
    /// Degrees east.
    #[serde(deserialize_with = "number")]
    pub longitude: f64,
    /// Degrees north.
    #[serde(deserialize_with = "number")]
    pub latitude: f64,
}

/// A directed link of a [`MapView`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapLink {
    /// Index of the node that it leaves.
    pub source: usize,
    /// Index of the node that it enters.
    pub target: usize,
    /// The value that colours it.
    #[serde(deserialize_with = "number")]
    pub value: f64,
    /// Further facts, as (name, value with unit).
    pub facts: Vec<(String, String)>,
}

/// See [`View::Grid`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridView {
    /// The heading.
    pub title: String,
    /// What colours the cells.
    pub value_name: String,
    /// The unit of the value; empty for a pure number.
    pub unit: String,
    /// How many cells are in a row.
    pub columns: u32,
    /// The values, row by row; `None` where a cell has none.
    pub values: Vec<Option<f64>>,
}

/// See [`View::Histogram`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistogramView {
    /// The heading.
    pub title: String,
    /// The quantity on the horizontal axis.
    pub quantity: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// What is counted, such as `links` or `packets`.
    pub counted: String,
    /// The bars, from low to high.
    pub bars: Vec<Bar>,
    /// Marked values, as (name, value), such as `("p99", 0.031)`.
    #[serde(deserialize_with = "marks")]
    pub marks: Vec<(String, f64)>,
}

/// A bar of a [`HistogramView`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// Where its range begins.
    #[serde(deserialize_with = "number")]
    pub low: f64,
    /// Where its range ends.
    #[serde(deserialize_with = "number")]
    pub high: f64,
    /// The number of values in it.
    pub count: u64,
}

/// See [`View::Lines`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinesView {
    /// The heading.
    pub title: String,
    /// The quantity on the horizontal axis, with its unit.
    pub x: String,
    /// The quantity on the vertical axis, with its unit.
    pub y: String,
    /// The lines, as (name, points).
    #[serde(deserialize_with = "lines")]
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// See [`View::Table`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableView {
    /// The heading.
    pub title: String,
    /// The columns, as (name, unit).
    pub columns: Vec<(String, String)>,
    /// The rows; each cell is text or a number.
    pub rows: Vec<Vec<Value>>,
}

/// See [`View::Bars`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BarsView {
    /// The heading.
    pub title: String,
    /// What the bars show.
    pub quantity: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// A remark of one or two sentences.
    pub remark: String,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The bars, as (name, values for each group). A bar is as high as the median of its values,
    /// and every value is marked.
    pub series: Vec<(String, Vec<Vec<Option<f64>>>)>,
}
