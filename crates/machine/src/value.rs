//! The values of a machine file.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::Deserialize;

/// A value of a file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    List(Vec<f64>),
    Table(Table),
    /// What no figure is, such as a truth value.
    Other(serde::de::IgnoredAny),
}

/// Keys and values, by name.
pub(crate) type Table = BTreeMap<String, Value>;

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::List(list) => write!(f, "{list:?}"),
            Value::Table(table) => {
                let entries: Vec<String> =
                    table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
            Value::Other(_) => write!(f, "what it is"),
        }
    }
}
