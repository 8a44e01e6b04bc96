//! Timers that were cancelled.
//!
//! A *stopped* timer is passed over, but may be resumed. It is among the pending events until its
//! turn comes, and then known to the record of the event that cancelled it alone. One that is
//! stopped *for good* is dropped.

use warpline_memory::Handle;

use super::Agenda;
use crate::agenda::key_order::KeyOrder;
use crate::agenda::pending::PendingSet;

/// So many timers that are stopped for good may wait for their turn, however few other events are
/// pending.
const STOPPED_MOST: usize = 64;

impl<E, Q: PendingSet> Agenda<E, Q> {
    /// Stops a pending timer.
    pub(crate) fn stop(&mut self, timer: Handle) {
        self.store.stop(timer);
    }

    /// Stops a stopped timer for good. Returns whether that has dropped it, as its turn has come
    /// before.
    pub(crate) fn stop_for_good(&mut self, timer: Handle) -> bool {
        let over = self.store.stop_for_good(timer);
        if over {
            self.discard(timer);
        } else {
            self.stopped.insert(timer);
        }
        over
    }

    /// Makes a stopped timer pending again.
    pub(crate) fn resume(&mut self, timer: Handle) {
        if self.store.resume(timer) {
            self.push_event(timer);
        }
    }

    /// Whether most of what is pending are timers that are stopped for good.
    pub(crate) fn has_many_stopped(&self) -> bool {
        self.stopped.len() > STOPPED_MOST + self.len() / 2
    }

    /// Drops all timers that are stopped for good, and returns how many.
    pub(crate) fn sweep_stopped(&mut self) -> u64 {
        let mut over = Vec::new();
        let order = KeyOrder { events: &self.store, ties: &self.ties };
        let mut stays = |handle| {
            let stays = !self.stopped.contains(handle);
            if !stays {
                over.push(handle);
            }
            stays
        };
        self.pending.retain(&mut stays, &order);
        self.aside.retain(&mut stays, &order);
        let dropped = over.len() as u64;
        over.into_iter().for_each(|timer| _ = self.discard(timer));
        dropped
    }
}
