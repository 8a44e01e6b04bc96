//! Flow control: an event that finds too few buffers for what it sends is undone and waits.
//! [`crate::pacing::flow`] says why this cannot deadlock.

use warpline_base::{EventKey, Moment};

use super::Pe;
use crate::agenda::pending::Entry;
use crate::pacing::flow::Parked;
use crate::pe::types::PeTypes;
use crate::tuning::Messages;

impl<T: PeTypes> Pe<'_, T> {
    /// Whether there are too few buffers for what the current event, of this key, sends to other
    /// PEs. The event at GVT may take more than there are.
    #[inline(always)]
    pub(in crate::pe) fn lacks_room(&mut self, key: &EventKey) -> bool {
        self.flow.is_on()
            && self.executor.outbox_mut().iter().any(|sent| !self.lps.contain(sent.to))
            && self.lacks_room_elsewhere(key)
    }

    #[inline(never)]
    fn lacks_room_elsewhere(&mut self, key: &EventKey) -> bool {
        let Pe { flow, executor, lps, world, agenda, frontier, .. } = self;
        for sent in executor.outbox_mut().iter().filter(|sent| !lps.contain(sent.to)) {
            let pe = world.partition().pe(sent.to);
            if world.is_near(pe) && world.tuning().messages != Messages::Copy {
                flow.want(pe);
            }
        }
        let lacks = flow.lacks(|to, messages| agenda.want(to, messages));
        lacks && Moment::Event(*key) != frontier.gvt()
    }

    /// Undoes the current event, which lacks buffers, and makes it wait.
    #[cold]
    pub(in crate::pe) fn park(&mut self, entry: Entry) {
        self.put_back_timers(self.index_of(entry.handle()));
        if self.executor.logs() {
            self.undo_logged(self.index_of(entry.handle()));
        }
        self.executor.forget();
        self.gauge.count(|counts| counts.parked += 1);
        // If it is not pending again, it was cancelled in the meantime, and its anti-message is in
        // transit.
        if self.take_back(entry.handle()) {
            self.agenda.push(entry);
            self.flow.park(entry.handle());
        }
        self.leaves_pending(entry.handle());
    }

    /// Whether an event is still waiting for buffers: it is the next event, and still lacks them.
    #[inline(always)]
    pub(in crate::pe) fn stays_parked(&mut self) -> bool {
        self.flow.is_parked() && self.still_lacks_room()
    }

    #[cold]
    fn still_lacks_room(&mut self) -> bool {
        let Some(Parked { event, to, messages }) = self.flow.parked() else { return false };
        let stays = self.agenda.first() == Some(event)
            && !self.agenda.is_cancelled(event)
            && Moment::Event(self.agenda.event(event).key()) != self.frontier.gvt()
            && !self.agenda.has_room(to, messages);
        if !stays {
            self.flow.go_on();
        }
        stays
    }
}
