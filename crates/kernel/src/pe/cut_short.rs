//! Ending a run before its end, with the answer of a run that was to end there.
//!
//! 1. Each PE [holds back](Pe::propose_end): from some time on it does nothing for good any more,
//!    and it says which. From then on it contributes no later time to GVT either. It also says what
//!    it contributed last, as a verdict may be under way.
//! 2. The new end is the latest of the times at which PEs hold back, or the earliest of those
//!    contributed, if that is later. So it lies after everything that has been done for good, and
//!    after GVT, whatever verdict is under way: that is no later than any contribution to it.
//! 3. Each PE [ends there](Pe::end_at). What was executed ahead from then on is undone, and it goes
//!    on as if that had always been the end; but it contributes no later time to GVT, as others may
//!    still commit what GVT passes.
//! 4. When all PEs have the new end, they [let go](Pe::let_go). A verdict may still contain what a
//!    PE contributed before, and lie beyond the end; nothing is left there to commit. What still
//!    arrives there counts as nothing to do.
//!
//! In between, PEs go on as usual; only what lies beyond the time at which they hold back waits.

use warpline_base::VirtualTime;

use super::Pe;
use super::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// From now on this PE commits nothing from a time on, and has committed nothing from then on.
    /// Returns that time, and one after the GVT that it last contributed to.
    pub fn propose_end(&mut self) -> (VirtualTime, VirtualTime) {
        let first = if self.lps.all_initialised() { self.first_time() } else { VirtualTime::ZERO };
        self.frontier.propose_end(first)
    }

    /// All PEs have the new end.
    pub fn let_go(&mut self) {
        self.frontier.let_go();
    }

    /// The run ends at `end`, which no PE has passed, and neither has GVT.
    pub fn end_at(&mut self, end: VirtualTime) {
        if self.frontier.over().is_some() {
            return;
        }
        self.world.end_at(end);
        self.frontier.end_at(end);
        if self.past.has_open() || self.past.has_pending_cancellations() || !self.faults.are_none()
        {
            self.undo_from(end);
        }
    }
}
