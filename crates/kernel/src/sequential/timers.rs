//! Timers in the sequential engine. All of this is out of the way of models that set none.
//!
//! A cancelled timer stays where it is, and is dropped when its turn comes. When there are more
//! cancelled timers than other events, and not very few, all of them are dropped at once.

use std::mem::{needs_drop, take};

use warpline_base::LpId;
use warpline_memory::{Handle, try_drop};
use warpline_model::Model;
use warpline_model::engine::TimerTables;
use warpline_model::statistics::RowSink;

use super::Sequential;
use super::watcher::Watcher;
use crate::agenda::fetch::fetch_timers_ahead;
use crate::agenda::key_order::KeyOrder;
use crate::agenda::pending::{Entry, PendingSet};

/// So many cancelled timers may wait for their turn, however few other events are pending.
const CANCELLED_MOST: usize = 64;

impl<M: Model, Q: PendingSet, R: RowSink> Sequential<'_, M, Q, R> {
    /// Begins an event of an LP that has timers. Returns `false` if it is a timer that was
    /// cancelled, which is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_with_timers(&mut self, entry: Entry) -> bool {
        if self.drops(entry.handle()) {
            return false;
        }
        let event = self.events.get(entry.handle());
        let timers = self.executor.timers().of(event.receiver.index());
        self.executor.lend_timers(timers, event.as_timer());
        true
    }

    /// Prefetches the timers of the LPs of coming events.
    #[cold]
    #[inline(never)]
    pub(super) fn fetch_timers_ahead(&self) {
        fetch_timers_ahead(
            self.executor.timers(),
            |distance| self.pending.upcoming(distance),
            |event| self.events.get(event).receiver.index(),
            |event| self.events.prefetch(event),
        );
    }

    /// Drops an event whose turn has come if it is a timer that was cancelled. Returns whether it is.
    pub(super) fn drops(&mut self, event: Handle) -> bool {
        let cancelled = self.cancelled.remove(event);
        if cancelled {
            self.current = None;
            self.drop_cancelled(event);
        }
        cancelled
    }

    /// As [`deliver`](Self::deliver), for an LP that has timers.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_with_timers(
        &mut self,
        spent: Option<Handle>,
        sender: LpId,
        number: u64,
        watcher: &mut impl Watcher,
    ) {
        let cancelled = take(self.executor.cancelled_timers_mut());
        for (_, timer) in &cancelled {
            self.cancelled.insert(*timer);
            watcher.cancelled(*timer);
        }
        // Its memory is used again.
        *self.executor.cancelled_timers_mut() = cancelled;
        self.deliver::<true>(spent, sender, number, watcher);
        self.executor.settle_timers(sender.index());
        if self.cancelled.len() > CANCELLED_MOST + self.pending.len() / 2 {
            self.sweep_cancelled();
        }
    }

    /// Drops a timer that was cancelled. As it never happens, a panic in doing so is ignored.
    fn drop_cancelled(&mut self, timer: Handle) {
        self.sent -= 1;
        if needs_drop::<M::Event>() {
            _ = try_drop(self.events.remove(timer));
        } else {
            self.events.remove(timer);
        }
    }

    /// Drops all cancelled timers.
    fn sweep_cancelled(&mut self) {
        let mut dropped = Vec::new();
        let order = KeyOrder { events: &self.events, ties: &self.ties };
        self.pending.retain(
            |handle| {
                let stays = !self.cancelled.remove(handle);
                if !stays {
                    dropped.push(handle);
                }
                stays
            },
            &order,
        );
        dropped.into_iter().for_each(|timer| self.drop_cancelled(timer));
    }

    /// Drops all cancelled timers, and forgets the tables of timers, as another engine knows events
    /// by other handles.
    pub(super) fn end_timers(&mut self) {
        if self.cancelled.len() > 0 {
            self.sweep_cancelled();
        }
        *self.executor.timers_mut() = TimerTables::default();
    }
}
