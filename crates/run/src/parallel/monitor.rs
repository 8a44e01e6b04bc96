use std::time::Instant;

use warpline_base::{Moment, VirtualTime};
use warpline_memory::Region;
use warpline_transport::Lost;

use super::any_pe::AnyPe;
use super::ending::Ending;
use super::merge::RowMerge;
use super::processes::Processes;
use super::status::PeStatus;
use crate::machine::core_time::CoreTime;
use crate::outcome::rows::Rows;
use crate::policy::engine_selector::Reading;
use crate::state::run_monitor::RunMonitor;

/// What the thread that watches PEs needs to pass rows and progress on until they are done.
pub(crate) struct LoopMonitor<'l, 'r> {
    pub(crate) run: &'l mut RunMonitor<'r>,
    /// The processes of the run, if there are several.
    pub(crate) processes: Option<&'l mut Processes>,
    /// When the PEs were made.
    pub(crate) looped: Instant,
    /// Where they begin and end.
    pub(crate) from: VirtualTime,
    pub(crate) until: VirtualTime,
    /// How many events had committed before they began.
    pub(crate) committed: u64,
    pub(crate) rows: Rows,
    pub(crate) merge: RowMerge,
}

impl<'r> LoopMonitor<'_, 'r> {
    /// The region that the processes of the run share, or one of this process alone.
    pub(crate) fn region(&self) -> Region {
        let processes = self.processes.as_ref();
        processes.map_or_else(Region::own, |processes| processes.group.region().clone())
    }

    /// What this many PEs share to find an earlier end.
    pub(crate) fn ending(&self, region: &Region, pes: u32) -> Ending<'r> {
        Ending::new(region, self.run.stop, pes, self.from, self.run.selector.events())
    }

    /// The PEs of this process begin: consecutive ones from `first` on.
    pub(crate) fn begin(&mut self, pes: &[&mut dyn AnyPe], first: u32) {
        let beats = pes.iter().zip(first..).map(|(pe, number)| (Some(number), pe.beat()));
        self.run.control.watch_all(beats);
        self.begin_reading();
    }

    /// PEs begin that take turns, and share a beat with the first of them. There may be several such
    /// groups.
    pub(crate) fn begin_in_turns<'p>(&mut self, firsts: impl Iterator<Item = &'p dyn AnyPe>) {
        self.run.control.watch_all(firsts.map(|pe| (None, pe.beat())));
        self.begin_reading();
    }

    fn begin_reading(&mut self) {
        let reading = Reading::new(Instant::now(), self.from.get(), self.committed);
        self.run.selector.begin(reading);
    }

    /// Passes on all rows before `settled`.
    ///
    /// # Errors
    /// If another process is gone.
    pub(crate) fn pass_on_before(&mut self, settled: &Moment) -> Result<(), Lost> {
        let rows = self.merge.take_before(settled);
        match &mut self.processes {
            Some(processes) => processes.pass_on(rows, &mut self.rows)?,
            None => rows.for_each(|row| self.rows.add(row)),
        }
        Ok(())
    }

    /// Notes how far the PEs have come, and has them come to an end if another engine is to go on.
    pub(crate) fn note(
        &mut self,
        status: PeStatus,
        unevenness: Option<f64>,
        core_time: CoreTime,
        ending: &Ending<'_>,
    ) {
        let virtual_time = status.gvt.clamp(self.from.get(), self.until.get());
        let reading = Reading {
            unevenness,
            core_time,
            ..Reading::new(Instant::now(), virtual_time, self.committed + status.committed)
        };
        self.run.note(reading, Some(status.sample()));
        if self.run.selector.is_over(reading) {
            ending.change();
        }
    }
}
