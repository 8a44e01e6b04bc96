//! Reads columns of CSV files.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use crate::cells::{Cells, Numbers, Splitter, find_separator};
use crate::error::{SeriesError, shown};
use crate::lines::{Lines, Problem};
use crate::series::{LinesOfRows, Series, Source};
use crate::units::{Quantity, SECOND, TimeUnit, split_name};

/// The most rows that are read.
const MOST_ROWS: usize = 1 << 28;

/// How many lines are looked at to find the separator.
const HEAD_LINES: usize = 20;

/// The most groups that rows can be of.
const MOST_GROUPS: usize = 10_000;

/// Reads columns of numbers from CSV files, by looking what they are like; see the [crate
/// documentation](crate).
#[derive(Clone, Debug)]
pub struct Reader {
    model: TimeUnit,
    unit: Quantity,
    only: Option<(String, String)>,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { model: SECOND, unit: Quantity::Unknown, only: None }
    }
}

impl Reader {
    /// A reader for a model whose time is in seconds.
    pub fn new() -> Self {
        Reader::default()
    }

    /// Converts times into this unit, and rates into those for this unit. Default: `s`.
    ///
    /// # Errors
    /// If that is no unit of time.
    pub fn model_unit(mut self, unit: &str) -> Result<Self, String> {
        self.model = TimeUnit::named(unit).ok_or_else(|| {
            format!("`{unit}` is no unit of time; expected ns, us, ms, s, min, h or days")
        })?;
        Ok(self)
    }

    /// The unit of columns whose header has none, such as `ms` or `1/h`. Default: that of the model.
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = Quantity::of(unit);
        self
    }

    /// Reads only rows that have this text in this column. Other rows may have anything in the
    /// columns that are read.
    pub fn only(mut self, column: &str, text: &str) -> Self {
        self.only = Some((column.to_owned(), text.to_owned()));
        self
    }

    /// Reads columns of a file, each by its name in the header, with or without its unit, or by its
    /// number from 1. The empty name stands for the only column.
    ///
    /// # Errors
    /// If the file cannot be read, is no table, lacks a column, or has anything but a finite number
    /// in one of its rows.
    pub fn read_file<const N: usize>(
        &self,
        path: impl AsRef<Path>,
        columns: [&str; N],
    ) -> Result<[Series; N], SeriesError> {
        let file = path.as_ref().display().to_string();
        let lines = Lines::of_file(path.as_ref());
        self.read_lines(&file, lines.map_err(|why| SeriesError::of_file(&file, why))?, columns)
    }

    /// Reads columns of what `bytes` gives. `name` stands for it in messages.
    ///
    /// # Errors
    /// Like [`read_file`](Self::read_file).
    pub fn read<const N: usize>(
        &self,
        name: &str,
        bytes: impl Read,
        columns: [&str; N],
    ) -> Result<[Series; N], SeriesError> {
        let lines = Lines::of(bytes).map_err(|why| SeriesError::of_file(name, why))?;
        self.read_lines(name, lines, columns)
    }

    /// Reads a column of a file, split by what another column has: a series for each text there.
    ///
    /// # Errors
    /// Like [`read_file`](Self::read_file), and if there are more than 10 000 groups.
    pub fn read_groups(
        &self,
        path: impl AsRef<Path>,
        column: &str,
        by: &str,
    ) -> Result<BTreeMap<String, Series>, SeriesError> {
        let file = path.as_ref().display().to_string();
        let lines = Lines::of_file(path.as_ref());
        let lines = lines.map_err(|why| SeriesError::of_file(&file, why))?;
        let mut groups: BTreeMap<String, (Vec<f64>, LinesOfRows)> = BTreeMap::new();
        let table = Table::begin(self, &file, lines)?;
        let [by] = table.find([by])?;
        let [column] = table.find([column])?;
        let found = table.column(column);
        table.rows([column], |cells, line, [number]| {
            let group = cells.get(by);
            if !groups.contains_key(group) {
                if groups.len() == MOST_GROUPS {
                    return Err(format!(
                        "begins group {}, but at most {MOST_GROUPS} are read",
                        MOST_GROUPS + 1
                    ));
                }
                groups.insert(group.to_owned(), Default::default());
            }
            if let Some((numbers, lines)) = groups.get_mut(group) {
                numbers.push(number);
                lines.push(line);
            }
            Ok(())
        })?;
        let series = groups.into_iter().map(|(group, (numbers, lines))| {
            let (column, quantity) = found.clone();
            let source = Source { file: file.clone(), column, quantity, model: self.model, lines };
            (group, Series::read(numbers, source))
        });
        Ok(series.collect())
    }

    fn read_lines<const N: usize>(
        &self,
        file: &str,
        lines: Lines,
        names: [&str; N],
    ) -> Result<[Series; N], SeriesError> {
        let table = Table::begin(self, file, lines)?;
        let columns = table.find(names)?;
        let found = columns.map(|column| table.column(column));
        let mut numbers = [(); N].map(|()| Vec::new());
        let mut lines_of_rows = LinesOfRows::default();
        table.rows(columns, |_, line, row| {
            numbers.iter_mut().zip(row).for_each(|(numbers, number)| numbers.push(number));
            lines_of_rows.push(line);
            Ok(())
        })?;
        let mut found = found.into_iter();
        Ok(numbers.map(|numbers| {
            let (column, quantity) =
                found.next().unwrap_or_else(|| (String::new(), Quantity::Unknown));
            let lines = lines_of_rows.clone();
            Series::read(
                numbers,
                Source { file: file.to_owned(), column, quantity, model: self.model, lines },
            )
        }))
    }
}

/// A file whose first lines are known.
struct Table<'a> {
    reader: &'a Reader,
    file: &'a str,
    lines: Lines<'a>,
    /// The first lines that say something, and their numbers.
    head: Vec<(u64, String)>,
    splitter: Splitter,
    numbers: Numbers,
    /// The cells of the header, with its line; or how many columns there are, if it has none.
    header: Option<(u64, Vec<String>)>,
    columns: usize,
}

impl<'a> Table<'a> {
    fn begin(reader: &'a Reader, file: &'a str, mut lines: Lines<'a>) -> Result<Self, SeriesError> {
        let mut head = Vec::new();
        while head.len() < HEAD_LINES {
            match lines.next().map_err(|problem| placed(file, problem))? {
                Some((number, line)) if !is_remark(line) => head.push((number, line.to_owned())),
                Some(_) => {}
                None => break,
            }
        }
        let fail = |problem: &str| SeriesError::of_file(file, problem);
        let Some((number, first)) = head.first() else {
            return Err(fail("is empty; expected rows of numbers"));
        };
        let separator = find_separator(&head);
        let (mut splitter, numbers) = (Splitter::new(separator), Numbers::new(separator));
        let cells = splitter.split(first).map_err(|why| fail(&why).at_line(*number))?;
        let columns = cells.len();
        let is_header = !cells.iter().any(|cell| numbers.is_number(cell));
        let header = is_header.then(|| (*number, cells.iter().map(str::to_owned).collect()));
        Ok(Table { reader, file, lines, head, splitter, numbers, header, columns })
    }

    fn fail(&self, problem: impl Into<String>) -> SeriesError {
        SeriesError::of_file(self.file, problem)
    }

    /// The name of a column, and what its numbers are.
    fn column(&self, column: usize) -> (String, Quantity) {
        let Some((_, header)) = &self.header else {
            return (format!("column {}", column + 1), self.reader.unit.clone());
        };
        let name = &header[column];
        let quantity = match Quantity::of(split_name(name).1) {
            Quantity::Unknown => self.reader.unit.clone(),
            known => known,
        };
        let name = if name.is_empty() { format!("column {}", column + 1) } else { name.clone() };
        (name, quantity)
    }

    /// The places of columns.
    fn find<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N], SeriesError> {
        let mut places = [0; N];
        for (place, name) in places.iter_mut().zip(names) {
            *place = self.find_one(name)?;
        }
        Ok(places)
    }

    fn find_one(&self, name: &str) -> Result<usize, SeriesError> {
        if name.is_empty() {
            return match self.columns {
                1 => Ok(0),
                _ => Err(self.fail(format!("has {}; say which to read", self.columns_in_words()))),
            };
        }
        let folded = |name: &str| name.to_lowercase().replace(['_', '-'], " ").trim().to_owned();
        let names = self.header.iter().flat_map(|(_, header)| header.iter().enumerate());
        let matching = |matches: &dyn Fn(&str) -> bool| -> Vec<usize> {
            names.clone().filter(|(_, header)| matches(header)).map(|(column, _)| column).collect()
        };
        let mut found = matching(&|header| header == name);
        if found.is_empty() {
            found = matching(&|header| {
                folded(header) == folded(name) || folded(split_name(header).0) == folded(name)
            });
        }
        let number = name.parse().ok().filter(|number| (1..=self.columns).contains(number));
        match (found.as_slice(), number) {
            ([column], _) => Ok(*column),
            ([], Some(number)) => Ok(number - 1),
            ([], None) => Err(self.fail(format!(
                "has no column {}; it has {}",
                shown(name),
                self.columns_in_words()
            ))),
            (several, _) => Err(self.fail(format!(
                "has {} columns called {}; give the number of one, from 1",
                several.len(),
                shown(name)
            ))),
        }
    }

    fn columns_in_words(&self) -> String {
        const MOST: usize = 12;
        let count = match self.columns {
            1 => "1 column".to_owned(),
            count => format!("{count} columns"),
        };
        match &self.header {
            None => format!("{count} and no header: name them by numbers from 1"),
            Some((line, header)) => {
                let names: Vec<String> = header.iter().take(MOST).map(|name| shown(name)).collect();
                let more = if header.len() > MOST { ", …" } else { "" };
                format!("{count} (line {line}): {}{more}", names.join(", "))
            }
        }
    }

    /// Calls `take` with each row, its line, and the numbers in these columns of it.
    fn rows<const N: usize>(
        mut self,
        columns: [usize; N],
        mut take: impl FnMut(Cells, u64, [f64; N]) -> Result<(), String>,
    ) -> Result<(), SeriesError> {
        let only = match &self.reader.only {
            Some((column, text)) => Some((self.find_one(column)?, text.as_str())),
            None => None,
        };
        let described = columns.map(|column| self.column(column));
        let model = self.reader.model;
        let mut rows = 0;
        let mut row = |cells: Cells, line: u64, numbers: &mut Numbers| -> Result<(), SeriesError> {
            let at = |problem: String| SeriesError::of_file(self.file, problem).at_line(line);
            if cells.len() != self.columns {
                return Err(at(uneven(cells.len(), self.columns, self.header.as_ref())));
            }
            if only.is_some_and(|(column, text)| cells.get(column) != text) {
                return Ok(());
            }
            let mut converted = [0.0; N];
            for ((number, column), (name, quantity)) in
                converted.iter_mut().zip(columns).zip(&described)
            {
                let cell = cells.get(column);
                let read = numbers.read(cell, line).map_err(|why| at(why).at_column(name))?;
                *number = quantity.convert(read, model);
                if !number.is_finite() {
                    let why = format!("found {}, which is too large a number", shown(cell));
                    return Err(at(why).at_column(name));
                }
            }
            rows += 1;
            if rows > MOST_ROWS {
                return Err(at(format!("has more than {MOST_ROWS} rows, the most that are read")));
            }
            take(cells, line, converted).map_err(at)
        };
        let fail = |problem: String| SeriesError::of_file(self.file, problem);
        for (line, text) in self.head.drain(..).skip(usize::from(self.header.is_some())) {
            let cells = self.splitter.split(&text).map_err(|why| fail(why).at_line(line))?;
            row(cells, line, &mut self.numbers)?;
        }
        while let Some((line, text)) = self.lines.next().map_err(|why| placed(self.file, why))? {
            if !is_remark(text) {
                let cells = self.splitter.split(text).map_err(|why| fail(why).at_line(line))?;
                row(cells, line, &mut self.numbers)?;
            }
        }
        match (rows, only) {
            (0, Some((_, text))) => Err(fail(format!("has no row with {}", shown(text)))),
            (0, None) => Err(fail("has a header and no row; expected rows of numbers".to_owned())),
            _ => Ok(()),
        }
    }
}

/// That a row has more or fewer cells than the table has columns.
fn uneven(found: usize, expected: usize, header: Option<&(u64, Vec<String>)>) -> String {
    let before = match header {
        Some((line, _)) => format!("the header in line {line}"),
        None => "the first row".to_owned(),
    };
    let hint = if expected == 1 && found == 2 {
        "; write numbers with a point before decimals, or separate columns by semicolons"
    } else {
        ""
    };
    let cells = if found == 1 { "cell" } else { "cells" };
    format!("found {found} {cells}, expected {expected} as in {before}{hint}")
}

fn placed(file: &str, (line, problem): Problem) -> SeriesError {
    let error = SeriesError::of_file(file, problem);
    match line {
        Some(line) => error.at_line(line),
        None => error,
    }
}

/// Whether a line says nothing: it is empty, or a comment.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

impl Series {
    /// Reads the only column of a CSV file, with times in seconds.
    ///
    /// # Errors
    /// Like [`Reader::read_file`], and if the file has several columns.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Self, SeriesError> {
        let [series] = Series::columns_from_csv(path, [""])?;
        Ok(series)
    }

    /// Reads columns of a CSV file, with times in seconds.
    ///
    /// # Errors
    /// Like [`Reader::read_file`].
    pub fn columns_from_csv<const N: usize>(
        path: impl AsRef<Path>,
        columns: [&str; N],
    ) -> Result<[Self; N], SeriesError> {
        Reader::new().read_file(path, columns)
    }
}
