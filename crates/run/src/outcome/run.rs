use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpline_model::{Model, Statistics};
use warpline_record::RunRecord;
use warpline_report::ReportError;

use crate::{Error, TableRows, TraceSummary};

/// What a run leaves behind.
///
/// ```
/// # use warpline::prelude::*;
/// const TICKS: Counter = Counter::slot(0);
/// const SHOWN: Table = Table(0);
/// # struct Clock;
/// # impl Model for Clock {
/// #     type State = u32; type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn declare(&self, declare: &mut Declarations) {
/// #         declare.counter(TICKS, "ticks", "", "times that the clock ticked");
/// #         declare.table(SHOWN, "shown", &[("hours", "h")]);
/// #     }
/// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
/// #     fn handle(&self, hours: &mut u32, _: &(), lp: &mut Context<Self>) {
/// #         *hours += 1;
/// #         lp.count(TICKS, 1);
/// #         lp.record(SHOWN, &[(*hours).into()]);
/// #         lp.send(0, 1.0, ());
/// #     }
/// # }
/// // `Clock` counts and records its ticks at 1, 2, 3, …
/// let run = Simulation::new(Clock).warmup(6.0).end(10.0).run()?;
/// assert_eq!(run.statistics.counter(TICKS), 4); // at 6, 7, 8, 9
/// assert_eq!(run.record.results["ticks"], 4); // the same as JSON
/// assert_eq!(run.record.committed_events, 9);
/// assert_eq!(run.states[0], 9);
/// assert_eq!(run.tables[0].rows[2], (3.0, LpId(0), vec![Cell::Whole(3)]));
/// # Ok::<(), Error>(())
/// ```
pub struct Run<M: Model> {
    /// Digest, rates, results and all settings: what the command prints and the report shows.
    pub record: RunRecord,
    /// The committed statistics. Long lists of results are made from them when they are written.
    pub statistics: Arc<Statistics>,
    /// The final state of every LP; in a run of several [processes](crate::Simulation::processes),
    /// of those of the first process, which are the first LPs.
    pub states: Vec<M::State>,
    /// The rows of every table, by slot, if they were [kept](crate::Records::Keep); otherwise
    /// empty.
    pub tables: Vec<TableRows>,
    /// Why a file of [written](crate::Records::Write) rows, a [trace](crate::Simulation::trace), or
    /// what was to be done [to the outside world](crate::Observe::when_settled) is incomplete, if
    /// it is. Everything else is complete.
    pub incomplete: Option<Error>,
    /// What is in its [trace](crate::Simulation::trace), if there is one and it could be written.
    pub trace: Option<TraceSummary>,
}

impl<M: Model> Run<M> {
    /// Writes a report to a directory, which is made if needed: `report.html` to look at,
    /// `run.json` with all figures, and a CSV file for every table whose rows were kept. Returns
    /// the path of the page.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline_testkit::examples::Clock;
    /// # let out = tempfile::tempdir()?;
    /// # let out = out.path().join("out");
    /// let page = Simulation::new(Clock).end(10.0).run()?.report(&out)?;
    /// assert_eq!(page, out.join("report.html"));
    /// assert!(out.join("run.json").is_file());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the directory or a file in it cannot be written.
    pub fn report(&self, directory: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let directory = directory.as_ref();
        std::fs::create_dir_all(directory)
            .map_err(|source| ReportError::Directory { path: directory.to_owned(), source })?;
        let kept: Vec<String> =
            self.tables.iter().map(|table| table.write(directory)).collect::<Result<_, _>>()?;
        let mut record = self.record.clone();
        record.tables.extend(kept);
        Ok(warpline_report::write(directory, &record)?)
    }
}

impl<M: Model> std::fmt::Debug for Run<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("record", &self.record).finish_non_exhaustive()
    }
}
