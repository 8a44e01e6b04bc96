//! Values, as files have them.

/// A value of a node or link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(f64),
    Text(&'a str),
    /// Longitude and latitude in one.
    Pair(f64, f64),
}

impl<'a> Value<'a> {
    /// The number that this is or spells; `None` for what stands for nothing in Python, R or SQL.
    ///
    /// # Errors
    /// The text, if it is no number.
    pub(crate) fn number(self) -> Result<Option<f64>, &'a str> {
        match self {
            Value::Number(number) => Ok(Some(number).filter(|number| !number.is_nan())),
            Value::Text(text) if is_nothing(text) => Ok(None),
            Value::Text(text) => text.trim().parse().map(Some).map_err(|_| text),
            Value::Pair(..) => Err("a pair"),
        }
    }

    /// As in a message.
    pub(crate) fn shown(self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("`{text}`"),
            Value::Pair(first, second) => format!("[{first}, {second}]"),
        }
    }
}

/// Whether a text says that a value is missing.
pub(crate) fn is_nothing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || ["none", "nan", "null", "na", "n/a", "-", "?"]
            .iter()
            .any(|nothing| text.eq_ignore_ascii_case(nothing))
}
