//! Steps of a PE that can only wait for a verdict on GVT.
//!
//! Where GVT drives the run, a PE comes to its horizon, and takes part in the computation that
//! raises it. Each share or call of another PE is then a step in which it executes nothing. Of many
//! PEs, each makes several of these between two batches of events, and finds little of itself in
//! the cache. So they touch as little as they can: control messages, events that have arrived, and
//! the GVT algorithm.
//!
//! Invariant: such a step does what any other would do in its place, and counts as much.

use super::Pe;
use crate::gvt::Gvt;
use crate::pe::types::PeTypes;
use crate::step::Step;

impl<T: PeTypes> Pe<'_, T> {
    /// Whether the next step does nothing unless something arrives before it: the PE takes part in
    /// a computation of GVT, and has nothing that it may execute before that is over. It is always
    /// `false` for PEs that follow bounds, go ahead, or look at memory that all share.
    pub fn is_waiting_for_gvt(&self) -> bool {
        self.waits_for_verdict
    }

    /// Whether nothing has happened since the last step that lets this one execute anything: no
    /// verdict has arrived.
    #[inline]
    pub(super) fn still_waits(&self) -> bool {
        self.waits_for_verdict && self.gvt.is_on()
    }

    /// Finds out at the end of a step whether the PE can only wait.
    #[inline]
    pub(super) fn note_waiting(&mut self) {
        self.waits_for_verdict = self.gvt.is_on() && self.can_only_wait();
    }

    /// The same for a PE that takes part in a computation.
    fn can_only_wait(&mut self) -> bool {
        let by_messages = self.world.follows_gvt_alone()
            && !self.world.tuning().lanes.has_speculative()
            && !self.gvt.is_readable()
            && self.gvt.shared_word().is_none();
        let is_quiet = self.frontier.over().is_none()
            && self.lps.all_initialised()
            && self.faults.are_none()
            && !self.past.has_open();
        by_messages
            && is_quiet
            && (self.gvt.is_paused()
                || self.first_time() >= self.frontier.horizon() && !self.is_at_gvt())
    }

    /// Takes the rest of a step that has begun, and in which the PE [still
    /// waits](Self::still_waits) after it has taken the control messages.
    pub(super) fn wait_for_gvt(&mut self) -> Step {
        let receipts = self.gauge.counts().receipts;
        self.receive_messages();
        self.file_received();
        self.mail.hand_over(&mut self.gvt);
        if self.gauge.counts().receipts > receipts {
            self.charge_memory();
        }
        self.gauge.count(|counts| counts.waiting_steps += 1);
        self.calls.on_step(0);
        self.advance_gvt();
        self.note_waiting();
        let over = self.frontier.over();
        self.gauge.end_step(true, false, over.is_some());
        over.unwrap_or(Step::Idle)
    }
}
