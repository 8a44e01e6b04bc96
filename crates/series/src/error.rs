//! Why a file, or what was to be made of it, was refused.

/// A mistake in a file of numbers: which file, where, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", place(file, *line, column.as_deref()))]
pub struct SeriesError {
    file: String,
    line: Option<u64>,
    column: Option<String>,
    problem: String,
}

impl SeriesError {
    pub(crate) fn of_file(file: &str, problem: impl Into<String>) -> Self {
        SeriesError { file: file.to_owned(), line: None, column: None, problem: problem.into() }
    }

    pub(crate) fn at_line(self, line: u64) -> Self {
        SeriesError { line: Some(line), ..self }
    }

    pub(crate) fn at_column(self, column: &str) -> Self {
        SeriesError { column: Some(column.to_owned()), ..self }
    }

    /// The line with the mistake, from 1, if it is in one.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// The name of the column with the mistake, if it is in one.
    pub fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }
}

fn place(file: &str, line: Option<u64>, column: Option<&str>) -> String {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let column = column.map(|column| format!(", column `{column}`")).unwrap_or_default();
    format!("`{file}`{line}{column}")
}

/// The most characters of a cell or line that messages show.
const SHOWN: usize = 40;

/// What was found in a cell, short enough for a message.
pub(crate) fn shown(found: &str) -> String {
    match found.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", found[..end].escape_debug()),
        None => format!("`{}`", found.escape_debug()),
    }
}
