//! Windows, in which PEs advance in step. [`crate::frontier::rounds`] says what they are and why they are right.

use warpline_model::Model;

use super::Pe;
use crate::agenda::pending::PendingSet;
use crate::gvt::Gvt;
use crate::mail::wires::Port;

impl<M: Model, Q: PendingSet, P: Port<M::Event>> Pe<'_, M, Q, P> {
    /// Looks for the words of the other PEs for the round. Returns whether a window opens, which it does once the mailbox has been emptied.
    pub(super) fn find_round(&mut self) -> bool {
        self.frontier.find_round(self.world.least_delay_here, |pe, round| self.mail.word_of_round(pe, round))
    }

    /// Files everything sent in the last window, and only then raises the horizon.
    #[inline(never)]
    pub(super) fn open_window(&mut self) {
        self.file_received();
        if self.frontier.raise_horizon() {
            self.stuck_steps = 0;
        }
        self.effects.forget_before(self.frontier.floor());
    }

    /// Publishes the word for the round if the window is over: if after a batch of `executed` events nothing is left in it, or nothing that
    /// may be executed now. Everything sent has been handed over.
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
