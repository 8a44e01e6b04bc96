//! What follows a GVT.

use super::Pe;
use crate::Event;
use crate::gvt::Verdict;
use crate::pe::types::{EventOf, PeTypes};
use crate::step::Step;

impl<T: PeTypes> Pe<'_, T> {
    /// GVT has been found. All parts hear of it: first how far the PE may go now, then what that
    /// settles, and last what is undone for want of room. Only here may a PE undo more than it has
    /// to: it has published nothing since GVT that this could make wrong.
    pub(super) fn on_gvt(&mut self, verdict: Verdict) {
        self.frontier.on_gvt(verdict, self.world.delay_beyond_gvt());
        self.gauge.on_gvt(&verdict, self.frontier.throttled());
        self.calls.on_gvt(&verdict);
        let by_gvt = !self.world.tuning().lanes.has_safe();
        self.effects.on_gvt(
            self.frontier.settled().as_ref(),
            self.world.ties(),
            by_gvt,
            self.memory.is_short(),
        );
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
        self.sweep_cancelled(verdict.work.rolled_back);
        self.past.on_gvt(self.gauge.counts().processed);
        self.take_snapshot();
    }

    /// The run is over, and everything has committed.
    fn on_end(&mut self) {
        // If the run was cut short, no commit has looked at what was undone beyond its end.
        self.past.close_front();
        self.collect_fossils_at_end();
        self.mail.on_end(self.world.me());
    }

    /// Undoes everything that can still be undone if the history is full, as GVT has not reached
    /// the events that fill it: some of them lie far ahead, and what has committed after them
    /// cannot be reclaimed before them.
    fn shorten_history(&mut self) {
        // After a failure nothing commits any more, and the history may stay full.
        if self.faults.failure().is_none()
            && self.past.open_len() >= 2 * self.world.tuning().history_most
        {
            self.make_room();
        }
    }

    /// Drops cancelled events whose turn would come later, so that they do not pile up where much
    /// is undone: all PEs have undone so many more events. One for which messages are kept has yet
    /// to cancel them.
    fn sweep_cancelled(&mut self, undone: u64) {
        if self.agenda.should_sweep(undone) {
            let Pe { agenda, past, lps, gauge, .. } = self;
            let keeps = |event: &Event<EventOf<T>>, handle| {
                past.is_sent_before(lps.index(event.receiver), handle, event.time)
            };
            gauge.annihilated(agenda.sweep_cancelled(keeps));
        }
    }

    /// Traces how far the PE has come.
    fn take_snapshot(&mut self) {
        let gvt = self.frontier.gvt_time().min(self.world.end().get());
        self.gauge.snapshot(gvt, self.frontier.window(), self.agenda.len(), self.past.open_len());
    }
}
