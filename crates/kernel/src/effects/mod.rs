mod committed;
pub(crate) mod rows;

use warpline_base::{EventKey, LpId, Moment, TieBreak, VirtualTime};
use warpline_model::statistics::{Note, Notes};
use warpline_model::{Fault, Statistics};

use crate::MomentRow;
use crate::effects::committed::CommitLog;
use crate::effects::rows::RowsOf;

/// The effects of committed events.
///
/// Invariant: nothing is in here that has not committed.
pub(crate) struct Effects {
    statistics: Statistics,
    rows: Vec<MomentRow>,
    /// The most recent commits: all those that a failure of another PE may still turn out to
    /// precede.
    committed: CommitLog,
}

impl Effects {
    pub(crate) fn new(statistics: Statistics) -> Self {
        Effects { statistics, rows: Vec::new(), committed: CommitLog::default() }
    }

    /// Adds what LP `lp` observed at `moment` to the statistics and rows.
    pub(crate) fn observe(
        &mut self,
        notes: &mut Notes,
        moment: Moment,
        lp: LpId,
        time: VirtualTime,
    ) -> Result<(), Fault> {
        let mut rows = RowsOf { moment, rows: &mut self.rows };
        let outcome = self.statistics.apply(notes, time.get(), lp, &mut rows);
        notes.clear();
        outcome
    }

    /// Adds what LP `lp` observed at `time` to the statistics: figures, and neither rows nor acts.
    #[inline]
    pub(crate) fn observe_figures(
        &mut self,
        notes: &[Note],
        lp: LpId,
        time: VirtualTime,
    ) -> Result<(), Fault> {
        self.statistics.apply_plain(notes, time.get(), lp)
    }

    /// Prefetches what observations will touch.
    pub(crate) fn fetch(&self, notes: &Notes) {
        self.statistics.fetch(notes);
    }

    /// Notes that an event has committed.
    #[inline(always)]
    pub(crate) fn committed(&mut self, key: EventKey) {
        self.committed.push(key);
    }

    /// Forgets commits before this time, as no failure can come before it any more.
    #[inline]
    pub(crate) fn forget_before(&mut self, time: VirtualTime) {
        self.committed.forget_before(time);
    }

    /// GVT has been found, and everything before the `settled` moment is settled. What no failure
    /// can come before any more is forgotten. `by_gvt`: nothing commits but by GVT. `short`: memory
    /// is short.
    pub(crate) fn on_gvt(
        &mut self,
        settled: Option<&Moment>,
        ties: TieBreak,
        by_gvt: bool,
        short: bool,
    ) {
        if by_gvt {
            // A failure reported now was found in the last commit at the earliest.
            self.committed.forget_older();
        }
        // Bounds are times, and so keep the commits of the present instant. This looks at each of
        // them.
        if short
            && self.must_wait_for_others(true)
            && let Some(settled) = settled
        {
            self.committed.forget_before_moment(settled, ties);
        }
    }

    /// How many of the recent commits do not come before `moment`.
    pub(crate) fn count_from(&self, moment: &Moment, ties: TieBreak) -> u64 {
        self.committed.count_from(moment, ties)
    }

    /// Whether the other PEs have yet to pass too many of this PE's commits, so that it must wait;
    /// `short` says whether memory is short.
    #[inline]
    pub(crate) fn must_wait_for_others(&self, short: bool) -> bool {
        self.committed.len() > if short { CommitLog::MOST_WHERE_SHORT } else { CommitLog::MOST }
    }

    /// How much memory rows and keys take, in bytes, without that of what is in the rows.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<MomentRow>() * self.rows.capacity() + self.committed.bytes()
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.rows.shrink_to_fit();
        self.committed.give_back_room();
    }

    pub(crate) fn take_rows(&mut self) -> Vec<MomentRow> {
        std::mem::take(&mut self.rows)
    }

    pub(crate) fn into_parts(self) -> (Statistics, Vec<MomentRow>) {
        (self.statistics, self.rows)
    }
}
