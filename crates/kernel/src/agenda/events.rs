//! What other parts of a PE may ask of the memory of events: an event's status, what the same event
//! sent next, and buffers.

use warpline_memory::{Books, CancelOutcome, Handle};

use super::Agenda;
use super::store::OptionalHandle;
use crate::Event;

impl<E, Q> Agenda<E, Q> {
    #[inline(always)]
    pub(crate) fn event(&self, handle: Handle) -> &Event<E> {
        self.store.event(handle)
    }

    /// The event, unless it has been cancelled; for a caller that knows that nobody can cancel it
    /// from now on.
    #[inline(always)]
    pub(crate) fn begin_for_good(&self, handle: Handle) -> Option<&Event<E>> {
        self.store.begin_safe(handle)
    }

    /// Marks a pending event as processed and returns it, unless it has been cancelled. `sure`
    /// decides by the buffer's mark whether the sender can no longer cancel it.
    #[inline(always)]
    pub(crate) fn begin_ahead(
        &mut self,
        handle: Handle,
        sure: impl FnOnce(u32) -> bool,
    ) -> Option<&Event<E>> {
        self.store.begin(handle, sure)
    }

    /// Notes that an event executed ahead is recorded at this place.
    #[inline(always)]
    pub(crate) fn recorded(&mut self, handle: Handle, place: u64) {
        self.store.retire(handle, place);
    }

    /// Undoes the event recorded at this place. Returns whether it is pending again; otherwise it
    /// has been cancelled.
    #[inline]
    pub(crate) fn undo_recorded(&mut self, handle: Handle, place: u64) -> bool {
        self.store.withdraw(handle, place);
        self.store.undo(handle)
    }

    /// Undoes an event whose record is gone, or that never had one. Returns whether it may become
    /// pending again; otherwise it has been cancelled.
    pub(crate) fn undo(&mut self, handle: Handle) -> bool {
        self.store.undo(handle)
    }

    /// Cancels an event that this PE has sent, whichever PE has it now, and returns how far it had
    /// come.
    #[inline]
    pub(crate) fn cancel(&mut self, handle: Handle) -> CancelOutcome {
        self.store.cancel(handle)
    }

    #[inline]
    pub(crate) fn is_cancelled(&self, handle: Handle) -> bool {
        self.store.is_cancelled(handle)
    }

    /// Whether an event was cancelled after it was processed, and has been undone.
    pub(crate) fn is_undone(&self, handle: Handle) -> bool {
        self.store.is_undone(handle)
    }

    /// What the same event sent next.
    #[inline]
    pub(crate) fn next(&self, handle: Handle) -> OptionalHandle {
        self.store.next(handle)
    }

    /// Notes what the same event sent after this one, which has stayed on this PE.
    pub(crate) fn set_next(&mut self, handle: Handle, next: OptionalHandle) {
        self.store.set_next(handle, next);
    }

    /// The PE that an event was sent to, and the buffer that it lies in; `None` for an event that
    /// stayed on this PE.
    pub(crate) fn receiver(&self, handle: Handle) -> Option<(u32, Handle)> {
        self.store.receiver(handle)
    }

    /// Writes an event into a buffer for PE `to`. Returns its handle here, and the buffer's own.
    #[inline]
    pub(crate) fn share(
        &mut self,
        to: u32,
        mark: u32,
        next: OptionalHandle,
        event: Event<E>,
    ) -> (Handle, Handle) {
        self.store.share(to, mark, next, event)
    }

    /// The handle of a buffer that was received before.
    pub(crate) fn received(&self, buffer: Handle) -> Handle {
        self.store.received(buffer)
    }

    /// Drops an event that is over and not known by identity, and frees its memory.
    #[inline(always)]
    pub(crate) fn free(&mut self, handle: Handle) {
        self.store.release(handle);
    }

    /// Takes out an event that is over and not known by identity.
    #[inline(always)]
    pub(crate) fn take_over(&mut self, handle: Handle) -> Event<E> {
        self.store.take(handle)
    }

    /// Prefetches the first cache line of an event.
    #[inline(always)]
    pub(crate) fn prefetch(&self, handle: Handle) {
        self.store.prefetch(handle);
    }

    /// Prefetches a buffer that is about to be received.
    #[inline]
    pub(crate) fn prefetch_buffer(&self, buffer: Handle) {
        self.store.prefetch_buffer(buffer);
    }

    /// Notes that an event wants to send this many messages to another PE. Returns whether there
    /// are buffers for them.
    pub(crate) fn want(&mut self, to: u32, messages: u32) -> bool {
        self.store.want(to, messages);
        self.store.has_room(to, messages)
    }

    /// Whether there are buffers for this many messages to another PE.
    pub(crate) fn has_room(&mut self, to: u32, messages: u32) -> bool {
        self.store.has_room(to, messages)
    }

    /// Whether free buffers are ever returned to other PEs.
    pub(crate) fn returns_surplus(&self) -> bool {
        self.store.returns_surplus()
    }

    /// Takes out a free buffer to return to PE `to`, if there is a surplus of more than `most`.
    pub(crate) fn give_surplus(&mut self, to: u32, most: usize) -> Option<Handle> {
        self.store.give_surplus(to, most)
    }

    /// Takes back a free buffer that another PE has returned.
    pub(crate) fn accept_empty(&mut self, buffer: Handle) {
        self.store.accept_empty(buffer);
    }

    /// Evens out the pools, and lets buffers of events be reused that were recorded at places
    /// before this one.
    pub(crate) fn tidy(&mut self, reclaimed: u64) {
        self.store.tidy(reclaimed);
    }

    /// Whether this many events could be added without taking more memory.
    pub(crate) fn has_room_for(&self, events: usize) -> bool {
        self.store.free() >= events
    }

    /// Sets whether free buffers are used for whatever is sent, whichever PE they are kept for.
    pub(crate) fn save_memory(&mut self, saves: bool) {
        self.store.save_memory(saves);
    }

    /// Gives back memory that is not in use, where that can be told. Buffers stay with the PEs.
    pub(crate) fn give_back_room(&mut self) {
        self.store.give_back_room();
    }

    /// Whether events that this PE sends to itself lie in its pool.
    pub(crate) fn is_pooled(&self) -> bool {
        self.store.is_pooled()
    }

    /// The books of pool and buffers together.
    pub(crate) fn books(&self) -> Books {
        self.store.books()
    }
}
