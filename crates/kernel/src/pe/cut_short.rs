//! Ending a run early, with the answer of a run that was to end there from the start.
//!
//! 1. Each PE [proposes an end](Pe::propose_end): a time from which on it does nothing for good any
//!    more, and contributes no later time to GVT either. It also returns what it last contributed,
//!    as a verdict may be under way.
//! 2. The new end is the latest proposal, or the earliest contribution if that is later. So it lies
//!    after everything that has been done for good. It also lies after GVT, whatever verdict is
//!    under way, as a GVT is no later than any contribution to it.
//! 3. Each PE [ends there](Pe::end_at). It undoes what it has executed from the new end on, and
//!    goes on as if that had always been the end. But it contributes no later time to GVT, as
//!    others may still commit what GVT passes.
//! 4. When all PEs have the new end, they [let go](Pe::let_go). A verdict may still contain an
//!    earlier contribution, and lie beyond the end. Nothing is left there to commit, and messages
//!    that still arrive there bring no work.
//!
//! Meanwhile PEs go on as usual; only events beyond their proposals wait.

use warpline_base::VirtualTime;

use super::Pe;
use super::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// Returns a time at or after which this PE has committed nothing, and will commit nothing
    /// until it is told [the new end](Self::end_at). Also returns a time after the GVT to which it
    /// last contributed.
    pub fn propose_end(&mut self) -> (VirtualTime, VirtualTime) {
        self.waits_for_verdict = false;
        let first = if self.lps.all_initialised() { self.first_time() } else { VirtualTime::ZERO };
        self.frontier.propose_end(first)
    }

    /// Declares that all PEs have the new end.
    pub fn let_go(&mut self) {
        self.frontier.let_go();
    }

    /// Ends the run at `end`, which neither GVT nor any PE has passed.
    pub fn end_at(&mut self, end: VirtualTime) {
        if self.frontier.over().is_some() {
            return;
        }
        self.waits_for_verdict = false;
        self.world.end_at(end);
        self.frontier.end_at(end);
        if self.past.has_open() || self.past.has_pending_cancellations() || !self.faults.are_none()
        {
            self.undo_from(end);
        }
    }
}
