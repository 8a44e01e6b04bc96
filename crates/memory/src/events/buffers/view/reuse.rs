//! How buffers are used again: when their message is over, or when memory is short.

use super::Buffers;
use crate::Handle;
use crate::events::buffers::pools::{FreeSlot, PLENTY};
use crate::events::buffers::retired::Retired;
use crate::events::buffers::slot::{OVER, tag};

impl<T> Buffers<T> {
    /// Whether buffers are to be [retired](Self::retire).
    pub fn retires(&self) -> bool {
        self.retired.is_some()
    }

    /// Notes that a message has been executed, with a stamp greater than those of all earlier
    /// executions that have not been undone. Its buffer counts as free from now on, but stays as it
    /// is until the stamp is [over](Self::tidy); until then the execution may be
    /// [undone](Self::withdraw).
    ///
    /// # Panics
    /// Also if buffers are not retired here, or the stamp is not greater.
    #[inline]
    pub fn retire(&mut self, handle: Handle, stamp: u64) {
        let partner = self.slot(handle).partner();
        self.retired_mut().add(partner, handle.bits(), stamp);
        self.counts.released += 1;
    }

    /// Takes back a buffer whose message was executed with this stamp, because the execution has
    /// been undone.
    ///
    /// # Panics
    /// Also if it has not been retired with this stamp.
    pub fn withdraw(&mut self, handle: Handle, stamp: u64) {
        let partner = self.slot(handle).partner();
        let number = self.retired_mut().remove(partner, stamp);
        assert_eq!(number, handle.bits(), "a message has the stamp of its own execution");
        self.counts.released -= 1;
    }

    /// Drops the value of a message whose buffer has been retired, and which is over or will be
    /// when its stamp is.
    pub fn empty(&mut self, handle: Handle) {
        let slot = self.slot(handle);
        slot.set_tag(tag(OVER, self.me));
        // SAFETY: the slot was live and belonged to this PE, so it had a value; by its tag it has
        // none now, so nobody will reach that again. This comes last, as it may panic.
        unsafe { slot.drop_value() };
    }

    /// Periodic work: evens out the pools, and lets buffers that were retired with a stamp less
    /// than `over` be reused.
    pub fn tidy(&mut self, over: u64) {
        if let Some(retired) = &mut self.retired {
            retired.set_over(over);
            if !self.pool.takes_retired() {
                self.reclaim_all(0);
            }
        }
        self.pool.tidy(&self.arena);
    }

    /// Whether there are buffers for this many messages to a PE, or new ones may be made: always,
    /// unless the sizes of sub-pools are limited.
    pub fn has_room(&mut self, to: u32, messages: u32) -> bool {
        if self.pool.has_room(to, messages) {
            return true;
        }
        self.reclaim_all(self.queue_of(to));
        self.pool.has_room(to, messages)
    }

    /// Notes that an event wants to send this many messages to a PE: adaptive sizes follow the
    /// demand.
    pub fn want(&mut self, to: u32, messages: u32) {
        self.pool.want(to, messages);
    }

    /// Whether the sizes of sub-pools are limited.
    pub fn is_bounded(&self) -> bool {
        self.pool.is_bounded()
    }

    fn retired_mut(&mut self) -> &mut Retired {
        self.retired.as_mut().expect("the settings of the pool say whether buffers are retired")
    }

    /// How many slots are retired for messages to a partner, if partners are kept apart. Not all of
    /// them may be over.
    pub(super) fn retired_for(&self, partner: u32) -> usize {
        let retired = self.retired.as_ref().filter(|_| self.pool.keeps_partners_apart());
        retired.map_or(0, |retired| retired.len_for(partner))
    }

    /// A retired slot whose message is over, for messages to PE `to`.
    pub(super) fn reclaim_one(&mut self, to: u32) -> Option<FreeSlot> {
        let retired = self.retired.as_mut().filter(|_| self.pool.takes_retired())?;
        retired.reclaim(&self.arena, self.me, retired.queue_of(to))
    }

    /// Gives the pool all retired slots whose messages are over, so that it can use them for any
    /// partner.
    fn reclaim_each(&mut self) {
        let queues = self.retired.as_ref().map_or(0, Retired::queues);
        (0..queues).for_each(|queue| self.reclaim_all(queue));
    }

    /// The queue of slots that are retired for messages to a partner.
    fn queue_of(&self, partner: u32) -> usize {
        self.retired.as_ref().map_or(0, |retired| retired.queue_of(partner))
    }

    /// Gives the pool all retired slots in a queue whose messages are over.
    fn reclaim_all(&mut self, queue: usize) {
        let Some(retired) = &mut self.retired else { return };
        let arena = &self.arena;
        let me = self.me;
        self.pool.give_all(queue, std::iter::from_fn(|| retired.reclaim(arena, me, queue)), arena);
    }

    /// Sets whether every free buffer of this PE, whichever partner it is kept for, is used before
    /// a new one is made. That saves memory and costs time.
    pub fn save_memory(&mut self, saves: bool) {
        self.pool.save_memory(saves);
        if saves {
            self.reclaim_each();
        }
    }

    /// A slot when the pool has none: one whose message is over, or a new one.
    #[inline(never)]
    pub(super) fn find_free(&mut self, to: u32) -> FreeSlot {
        if let Some(free) = self.reclaim_one(to) {
            return free;
        }
        // As in `grow`: with plenty of local slots, saving memory matters more than keeping them
        // local.
        let me = self.me;
        if self.retired_for(me) > PLENTY
            && let Some(free) = self.reclaim_one(me)
        {
            self.pool.count_for(to);
            return free;
        }
        self.pool.grow(to, &self.arena)
    }
}
