//! From lines to cells, and from cells to numbers.

use csv_core::{ReadRecordResult, ReaderBuilder};

use crate::error::shown;

/// The most columns that a table may have.
const MOST_COLUMNS: usize = 4096;

/// The separators that are looked for, in this order: text is least likely to have tabs.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// The separator that as many times is in each of the first lines, or else the first that is in the
/// first line. A table of one column has none; any will do then.
pub(crate) fn find_separator(lines: &[(u64, String)]) -> char {
    let count = |line: &str, separator: char| {
        let mut quoted = false;
        let outside = |c: &char| {
            quoted ^= *c == '"';
            !quoted
        };
        line.chars().filter(outside).filter(|&c| c == separator).count()
    };
    let first = |separator| lines.first().map_or(0, |(_, line)| count(line, separator));
    let is_even = |separator: &char| {
        let columns = first(*separator);
        columns > 0 && lines.iter().all(|(_, line)| count(line, *separator) == columns)
    };
    let found = SEPARATORS.into_iter().find(is_even);
    found.or_else(|| SEPARATORS.into_iter().find(|&c| first(c) > 0)).unwrap_or(',')
}

/// Splits lines at separators outside of quotes.
pub(crate) struct Splitter {
    core: csv_core::Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Splitter {
    pub(crate) fn new(separator: char) -> Self {
        let core = ReaderBuilder::new().delimiter(separator as u8).build();
        Splitter { core, text: Vec::new(), ends: vec![0; MOST_COLUMNS] }
    }

    /// The cells of a line that is not empty.
    pub(crate) fn split(&mut self, line: &str) -> Result<Cells<'_>, String> {
        if self.text.len() <= line.len() {
            self.text.resize(2 * line.len() + 1, 0);
        }
        let Splitter { core, text, ends } = self;
        let (read, _, length, count) = core.read_record(line.as_bytes(), text, ends);
        match read {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::Record | ReadRecordResult::End => {
                return Err("has a carriage return within this line; end lines with line feeds: \
                     `tr '\\r' '\\n'` converts the file"
                    .into());
            }
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                return Err(too_many_columns());
            }
        }
        let (read, _, _, more) = core.read_record(b"\n", &mut text[length..], &mut ends[count..]);
        match read {
            ReadRecordResult::Record => Ok(Cells { text, ends: &ends[..count + more] }),
            ReadRecordResult::InputEmpty => {
                Err("opens a quote that this line does not close; cells are on one line".into())
            }
            _ => Err(too_many_columns()),
        }
    }
}

fn too_many_columns() -> String {
    format!("has more than {MOST_COLUMNS} columns in this line")
}

/// The cells of a line.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    text: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Cells<'a> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A cell, without blanks around it; empty if there is none.
    pub(crate) fn get(&self, column: usize) -> &'a str {
        let Some(&end) = self.ends.get(column) else { return "" };
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        // The line is UTF-8, and was cut at separators only.
        let cell = std::str::from_utf8(&self.text[start..end]).unwrap_or_default().trim();
        // With a blank before it, a quote is part of the cell.
        let inner = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inner.unwrap_or(cell)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a str> {
        (0..self.len()).map(move |column| self.get(column))
    }
}

/// How numbers are written.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// Whether a comma may stand before decimals: it separates no columns.
    may_have_commas: bool,
    /// What the first number with decimals had before them, and in which line.
    mark: Option<(char, u64)>,
}

impl Numbers {
    pub(crate) fn new(separator: char) -> Self {
        Numbers { may_have_commas: separator != ',', mark: None }
    }

    /// Whether a cell could be a number.
    pub(crate) fn is_number(&self, cell: &str) -> bool {
        cell.parse::<f64>().is_ok() || self.may_have_commas && with_point(cell).is_some()
    }

    /// The number in a cell, which is finite.
    pub(crate) fn read(&mut self, cell: &str, line: u64) -> Result<f64, String> {
        let refused = || Err(unexpected(cell));
        let (number, mark) = match cell.parse::<f64>() {
            Ok(number) if !self.may_have_commas => (number, None),
            Ok(number) => (number, cell.contains('.').then_some('.')),
            Err(_) if !self.may_have_commas => return refused(),
            Err(_) => match with_point(cell) {
                Some(number) => (number, Some(',')),
                None => return refused(),
            },
        };
        if !number.is_finite() {
            return Err(format!("found {}, expected a finite number", shown(cell)));
        }
        match (mark, self.mark) {
            (Some(mark), Some((before, place))) if mark != before => Err(format!(
                "found {}, expected decimals after `{before}` as in line {place}",
                shown(cell)
            )),
            (Some(mark), None) => {
                self.mark = Some((mark, line));
                Ok(number)
            }
            _ => Ok(number),
        }
    }
}

/// A number with a comma before its decimals.
fn with_point(cell: &str) -> Option<f64> {
    let (whole, decimals) = cell.split_once(',')?;
    if whole.contains('.') { None } else { format!("{whole}.{decimals}").parse().ok() }
}

/// That a cell is no number, and what people often mean by it.
fn unexpected(cell: &str) -> String {
    let found = if cell.is_empty() { "an empty cell".to_owned() } else { shown(cell) };
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let digits = cell.len()
        - cell.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c)).len();
    let (number, rest) = cell.split_at(digits);
    let hint = if cell.is_empty() {
        "; delete the row, or give its number"
    } else if cell.split_whitespace().count() > 1 && cell.split_whitespace().all(is_number) {
        "; columns are separated by commas, semicolons or tabs"
    } else if cell.contains(':') {
        "; give times as numbers, in seconds from the beginning of the run"
    } else if cell.replace([',', '\'', '_', ' ', '\u{a0}'], "").parse::<f64>().is_ok() {
        "; write it with a point before decimals and nothing between thousands"
    } else if is_number(number) && rest.trim().starts_with(|c: char| c.is_alphabetic() || c == '%')
    {
        "; a unit belongs into the header: `name [ms]`"
    } else {
        ""
    };
    format!("found {found}, expected a number{hint}")
}
