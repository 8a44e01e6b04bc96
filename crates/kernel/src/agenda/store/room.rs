//! The memory of a store: how much it has, and which free buffers it keeps, gives and takes back.

use warpline_memory::{Books, Handle};

use super::Store;

impl<E> Store<E> {
    /// Evens out the pools, and lets buffers that were retired at places before this one be reused.
    pub(crate) fn tidy(&mut self, reclaimed: u64) {
        self.shared.tidy(reclaimed);
    }

    /// Whether there are buffers for this many messages to another PE.
    pub(crate) fn has_room(&mut self, to: u32, messages: u32) -> bool {
        self.shared.has_room(to, messages)
    }

    /// Notes that an event wants to send this many messages to another PE.
    pub(crate) fn want(&mut self, to: u32, messages: u32) {
        self.shared.want(to, messages);
    }

    /// Whether free buffers are ever returned to other PEs.
    pub(crate) fn returns_surplus(&self) -> bool {
        self.shared.returns_surplus()
    }

    /// Takes out a free buffer to return to PE `to`, if there is a surplus of more than `most`.
    pub(crate) fn give_surplus(&mut self, to: u32, most: usize) -> Option<Handle> {
        self.shared.give_surplus(to, most)
    }

    /// Takes back a free buffer that another PE has returned.
    pub(crate) fn accept_empty(&mut self, buffer: Handle) {
        self.shared.accept_empty(buffer);
    }

    /// How much memory this PE has taken for events, in bytes, in use or free.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes() + self.shared.bytes()
    }

    /// How many events could be added without taking more memory.
    pub(crate) fn free(&self) -> usize {
        if self.pooled {
            self.own.places() - self.own.len()
        } else {
            self.shared.available() as usize
        }
    }

    /// Sets whether free buffers are used for whatever is sent, whichever PE they are kept for.
    pub(crate) fn save_memory(&mut self, saves: bool) {
        self.shared.save_memory(saves);
    }

    /// Gives back memory that is not in use, where that can be told. Buffers stay with the PEs.
    pub(crate) fn give_back_room(&mut self) {
        self.own.give_back_room();
    }

    /// The books of pool and buffers together.
    pub(crate) fn books(&self) -> Books {
        let mut books = self.shared.books();
        let places = self.own.places() as u64;
        let live = self.own.len() as u64;
        books.places += places;
        books.live += live;
        books.free += places - live;
        books
    }
}
