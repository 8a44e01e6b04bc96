//! What has yet to happen in a PE.
//!
//! *Conservative LPs wait aside.* The speculative lane sets events of conservative LPs aside, in a
//! heap of their own. So it meets each of them once and goes on. They still count for GVT and for
//! the PE's bound. When the horizon has passed them, they return to the pending set, for the safe
//! lane. Where no horizon does, as without lookahead, the event at GVT is certain if GVT belongs to
//! it: nothing earlier is left anywhere that could send, undo or cancel anything. For this, an
//! anti-message counts for GVT at the event that sent what it cancels, which is earlier. A
//! conservative LP has no part in the rollbacks of its KP.

mod events;
pub(crate) mod fetch;
pub(crate) mod handle_set;
pub(crate) mod handles;
pub(crate) mod key_order;
mod locality;
pub mod pending;
pub(crate) mod store;
mod sweep;
mod timers;
mod values;

use std::collections::{HashMap, HashSet};
use std::mem::needs_drop;

use warpline_base::{EventKey, LpId, Moment, Sequence, TieBreak, VirtualTime};
use warpline_memory::{Handle, catch_panic};

use self::locality::Locality;
use crate::Event;
use crate::agenda::handle_set::HandleSet;
use crate::agenda::key_order::{KeyOrder, Keyed};
use crate::agenda::pending::{Entry, Heap, PendingSet, Ties};
use crate::agenda::store::{Incarnation, OptionalHandle, Store};

impl<E> Keyed for Store<E> {
    #[inline]
    fn key(&self, handle: Handle) -> EventKey {
        self.event(handle).key()
    }
}

/// What distinguishes an event sent by value from all others: the sender's LP and sequence number,
/// and, as an LP that has rolled back reuses its sequence numbers, the incarnation of the sender's
/// PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) sender: LpId,
    pub(crate) sequence: Sequence,
    pub(crate) incarnation: Incarnation,
}

/// The pending event set and the memory of events.
///
/// Invariant: every event sent or received has one handle and is in exactly one place: pending
/// here, set aside or not, executed and recorded in the past, or held back because it failed. All
/// of them stay in the store until they are released.
pub(crate) struct Agenda<E, Q> {
    pending: Q,
    /// Pending events of conservative LPs, set aside so that others need not wait for them.
    aside: Heap,
    store: Store<E>,
    ties: TieBreak,
    /// Events that arrived by value and may still be cancelled.
    by_identity: HashMap<Identity, Handle>,
    /// Events whose anti-messages overtook them.
    cancelled_early: HashSet<Identity>,
    /// Pending timers that are stopped for good.
    stopped: HandleSet,
    /// Whether any PE has undone events since the last sweep here.
    undone: bool,
    /// How many entries the last sweep left, or there were when GVT was found first.
    swept: Option<usize>,
    /// Decides where local events are kept; `None` where that is fixed.
    locality: Option<Locality>,
    /// Whether the memory of coming events is fetched ahead of their turn.
    prefetches: bool,
}

impl<E, Q: PendingSet> Agenda<E, Q> {
    /// `counts`: the PE decides by counting where to keep local events.
    pub(crate) fn new(pending: Q, store: Store<E>, ties: TieBreak, counts: bool) -> Self {
        Agenda {
            pending,
            aside: Heap::default(),
            store,
            ties,
            by_identity: HashMap::new(),
            cancelled_early: HashSet::new(),
            stopped: HandleSet::default(),
            undone: false,
            swept: None,
            locality: counts.then(Locality::default),
            prefetches: false,
        }
    }

    /// A batch of events is about to be executed. The LPs take `lps` bytes.
    pub(crate) fn begin_batch(&mut self, lps: usize) {
        self.prefetches = fetch::pays(lps + self.bytes());
    }

    /// Whether the memory of coming events is fetched ahead of their turn.
    #[inline(always)]
    pub(crate) fn prefetches(&self) -> bool {
        self.prefetches
    }

    /// Decides anew where local events are kept, as GVT has been found. So far `committed` events
    /// have committed, `remote` of them from other PEs, and all PEs could take `left` more bytes.
    pub(crate) fn on_gvt(&mut self, committed: u64, remote: u64, left: u64) {
        let bytes = self.locality.as_ref().map(|_| self.bytes_held() as u64);
        if let (Some(locality), Some(bytes)) = (&mut self.locality, bytes) {
            let little = bytes <= Locality::LITTLE.min(left / 16);
            self.store.use_pool(locality.chooses_pool(
                self.store.is_pooled(),
                committed,
                remote,
                little,
            ));
        }
    }

    /// Drops all events, including those on their way here. No PE may do anything any more.
    pub(crate) fn drop_rest(self) {
        self.store.drop_rest();
    }

    /// How many entries are pending, cancelled ones included.
    pub(crate) fn len(&self) -> usize {
        self.pending.len() + self.aside.len()
    }

    /// Prefetches the events before `end` that are not known one after the other, as they are few.
    pub(crate) fn prefetch_before(&self, end: VirtualTime) {
        self.pending.see_unordered(end, |handle| self.store.prefetch(handle));
    }

    /// Takes out the first event before `end` that has not been set aside.
    #[inline(always)]
    pub(crate) fn pop_before(&mut self, end: VirtualTime) -> Option<Entry> {
        self.pending.pop_before(end, &KeyOrder { events: &self.store, ties: &self.ties })
    }

    /// The time of the first event, which may have been cancelled.
    #[inline]
    pub(crate) fn first_time(&mut self) -> Option<VirtualTime> {
        let order = KeyOrder { events: &self.store, ties: &self.ties };
        let first = self.pending.first(&order).map(|entry| entry.time());
        if self.aside.is_empty() {
            first
        } else {
            first.into_iter().chain(self.aside.first(&order).map(|entry| entry.time())).min()
        }
    }

    /// Puts an event aside until it is taken back.
    pub(crate) fn set_aside(&mut self, entry: Entry) {
        self.aside.push(entry, &KeyOrder { events: &self.store, ties: &self.ties });
    }

    /// Whether any events have been set aside.
    #[inline(always)]
    pub(crate) fn has_aside(&self) -> bool {
        !self.aside.is_empty()
    }

    /// Takes back everything set aside before a time.
    pub(crate) fn take_back_before(&mut self, time: VirtualTime) {
        let order = KeyOrder { events: &self.store, ties: &self.ties };
        while let Some(entry) = self.aside.pop_before(time, &order) {
            self.pending.push(entry, &order);
        }
    }

    /// Takes out the first event set aside, if it happens at this moment and before `end`.
    pub(crate) fn take_aside_at(&mut self, moment: &Moment, end: VirtualTime) -> Option<Entry> {
        let order = KeyOrder { events: &self.store, ties: &self.ties };
        let first = self.aside.first(&order)?;
        let found = Moment::Event(self.store.event(first.handle()).key()) == *moment;
        if found { self.aside.pop_before(end, &order) } else { None }
    }

    /// Puts an event into the pending set.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry) {
        self.pending.push(entry, &KeyOrder { events: &self.store, ties: &self.ties });
    }

    /// Puts an event into the pending set by its handle.
    pub(crate) fn push_event(&mut self, handle: Handle) {
        let event = self.store.event(handle);
        let entry = Entry::new(event.time, self.ties.prefix(&event.key()), handle);
        self.push(entry);
    }

    /// Adds an event that this PE sends to itself. `next` is what the sending event sent next, if
    /// that event may be undone.
    #[inline(always)]
    pub(crate) fn insert(&mut self, event: Event<E>, next: OptionalHandle) -> Handle {
        let time = event.time;
        let tie = self.ties.prefix(&event.key());
        let handle = self.store.insert(event, next, None);
        self.push(Entry::new(time, tie, handle));
        handle
    }

    /// Adds an event that this PE sends to itself and that nothing can cancel, in place of one that
    /// is over.
    #[inline(always)]
    pub(crate) fn replace(&mut self, spent: Handle, event: Event<E>) -> Handle {
        let time = event.time;
        let tie = self.ties.prefix(&event.key());
        let handle = self.store.replace(spent, event);
        self.push(Entry::new(time, tie, handle));
        handle
    }

    /// Adds an event that another PE has sent in a buffer. Returns its handle and its key.
    #[inline(always)]
    pub(crate) fn receive_buffer(&mut self, buffer: Handle) -> (Handle, EventKey) {
        let ties = self.ties;
        let (handle, event) = self.store.receive(buffer);
        let key = event.key();
        self.push(Entry::new(key.time, ties.prefix(&key), handle));
        (handle, key)
    }

    /// Drops an event and frees its memory.
    #[inline]
    pub(crate) fn release(&mut self, handle: Handle) {
        if !self.by_identity.is_empty() {
            self.forget_identity(handle);
        }
        self.store.release(handle);
    }

    /// Drops an event that has been executed and is over, and frees its memory, if that has not
    /// been retired.
    #[inline(always)]
    pub(crate) fn release_executed(&mut self, handle: Handle) {
        if !self.by_identity.is_empty() {
            self.forget_identity(handle);
        }
        self.store.release_executed(handle);
    }

    /// The first event that has not been set aside.
    pub(crate) fn first(&mut self) -> Option<Handle> {
        self.pending
            .first(&KeyOrder { events: &self.store, ties: &self.ties })
            .map(|entry| entry.handle())
    }

    /// Drops a cancelled event. As it never happened, a panic in doing so is ignored. Returns
    /// `false` for a stopped timer, which may be resumed and is kept for that.
    pub(crate) fn discard(&mut self, handle: Handle) -> bool {
        if self.store.keeps_stopped(handle) {
            return false;
        }
        self.stopped.remove(handle);
        if !needs_drop::<E>() {
            self.release(handle);
            return true;
        }
        // A stale handle is a bug in the engine, whose panic must not be caught below.
        self.store.event(handle);
        _ = catch_panic(|| self.release(handle));
        true
    }

    #[cold]
    pub(crate) fn forget_identity(&mut self, handle: Handle) {
        if let Some(incarnation) = self.store.incarnation(handle) {
            let event = self.store.event(handle);
            self.by_identity.remove(&Identity {
                sender: event.sender,
                sequence: event.sequence,
                incarnation,
            });
        }
    }

    /// Takes an event out.
    pub(crate) fn take(&mut self, handle: Handle) -> Event<E> {
        if self.has_identities() {
            self.forget_identity(handle);
        }
        self.store.take(handle)
    }

    /// The earliest pending event before `end` that has not been cancelled, or that still counts
    /// though cancelled, as `keeps` says. Drops cancelled ones before it, and returns how many.
    pub(crate) fn least(
        &mut self,
        end: VirtualTime,
        keeps: impl Fn(&Event<E>, Handle) -> bool,
    ) -> (Moment, u64) {
        let mut dropped = 0;
        loop {
            let order = KeyOrder { events: &self.store, ties: &self.ties };
            let first = self.pending.first(&order);
            let aside = self.aside.first(&order);
            let from_aside =
                aside.is_some_and(|aside| first.is_none_or(|first| order.before(&aside, &first)));
            let Some(first) =
                (if from_aside { aside } else { first }).filter(|first| first.time() < end)
            else {
                return (Moment::Never, dropped);
            };
            let handle = first.handle();
            let event = self.store.event(handle);
            if !self.store.is_cancelled(handle) || keeps(event, handle) {
                return (Moment::Event(event.key()), dropped);
            }
            if from_aside {
                self.aside.pop_before(end, &order)
            } else {
                self.pending.pop_before(end, &order)
            };
            dropped += u64::from(self.discard(handle));
        }
    }

    /// The event that is `distance` places behind the first, as far as the pending set knows. For
    /// prefetching.
    #[inline(always)]
    pub(crate) fn upcoming(&self, distance: usize) -> Option<Handle> {
        self.pending.upcoming(distance)
    }

    /// About how much memory the pending events take.
    pub(crate) fn bytes(&self) -> usize {
        self.len() * size_of::<Event<E>>()
    }

    /// How much memory the agenda has, in bytes, in use or free.
    pub(crate) fn bytes_held(&self) -> usize {
        let identities = size_of::<(Identity, Handle)>() * self.by_identity.capacity();
        let early = size_of::<Identity>() * self.cancelled_early.capacity();
        let sets = self.pending.bytes() + self.aside.bytes() + self.stopped.bytes();
        self.store.bytes() + sets + identities + early
    }
}

#[cfg(test)]
mod tests;
