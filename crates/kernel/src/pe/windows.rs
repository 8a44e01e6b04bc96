//! Windows, where PEs go in step; what they are and why they are right, see [`crate::rounds`].

use warpline_memory::PoolFull;
use warpline_model::Model;

use super::Pe;
use crate::pending::PendingSet;
use crate::wires::Port;

impl<M: Model, Q: PendingSet, P: Port<M::Event>> Pe<'_, M, Q, P> {
    /// Looks for what the others have published for the round. Returns whether a window opens, once the mailbox has been emptied.
    pub(super) fn find_round(&mut self) -> bool {
        self.frontier.find_round(self.world.least_delay_here, |pe, round| self.mail.word_of_round(pe, round))
    }

    /// Files all that was sent in the last window, and only then goes on to the next.
    #[inline(never)]
    pub(super) fn open_window(&mut self) -> Result<(), PoolFull> {
        self.file_received()?;
        if self.frontier.raise_horizon() {
            self.stuck_steps = 0;
        }
        self.effects.forget_before(self.frontier.floor());
        Ok(())
    }

    /// Publishes for the round, if the window is over: after a batch of `executed` events nothing is left in it, or nothing that may be executed
    /// now. All that was sent has been handed over.
    pub(super) fn end_window_if_over(&mut self, executed: u32) {
        if !self.frontier.is_window_open() || self.gvt.holds() {
            return;
        }
        let first = self.first_time();
        if first < self.frontier.horizon() && executed >= self.world.tuning.batch {
            return;
        }
        let least = first.min(self.mail.take_earliest_sent());
        if let Some((round, word)) = self.frontier.end_window(least) {
            self.mail.publish_round(round, word);
        }
    }
}
