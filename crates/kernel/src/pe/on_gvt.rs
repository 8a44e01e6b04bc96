//! What follows a GVT: the parts of the PE hear of it in turn.

use super::Pe;
use crate::Event;
use crate::gvt::Verdict;
use crate::pe::types::{EventOf, PeTypes};
use crate::step::Step;

impl<T: PeTypes> Pe<'_, T> {
    /// Adopts a GVT that has been found: advances the frontier, commits what that settles, and then
    /// makes room. A PE may undo more than it must only here, as it has published nothing since
    /// this GVT that undoing could make wrong.
    pub(super) fn on_gvt(&mut self, verdict: Verdict) {
        self.frontier.on_gvt(verdict, self.world.delay_beyond_gvt());
        self.gauge.on_gvt(&verdict, self.frontier.throttled());
        self.calls.on_gvt(&verdict);
        self.effects.on_gvt(self.frontier.settled(), self.memory.is_short());
        if self.world.is_driven_by_gvt() {
            self.frontier.raise_floor();
            self.effects.forget_before(self.frontier.floor());
        }
        if self.frontier.over() == Some(Step::Failed) {
            return self.release_all();
        }
        self.commit_on_gvt(verdict.gvt);
        let counts = self.gauge.counts();
        self.agenda.on_gvt(counts.committed, counts.remote_committed, self.memory.left());
        if self.frontier.over().is_some() {
            self.on_end();
        }
        self.shorten_history();
        self.relieve_memory(verdict.gvt);
        self.sweep_cancelled(verdict.work.rolled_back > 0);
        self.past.on_gvt(self.gauge.counts().processed);
        self.take_snapshot();
    }

    /// Reclaims what is left: the run is over, and everything has committed.
    fn on_end(&mut self) {
        // If the run was cut short, no commit has looked at what was undone beyond its end.
        self.past.close_front();
        self.collect_fossils_at_end();
        self.mail.on_end(self.world.me());
    }

    /// Undoes everything that can be undone if the history is full. Then some of its events lie far
    /// ahead of GVT, and memory is reclaimed from the front, so what has committed behind them
    /// cannot be reclaimed.
    fn shorten_history(&mut self) {
        // After a failure nothing commits any more, so the history may stay full.
        if self.faults.failure().is_none()
            && self.past.open_len() >= 2 * self.world.tuning().history_most
        {
            self.make_room();
        }
    }

    /// Drops cancelled events before their turn comes, so that they do not pile up: `undone` says
    /// whether any PE has undone events. An event for which sent messages are kept has yet to cancel
    /// those, and stays.
    fn sweep_cancelled(&mut self, undone: bool) {
        if self.agenda.should_sweep(undone) {
            let Pe { agenda, past, lps, gauge, .. } = self;
            let keeps = |event: &Event<EventOf<T>>, handle| {
                past.is_sent_before(lps.index(event.receiver), handle, event.time)
            };
            gauge.annihilated(agenda.sweep_cancelled(keeps));
        }
    }

    /// Adds a snapshot of how far the PE has come to the trace.
    fn take_snapshot(&mut self) {
        let gvt = self.frontier.gvt_time().min(self.world.end().get());
        self.gauge.snapshot(gvt, self.frontier.window(), self.agenda.len(), self.past.open_len());
    }
}
