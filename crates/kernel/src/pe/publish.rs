//! What a PE tells others at the end of a step: what it has sent, and how far it has come. In
//! windows, in which PEs advance in step, it publishes one bound for each round;
//! [`crate::frontier::rounds`] says what rounds are and why they are correct.

use warpline_base::VirtualTime;

use super::Pe;
use crate::gauge::phases::Phase;
use crate::gvt::Gvt;
use crate::pe::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// Hands over what was sent, publishes how far this PE has come after a batch of `executed`
    /// events, and charges its memory to its account.
    pub(super) fn publish(&mut self, executed: u32) {
        let all = self.mail.hand_over(&mut self.gvt);
        if all && self.world.has_bounds() && self.lps.all_initialised() {
            self.publish_progress(executed);
        }
        self.gauge.lap(Phase::Send);
        self.charge_memory();
    }

    #[inline]
    fn publish_progress(&mut self, executed: u32) {
        if self.world.tuning().windows {
            return self.end_window_if_over(executed);
        }
        let first = self.first_time();
        let committed = self.past.committed_to(self.frontier.horizon());
        self.mail.publish(self.frontier.own_bound(first, committed));
        self.effects.forget_before(self.frontier.floor());
    }

    /// The time of the first thing that has yet to be done here; the end if there is none.
    #[inline]
    pub(super) fn first_time(&mut self) -> VirtualTime {
        let end = self.world.end();
        let first = self.agenda.first_time().unwrap_or(end);
        if self.faults.are_none() {
            first
        } else {
            self.faults.first_time().unwrap_or(end).min(first)
        }
    }

    /// Looks for the bounds of the other PEs for the round. Returns whether a window is to open
    /// when the mailbox has been emptied.
    pub(super) fn find_round(&mut self) -> bool {
        self.frontier.find_round(self.world.least_delay_here(), |pe, round| {
            self.mail.bound_of_round(pe, round)
        })
    }

    /// Files everything that was sent in the last window, and only then raises the horizon.
    #[inline(never)]
    pub(super) fn open_window(&mut self) {
        self.file_received();
        if self.frontier.raise_horizon() {
            self.calls.on_horizon();
        }
        self.effects.forget_before(self.frontier.floor());
    }

    /// Publishes the bound for the round if the window is over: nothing is left in it after a batch
    /// of `executed` events, or nothing that may be executed now. Everything sent has been handed
    /// over.
    fn end_window_if_over(&mut self, executed: u32) {
        if !self.frontier.is_window_open() || self.gvt.is_paused() {
            return;
        }
        let first = self.first_time();
        if first < self.frontier.horizon() && executed >= self.world.tuning().batch {
            return;
        }
        let least = first.min(self.mail.take_earliest_sent());
        if let Some((round, bound)) = self.frontier.end_window(least) {
            self.mail.publish_round(round, bound);
        }
    }
}
