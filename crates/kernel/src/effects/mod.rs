mod committed;
pub(crate) mod rows;

use warpline_base::{EventKey, LpId, Moment, TieBreak, VirtualTime};
use warpline_model::statistics::{Observation, Observations};
use warpline_model::{Fault, Statistics};

use crate::MomentRow;
use crate::effects::committed::CommitLog;
use crate::effects::rows::RowsOf;

/// The effects of committed events.
///
/// Invariant: everything in here has committed.
pub(crate) struct Effects {
    statistics: Statistics,
    rows: Vec<MomentRow>,
    /// The most recent commits, as a failure of another PE may still turn out to precede them.
    committed: CommitLog,
    ties: TieBreak,
    /// Whether events commit only when GVT has passed them, as there is no safe lane.
    only_gvt_commits: bool,
}

impl Effects {
    pub(crate) fn new(statistics: Statistics, ties: TieBreak, only_gvt_commits: bool) -> Self {
        let committed = CommitLog::default();
        Effects { statistics, rows: Vec::new(), committed, ties, only_gvt_commits }
    }

    /// Adds what LP `lp` observed at `moment` to the statistics and rows.
    pub(crate) fn observe(
        &mut self,
        observations: &mut Observations,
        moment: Moment,
        lp: LpId,
        time: VirtualTime,
    ) -> Result<(), Fault> {
        let mut rows = RowsOf { moment, rows: &mut self.rows };
        let outcome = self.statistics.apply(observations, time.get(), lp, &mut rows);
        observations.clear();
        outcome
    }

    /// Adds figures that LP `lp` observed at `time` to the statistics. There are no rows or acts
    /// among them.
    #[inline]
    pub(crate) fn observe_figures(
        &mut self,
        observations: &[Observation],
        lp: LpId,
        time: VirtualTime,
    ) -> Result<(), Fault> {
        self.statistics.apply_plain(observations, time.get(), lp)
    }

    /// Prefetches the statistics that these observations will change.
    pub(crate) fn fetch(&self, observations: &Observations) {
        self.statistics.fetch(observations);
    }

    /// Notes that an event has committed.
    #[inline(always)]
    pub(crate) fn committed(&mut self, key: EventKey) {
        self.committed.push(key);
    }

    /// Forgets commits before `time`, as no failure can come before it any more.
    #[inline]
    pub(crate) fn forget_before(&mut self, time: VirtualTime) {
        self.committed.forget_before(time);
    }

    /// Forgets the commits that no failure can precede any more, now that a GVT has been found and
    /// everything before `settled` is settled. `short` says whether memory is short.
    pub(crate) fn on_gvt(&mut self, settled: Option<Moment>, short: bool) {
        if self.only_gvt_commits {
            // A failure reported now was found in the last commit at the earliest.
            self.committed.forget_older();
        }
        // Bounds are times, so they keep all commits of the present instant. This looks at each.
        if short
            && self.must_wait_for_others(true)
            && let Some(settled) = settled
        {
            self.committed.forget_before_moment(&settled, self.ties);
        }
    }

    /// How many of the recent commits do not come before `moment`.
    pub(crate) fn count_from(&self, moment: &Moment) -> u64 {
        self.committed.count_from(moment, self.ties)
    }

    /// Whether this PE must wait, as it has too many commits that the other PEs have yet to pass.
    /// `short` says whether memory is short.
    #[inline]
    pub(crate) fn must_wait_for_others(&self, short: bool) -> bool {
        self.committed.len() > if short { CommitLog::MOST_WHERE_SHORT } else { CommitLog::MOST }
    }

    /// How much memory rows and keys take, in bytes, without the contents of rows.
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
