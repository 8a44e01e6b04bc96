//! Ending a run before its end, with the answer of a run that was to end there.
//!
//! 1. Each PE [holds back](Pe::hold_back): from some time on it does nothing for good any more, and it says which.
//! 2. The latest of these times is the new end, and each PE [ends there](Pe::end_at). No PE has done anything for good from then on, and what
//!    was executed ahead is undone, so they go on as if it had always been the end.
//!
//! In between, PEs go on as usual; only what lies beyond the time at which they hold back waits. GVT does not pass that time: what is undone
//! at the new end has not been preceded by anything, so nothing else keeps GVT from passing it.

use warpline_base::VirtualTime;
use warpline_model::Model;

use super::Pe;
use crate::pending::PendingSet;
use crate::wires::Port;

impl<M: Model, Q: PendingSet, P: Port<M::Event>> Pe<'_, M, Q, P> {
    /// From now on this PE commits nothing from the time on that it returns, and has committed nothing from then on.
    pub fn hold_back(&mut self) -> VirtualTime {
        let first = if self.lps.all_initialised() { self.first_time() } else { VirtualTime::ZERO };
        self.frontier.hold_back(first)
    }

    /// The run ends at `end`: at or after the times at which all PEs hold back.
    pub fn end_at(&mut self, end: VirtualTime) {
        if self.over.is_some() {
            return;
        }
        self.world.end = end;
        self.frontier.end_at(end);
        if self.past.has_open() || !self.faults.are_none() {
            self.undo_from(end);
        }
    }
}
