use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use warpline_base::{Figure, LpId};
use warpline_kernel::{MomentRow, ROWS, RowContent};
use warpline_memory::{MakeRoom, list_for};
use warpline_model::engine::Followed;
use warpline_model::statistics::{Row, RowSink, TableDeclaration};
use warpline_model::{Act, Cell, Statistics};
use warpline_record::Told;

use crate::Error;
use crate::outcome::error::catch_message;
use crate::outcome::tellings::Tellings;

/// What happens to the rows that a model records.
///
/// ```
/// # use warpline::prelude::*;
/// # const TRIPS: Table = Table(0);
/// # struct Train;
/// # impl Model for Train {
/// #     type State = (); type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn declare(&self, declare: &mut Declarations) { declare.table(TRIPS, "trips", &[("way", "km"), ("by", "")]); }
/// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.5, ()); }
/// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
///     lp.record(TRIPS, &[12.25.into(), "train".into()]);
/// }
/// # }
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// // The table `trips` has the columns `way`, in km, and `by`.
/// let run = Simulation::new(Train).records(Records::Write(directory.into())).run()?;
/// assert!(run.incomplete.is_none());
/// assert_eq!(run.record.tables, ["trips.csv"]);
/// assert_eq!(std::fs::read_to_string(directory.join("trips.csv"))?, "time,lp,way [km],by\n1.5,0,12.25,train\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// They are kept in memory and returned in [`Run::tables`](crate::Run::tables).
    #[default]
    Keep,
    /// They are dropped, once their lengths have been checked.
    Drop,
    /// Each table becomes a CSV file in this directory, which must exist. The first two columns are
    /// time and LP; column titles include the unit, if there is one. Existing files are
    /// overwritten.
    Write(PathBuf),
}

/// The rows of one table, in the order of their events.
///
/// ```
/// # use warpline::prelude::*;
/// # const TRIPS: Table = Table(0);
/// # struct Train;
/// # impl Model for Train {
/// #     type State = (); type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn declare(&self, declare: &mut Declarations) { declare.table(TRIPS, "trips", &[("way", "km"), ("by", "")]); }
/// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.5, ()); }
/// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
///     lp.record(TRIPS, &[12.25.into(), "train".into()]);
/// }
/// # }
/// let run = Simulation::new(Train).run()?;
/// let trips = &run.tables[0];
/// assert_eq!((trips.name.as_str(), trips.columns[0].1.as_str()), ("trips", "km"));
/// assert_eq!(trips.rows, [(1.5, LpId(0), vec![Cell::Real(12.25), Cell::Text("train".into())])]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TableRows {
    /// The table's name.
    pub name: String,
    /// Its columns after time and LP, as (name, unit).
    pub columns: Vec<(String, String)>,
    /// The rows: time, LP and cells.
    pub rows: Vec<(f64, LpId, Vec<Cell>)>,
}

impl TableRows {
    /// Writes the rows to a CSV file in a directory, and returns its name.
    pub(crate) fn write(&self, directory: &Path) -> Result<String, Error> {
        let mut table = CsvTable::create(directory, &self.name, &self.columns)?;
        table.failed =
            self.rows.iter().try_for_each(|(time, lp, cells)| table.write(*time, *lp, cells)).err();
        table.finish()?;
        Ok(format!("{}.csv", self.name))
    }
}

/// Takes committed rows and acts in the order of their events.
pub(crate) struct Rows {
    tables: Tables,
    acts: Acts,
    tellings: Tellings,
}

/// What rows and acts leave.
pub(crate) struct FinishedRows {
    /// The rows kept.
    pub(crate) tables: Vec<TableRows>,
    /// The names of the files.
    pub(crate) files: Vec<String>,
    /// What followed LPs told.
    pub(crate) told: Vec<Told>,
    /// The first error of writing or acting.
    pub(crate) incomplete: Option<Error>,
}

enum Tables {
    Keep(Vec<TableRows>),
    Drop,
    Write(Vec<CsvTable>),
}

/// What becomes of acts.
#[derive(Debug)]
pub(crate) enum Acts {
    /// They are performed.
    Perform,
    /// They are not performed, as the run only tries the model out.
    Ignore,
    /// They were performed until one panicked.
    Failed(Error),
}

pub(crate) struct CsvTable {
    path: PathBuf,
    file: BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl Rows {
    /// Takes a row of any kind.
    pub(crate) fn add(&mut self, MomentRow { time, lp, content, .. }: MomentRow) {
        match content {
            RowContent::Cells { table, cells } => self.row(Row { table, time, lp, cells: &cells }),
            RowContent::Act(act) => self.act(&act, time, lp),
            RowContent::ActElsewhere { .. } => {
                unreachable!("another process is asked to perform it")
            }
        }
    }

    /// Whether acts are performed, as none has panicked.
    pub(crate) fn performs(&self) -> bool {
        matches!(self.acts, Acts::Perform)
    }

    /// Notes that an act of an event of `lp` at `time` has panicked: no more are performed.
    pub(crate) fn fail(&mut self, lp: LpId, time: f64, why: String) {
        self.acts = Acts::Failed(Error::Act { lp, time, why });
    }

    pub(crate) fn new(
        records: &Records,
        acts: Acts,
        tellings: Tellings,
        statistics: &Statistics,
    ) -> Result<Self, Error> {
        let tables = statistics.tables().iter();
        let tables = match records {
            Records::Drop => Tables::Drop,
            Records::Keep => {
                let empty = |t: &TableDeclaration| TableRows {
                    name: t.name.clone(),
                    columns: t.columns.clone(),
                    rows: Vec::new(),
                };
                Tables::Keep(tables.map(empty).collect())
            }
            Records::Write(directory) => {
                let open = |t: &TableDeclaration| CsvTable::create(directory, &t.name, &t.columns);
                Tables::Write(tables.map(open).collect::<Result<_, _>>()?)
            }
        };
        Ok(Rows { tables, acts, tellings })
    }

    /// Completes the files.
    pub(crate) fn finish(self) -> FinishedRows {
        let failed = if let Acts::Failed(error) = self.acts { Some(error) } else { None };
        let told = self.tellings.finish();
        let none = FinishedRows { tables: Vec::new(), files: Vec::new(), told, incomplete: failed };
        match self.tables {
            Tables::Keep(tables) => FinishedRows { tables, ..none },
            Tables::Drop => none,
            Tables::Write(tables) => {
                let name =
                    |table: &CsvTable| Some(table.path.file_name()?.to_string_lossy().into_owned());
                let files = tables.iter().filter_map(name).collect();
                let errors: Vec<Error> =
                    tables.into_iter().filter_map(|table| table.finish().err()).collect();
                let incomplete = errors.into_iter().next().or(none.incomplete);
                FinishedRows { files, incomplete, ..none }
            }
        }
    }
}

impl CsvTable {
    fn create(directory: &Path, name: &str, columns: &[(String, String)]) -> Result<Self, Error> {
        let path = directory.join(format!("{name}.csv"));
        let title = |(name, unit): &(String, String)| {
            if unit.is_empty() { name.clone() } else { format!("{name} [{unit}]") }
        };
        let titles: Vec<String> = ["time".to_owned(), "lp".to_owned()]
            .into_iter()
            .chain(columns.iter().map(title))
            .collect();
        let written = File::create(&path).and_then(|file| {
            let mut file = BufWriter::new(file);
            writeln!(
                file,
                "{}",
                titles.iter().map(|title| quoted(title)).collect::<Vec<_>>().join(",")
            )?;
            Ok(file)
        });
        match written {
            Ok(file) => Ok(CsvTable { path, file, failed: None }),
            Err(cause) => Err(Error::Rows { path, cause }),
        }
    }

    fn write(&mut self, time: f64, lp: LpId, cells: &[Cell]) -> std::io::Result<()> {
        write!(self.file, "{},{}", Figure(time), lp.0)?;
        for cell in cells {
            match cell {
                Cell::Text(text) => write!(self.file, ",{}", quoted(text))?,
                cell => write!(self.file, ",{cell}")?,
            }
        }
        writeln!(self.file)
    }

    fn finish(mut self) -> Result<(), Error> {
        let outcome = self.failed.take().map_or_else(|| self.file.flush(), Err);
        outcome.map_err(|cause| Error::Rows { path: self.path, cause })
    }
}

/// A CSV field, in quotes if it needs them (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Performs an act.
///
/// # Errors
/// The message of its panic. If memory runs out in it, unwinding goes on.
pub(crate) fn perform(act: &Act) -> Result<(), String> {
    catch_message(|| act.perform())
}

impl RowSink for Rows {
    fn row(&mut self, row: Row<'_>) {
        if Followed::is_table(row.table) {
            return self.tellings.add(row);
        }
        match &mut self.tables {
            Tables::Drop => {}
            Tables::Keep(tables) => {
                let rows = &mut tables[usize::from(row.table)].rows;
                rows.make_room(1, ROWS);
                let mut cells = list_for(row.cells.len(), ROWS);
                cells.extend_from_slice(row.cells);
                rows.push((row.time, row.lp, cells));
            }
            Tables::Write(tables) => {
                let table = &mut tables[usize::from(row.table)];
                if table.failed.is_none() {
                    table.failed = table.write(row.time, row.lp, row.cells).err();
                }
            }
        }
    }

    fn act(&mut self, act: &Act, time: f64, lp: LpId) {
        if self.performs()
            && let Err(why) = perform(act)
        {
            self.fail(lp, time, why);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fields_are_quoted_where_needed() {
        assert_eq!(super::quoted("plain"), "plain");
        assert_eq!(super::quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        for special in [",", "\n", "\r", "\r\n"] {
            assert_eq!(
                super::quoted(&format!("one{special}two")),
                format!("\"one{special}two\""),
                "{special:?}"
            );
        }
        assert_eq!(super::quoted("\""), "\"\"\"\"");
    }
}
