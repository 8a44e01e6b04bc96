//! Dropping cancelled events before their turn comes.

use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom};

use super::Agenda;
use crate::Event;
use crate::agenda::key_order::KeyOrder;
use crate::agenda::pending::{Entry, PendingSet};

/// With fewer pending events than this, cancelled ones among them may wait for their turn.
const SWEEP_LEAST: usize = 64;

impl<E, Q: PendingSet> Agenda<E, Q> {
    /// Whether the pending set has much more memory than its entries need. [Going through
    /// it](Self::drop_cancelled) gives that back.
    pub(crate) fn is_roomy(&self) -> bool {
        const LITTLE: usize = 1 << 16;
        self.pending.bytes() > LITTLE + 4 * size_of::<Entry>() * self.pending.len()
    }

    /// Drops cancelled pending events before their turn comes, and returns how many. Passes all
    /// others to `see`.
    #[cold]
    pub(crate) fn drop_cancelled(&mut self, mut see: impl FnMut(&Event<E>)) -> u64 {
        let mut dropped = 0;
        let mut all = std::mem::take(&mut self.pending);
        // Models use the very last time to say "never": events at it are pending, too.
        while let Some(entry) = all
            .pop_before(VirtualTime::AFTER_ALL, &KeyOrder { events: &self.store, ties: &self.ties })
        {
            if self.store.is_cancelled(entry.handle()) {
                dropped += u64::from(self.discard(entry.handle()));
            } else {
                see(self.store.event(entry.handle()));
                self.push(entry);
            }
        }
        dropped
    }

    /// Notes whether PEs have undone events since GVT was found last. Returns whether most of what is
    /// pending may have been cancelled: there is twice as much as after the last sweep, or when GVT
    /// was found first. So a sweep costs about what sending did since then. How much was undone does
    /// not matter, as one event may have sent many.
    pub(crate) fn should_sweep(&mut self, undone: bool) -> bool {
        self.undone |= undone;
        let pending = self.len();
        let swept = *self.swept.get_or_insert(pending);
        self.undone && pending >= SWEEP_LEAST.max(2 * swept)
    }

    /// Drops cancelled events before their turn comes, set aside or not, and returns how many;
    /// except those that still count though cancelled, as `keeps` says.
    pub(crate) fn sweep_cancelled(&mut self, keeps: impl Fn(&Event<E>, Handle) -> bool) -> u64 {
        let mut pending = std::mem::take(&mut self.pending);
        let mut aside = std::mem::take(&mut self.aside);
        let dropped = self.sweep(&mut pending, &keeps) + self.sweep(&mut aside, &keeps);
        self.pending = pending;
        self.aside = aside;
        self.undone = false;
        self.swept = Some(self.len());
        dropped
    }

    fn sweep<S: PendingSet>(
        &mut self,
        set: &mut S,
        keeps: &impl Fn(&Event<E>, Handle) -> bool,
    ) -> u64 {
        let mut stay = Vec::new();
        let mut dropped = 0;
        stay.make_room(set.len(), "pending events");
        while let Some(entry) =
            set.pop_before(VirtualTime::MAX, &KeyOrder { events: &self.store, ties: &self.ties })
        {
            let handle = entry.handle();
            if self.store.is_cancelled(handle) && !keeps(self.store.event(handle), handle) {
                dropped += u64::from(self.discard(handle));
            } else {
                stay.push(entry);
            }
        }
        // Entries at the last of all times have stayed in the set.
        if set.is_empty() {
            *set = S::default();
        }
        let order = KeyOrder { events: &self.store, ties: &self.ties };
        stay.into_iter().for_each(|entry| set.push(entry, &order));
        dropped
    }
}
