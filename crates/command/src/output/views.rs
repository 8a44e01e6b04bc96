//! Parts of reports.

use serde_json::Value;
use warpline_record::{Fact, TableView, View};

/// A value in large type, with its name above and a remark below.
pub(crate) fn fact(name: &str, value: String, remark: String) -> Fact {
    Fact { name: name.to_owned(), value, remark }
}

/// A table whose columns have names and units.
pub(crate) fn table(title: &str, columns: &[(&str, &str)], rows: Vec<Vec<Value>>) -> View {
    let columns =
        columns.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect();
    View::Table(TableView { title: title.to_owned(), columns, rows })
}
