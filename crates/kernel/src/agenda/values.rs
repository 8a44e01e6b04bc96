//! Events that come by value. One that may still be cancelled is known by its [`Identity`], as no
//! other PE has its handle.

use warpline_base::EventKey;
use warpline_memory::{CancelOutcome, Handle, MakeRoom, try_drop};

use super::{Agenda, Identity};
use crate::Event;
use crate::agenda::pending::{Entry, PendingSet};
use crate::agenda::store::{Incarnation, OptionalHandle};

impl<E, Q: PendingSet> Agenda<E, Q> {
    /// Adds an event that has arrived by value, with an incarnation if it may be cancelled. Returns
    /// whether it was dropped because its anti-message had arrived before it.
    #[inline(always)]
    pub(crate) fn receive_value(
        &mut self,
        event: Event<E>,
        incarnation: Option<Incarnation>,
    ) -> bool {
        let key = event.key();
        if self.was_cancelled_early(&key, incarnation) {
            // A panic is ignored, as in `discard`.
            _ = try_drop(event);
            return true;
        }
        let handle = self.store.insert(event, OptionalHandle::default(), incarnation);
        self.push(Entry::new(key.time, self.ties.prefix(&key), handle));
        if let Some(incarnation) = incarnation {
            self.by_identity.make_room(1, "the table of events sent by value");
            self.by_identity.insert(
                Identity { sender: key.sender, sequence: key.sequence, incarnation },
                handle,
            );
        }
        false
    }

    /// Whether the anti-message of an event that is arriving, with an incarnation if it may be
    /// cancelled, has overtaken it. It is forgotten then.
    #[inline(always)]
    pub(crate) fn was_cancelled_early(
        &mut self,
        key: &EventKey,
        incarnation: Option<Incarnation>,
    ) -> bool {
        incarnation.is_some_and(|incarnation| {
            self.cancelled_early.remove(&Identity {
                sender: key.sender,
                sequence: key.sequence,
                incarnation,
            })
        })
    }

    /// Cancels an event that has arrived by value or will. Returns its handle if it has been
    /// processed and has to be undone, and whether it was still pending.
    pub(crate) fn cancel_value(&mut self, identity: Identity) -> (Option<Handle>, bool) {
        match self.by_identity.get(&identity) {
            None => {
                self.cancelled_early.make_room(1, "the table of anti-messages");
                assert!(self.cancelled_early.insert(identity), "{identity:?} is cancelled twice");
                (None, false)
            }
            Some(&handle) => match self.store.cancel(handle) {
                CancelOutcome::Pending => (None, true),
                CancelOutcome::Processed => (Some(handle), false),
            },
        }
    }

    /// Whether any events are known by identity.
    #[inline]
    pub(crate) fn has_identities(&self) -> bool {
        !self.by_identity.is_empty()
    }

    /// How many events are known by identity: only those that are not over.
    pub(crate) fn identities(&self) -> usize {
        self.by_identity.len()
    }

    /// How many anti-messages have arrived before their events.
    pub(crate) fn cancelled_early(&self) -> usize {
        self.cancelled_early.len()
    }
}
