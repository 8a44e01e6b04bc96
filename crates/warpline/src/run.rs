use warpline_base::record::RunRecord;
use warpline_model::{Model, Statistics};

use crate::{Error, TableRows};

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
    /// The committed statistics.
    pub statistics: Statistics,
    /// The final state of every LP.
    pub states: Vec<M::State>,
    /// The rows of every table, by slot, if they were [kept](crate::Records::Keep); otherwise empty.
    pub tables: Vec<TableRows>,
    /// Why a file of [written](crate::Records::Write) rows or a [trace](crate::Simulation::trace) is incomplete, if one is. Everything else
    /// is complete.
    pub incomplete: Option<Error>,
}

impl<M: Model> std::fmt::Debug for Run<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("record", &self.record).finish_non_exhaustive()
    }
}
