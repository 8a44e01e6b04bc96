//! The memory of a PE's events: a pool of its own, and, for events that travel between PEs in
//! buffers, memory that sender and receiver share. Where most events may be undone, all of them lie
//! in buffers.

mod room;
mod timers;

use std::mem::needs_drop;

use warpline_base::EventKind;
use warpline_memory::{Buffers, CancelOutcome, Exhausted, Handle, Pool};

pub(crate) use super::handles::{Incarnation, OptionalHandle};
use super::handles::{Location, SHARED, locate, shared_handle};
use crate::Event;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Pending,
    Processed,
    Cancelled,
    /// Cancelled while it was processed, and undone since.
    Undone,
    /// A timer that its LP has cancelled, which may be undone.
    Stopped,
    /// The same, and its turn has come: it is no longer among the pending events.
    StoppedAtItsTurn,
    /// A timer that its LP has cancelled for good.
    StoppedForGood,
}

/// An event in the pool: one cache line if its payload has at most 16 bytes.
#[derive(Debug)]
struct LocalEvent<E> {
    event: Event<E>,
    /// What the same event sent next.
    next: OptionalHandle,
    /// For an event that came by value and may be cancelled.
    incarnation: Option<Incarnation>,
    status: Status,
}

/// The events of a PE. Each has one handle from when it is sent or received until it is released.
pub(crate) struct Store<E> {
    own: Pool<LocalEvent<E>>,
    shared: Buffers<Event<E>>,
    pooled: bool,
}

impl<E> Store<E> {
    /// `pooled`: whether events that this PE sends to itself lie in its pool, or in buffers as
    /// well. A pool is leaner, and best where hardly any events arrive in buffers. Otherwise the
    /// core keeps mispredicting in which of the two the next event lies.
    pub(crate) fn new(shared: Buffers<Event<E>>, pooled: bool) -> Self {
        Store { own: Pool::default(), shared, pooled }
    }

    /// Whether events that this PE sends to itself lie in its pool.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pooled
    }

    /// Chooses between the pool and buffers for the events to come. Present ones stay where they
    /// are.
    pub(crate) fn use_pool(&mut self, pooled: bool) {
        self.pooled = pooled;
    }

    /// Adds an event that this PE has sent to itself, or that has arrived by value.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        event: Event<E>,
        next: OptionalHandle,
        incarnation: Option<Incarnation>,
    ) -> Handle {
        if !self.pooled && incarnation.is_none() && event.kind == EventKind::Plain {
            let me = self.shared.me();
            return shared_handle(self.shared.insert_with(me, 0, next.handle(), || event));
        }
        let handle =
            self.own.insert(LocalEvent { event, next, incarnation, status: Status::Pending });
        if handle.bits() & SHARED == 0 { handle } else { Exhausted::Numbers.unwind() }
    }

    /// Puts an event that nobody will cancel in place of one that is over. If the latter lies in a
    /// shared buffer, the buffer is released and the new event goes into the pool.
    #[inline(always)]
    pub(crate) fn replace(&mut self, spent: Handle, event: Event<E>) -> Handle {
        match locate(spent) {
            Location::Local(handle) => {
                self.own.replace(
                    handle,
                    LocalEvent {
                        event,
                        next: OptionalHandle::default(),
                        incarnation: None,
                        status: Status::Pending,
                    },
                );
                spent
            }
            Location::Shared(_) => {
                let handle = self.insert(event, OptionalHandle::default(), None);
                // Last, as dropping the payload may panic.
                self.release_buffer(spent);
                handle
            }
        }
    }

    /// Out of line, so that events that came by value do not pay for it.
    #[inline(never)]
    fn release_buffer(&mut self, handle: Handle) {
        if let Location::Shared(buffer) = locate(handle) {
            self.shared.release(buffer);
        }
    }

    /// Writes an event into a buffer for PE `to`. Returns its handle here, and the buffer's own, by
    /// which that PE [receives](Self::receive) it.
    #[inline]
    pub(crate) fn share(
        &mut self,
        to: u32,
        mark: u32,
        next: OptionalHandle,
        event: Event<E>,
    ) -> (Handle, Handle) {
        let buffer = self.shared.insert_with(to, mark, next.handle(), || event);
        (shared_handle(buffer), buffer)
    }

    /// Takes over a buffer that another PE has sent. Returns its handle here and the event in it.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: Handle) -> (Handle, &Event<E>) {
        (shared_handle(buffer), self.shared.accept(buffer))
    }

    /// The handle of a buffer that was received before.
    pub(crate) fn received(&self, buffer: Handle) -> Handle {
        Handle::from_bits(buffer.bits() | SHARED)
    }

    #[inline(always)]
    pub(crate) fn event(&self, handle: Handle) -> &Event<E> {
        match locate(handle) {
            Location::Local(handle) => &self.own.get(handle).event,
            Location::Shared(buffer) => self.shared.get(buffer),
        }
    }

    /// The event, unless it has been cancelled; for a caller that knows that nobody can cancel it
    /// from now on.
    #[inline(always)]
    pub(crate) fn begin_safe(&self, handle: Handle) -> Option<&Event<E>> {
        match locate(handle) {
            Location::Local(handle) => {
                let own = self.own.get(handle);
                (own.status == Status::Pending).then_some(&own.event)
            }
            Location::Shared(buffer) => self.shared.get_certain(buffer),
        }
    }

    /// Marks a pending event as processed and returns it, unless it has been cancelled. `sure`
    /// decides by the buffer's mark whether the sender can no longer cancel it.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        handle: Handle,
        sure: impl FnOnce(u32) -> bool,
    ) -> Option<&Event<E>> {
        match locate(handle) {
            Location::Local(handle) => {
                let own = self.own.get_mut(handle);
                match own.status {
                    Status::Pending => own.status = Status::Processed,
                    Status::Cancelled | Status::Stopped | Status::StoppedForGood => return None,
                    _ => out_of_turn("processed"),
                }
                Some(&own.event)
            }
            Location::Shared(buffer) => self.shared.begin_if(buffer, sure),
        }
    }

    /// Marks a processed event as pending again. Returns false if it has been cancelled; it is
    /// [undone](Self::is_undone) then.
    #[inline]
    pub(crate) fn undo(&mut self, handle: Handle) -> bool {
        match locate(handle) {
            Location::Local(handle) => {
                let own = self.own.get_mut(handle);
                own.status = match own.status {
                    Status::Processed => Status::Pending,
                    Status::Cancelled => Status::Undone,
                    _ => out_of_turn("pending"),
                };
                own.status == Status::Pending
            }
            Location::Shared(buffer) => self.shared.undo(buffer),
        }
    }

    /// Whether an event was cancelled after it was processed, and has been undone.
    pub(crate) fn is_undone(&self, handle: Handle) -> bool {
        match locate(handle) {
            Location::Local(handle) => self.own.get(handle).status == Status::Undone,
            Location::Shared(buffer) => self.shared.is_undone(buffer),
        }
    }

    #[inline]
    pub(crate) fn is_cancelled(&self, handle: Handle) -> bool {
        match locate(handle) {
            Location::Local(handle) => {
                !matches!(self.own.get(handle).status, Status::Pending | Status::Processed)
            }
            Location::Shared(buffer) => self.shared.is_cancelled(buffer),
        }
    }

    /// Cancels an event that this PE has sent, whichever PE has it now, and returns how far it had
    /// come.
    #[inline]
    pub(crate) fn cancel(&mut self, handle: Handle) -> CancelOutcome {
        match locate(handle) {
            Location::Local(handle) => {
                let own = self.own.get_mut(handle);
                match std::mem::replace(&mut own.status, Status::Cancelled) {
                    Status::Pending => CancelOutcome::Pending,
                    Status::Processed => CancelOutcome::Processed,
                    _ => out_of_turn("cancelled"),
                }
            }
            Location::Shared(buffer) => self.shared.cancel(buffer),
        }
    }

    /// What the same event sent next.
    #[inline]
    pub(crate) fn next(&self, handle: Handle) -> OptionalHandle {
        match locate(handle) {
            Location::Local(handle) => self.own.get(handle).next,
            Location::Shared(buffer) => {
                self.shared.next(buffer).map_or_else(OptionalHandle::default, OptionalHandle::some)
            }
        }
    }

    /// Notes what the same event sent after this one, which has stayed on this PE.
    pub(crate) fn set_next(&mut self, handle: Handle, next: OptionalHandle) {
        match locate(handle) {
            Location::Local(handle) => self.own.get_mut(handle).next = next,
            Location::Shared(buffer) => self.shared.set_next(buffer, next.handle()),
        }
    }

    /// The PE that an event was sent to, and the buffer that it lies in; `None` for an event that
    /// stayed on this PE.
    pub(crate) fn receiver(&self, handle: Handle) -> Option<(u32, Handle)> {
        match locate(handle) {
            Location::Local(_) => None,
            Location::Shared(buffer) => Some((self.shared.owner(buffer), buffer))
                .filter(|(owner, _)| *owner != self.shared.me()),
        }
    }

    /// The incarnation of the PE that sent an event, if the event came by value and may be
    /// cancelled.
    #[inline]
    pub(crate) fn incarnation(&self, handle: Handle) -> Option<Incarnation> {
        match locate(handle) {
            Location::Local(handle) => self.own.get(handle).incarnation,
            Location::Shared(_) => None,
        }
    }

    /// Drops an event.
    #[inline]
    pub(crate) fn release(&mut self, handle: Handle) {
        match locate(handle) {
            Location::Local(handle) => drop(self.own.remove(handle)),
            Location::Shared(buffer) => _ = self.shared.release(buffer),
        }
    }

    /// Takes an event out.
    #[inline]
    pub(crate) fn take(&mut self, handle: Handle) -> Event<E> {
        match locate(handle) {
            Location::Local(handle) => self.own.remove(handle).event,
            Location::Shared(buffer) => self.shared.take(buffer),
        }
    }

    /// Prefetches the first cache line of an event.
    #[inline(always)]
    pub(crate) fn prefetch(&self, handle: Handle) {
        match locate(handle) {
            Location::Local(handle) => self.own.prefetch(handle),
            Location::Shared(buffer) => self.shared.prefetch(buffer),
        }
    }

    /// Prefetches a buffer that is about to be received.
    #[inline]
    pub(crate) fn prefetch_buffer(&self, buffer: Handle) {
        self.shared.prefetch_write(buffer);
    }

    /// Notes that the event recorded at this place has been executed: where buffers are reclaimed
    /// on the fly, its buffer may be reused once the place has been reclaimed.
    #[inline(always)]
    pub(crate) fn retire(&mut self, handle: Handle, place: u64) {
        if self.shared.retires()
            && let Location::Shared(buffer) = locate(handle)
        {
            self.shared.retire(buffer, place);
        }
    }

    /// Takes back the buffer of the event recorded at this place, which is being undone.
    #[inline]
    pub(crate) fn withdraw(&mut self, handle: Handle, place: u64) {
        if self.shared.retires()
            && let Location::Shared(buffer) = locate(handle)
        {
            self.shared.withdraw(buffer, place);
        }
    }

    /// Drops an event that has been executed and is over. If its buffer has been retired, that is
    /// left for whoever needs one.
    #[inline(always)]
    pub(crate) fn release_executed(&mut self, handle: Handle) {
        match locate(handle) {
            Location::Local(handle) => drop(self.own.remove(handle)),
            Location::Shared(_) if !self.shared.retires() => self.release_buffer(handle),
            Location::Shared(buffer) => {
                if needs_drop::<E>() {
                    self.shared.empty(buffer);
                }
            }
        }
    }

    /// Drops all events, including those in buffers on their way here. No PE may do anything any
    /// more.
    pub(crate) fn drop_rest(self) {
        drop(self.own);
        self.shared.drop_rest();
    }
}

#[cold]
#[inline(never)]
fn out_of_turn(what: &str) -> ! {
    panic!("the event is {what} already, or cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_with_16_bytes_of_payload_is_one_cache_line() {
        assert_eq!(size_of::<Option<LocalEvent<[u64; 2]>>>(), 64);
        assert_eq!(size_of::<OptionalHandle>(), 4);
    }
}
