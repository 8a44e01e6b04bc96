//! Reclaiming on the fly: a buffer goes to a list of its pool as soon as its message has been executed, with a stamp, and is reused when
//! that stamp is over. So nobody has to look through everything that is over to free it, and the cost is spread over the run.
//!
//! In the paper (R. Fujimoto and K. Panesar, "Buffer management in shared-memory Time Warp systems", PADS 1995, §6) the stamp is the
//! message's time, and a buffer may be reused when GVT has passed that. Here it is a number that grows with every execution, and the engine
//! says which numbers are over. It has to, as a message before GVT may still have to commit, and messages do not commit in the order of
//! their times alone. A cancelled message is released at once, as its buffer may be reused at once.

use std::collections::VecDeque;
use std::mem::needs_drop;

use super::{Buffers, FreeSlot, found, owned};
use crate::Handle;
use crate::arena::{Arena, FREE, NONE, OVER, tag};
use crate::exhausted::MakeRoom;
use crate::prefetch_write;
use crate::sync::Ordering;

/// How many reuses ahead a slot is fetched: those that have been retired for longest come first, and have left the cache.
const FETCHED_AHEAD: usize = 4;

/// A slot whose message has been executed.
#[derive(Clone, Copy, Debug)]
struct Entry {
    stamp: u64,
    /// Its number; [`NONE`] if the execution has been undone.
    number: u32,
}

/// Slots whose messages have been executed.
pub(super) struct Retired {
    /// By partner, if the pool keeps partners apart, or else all in one: by increasing stamp.
    queues: Box<[VecDeque<Entry>]>,
    /// Messages with lesser stamps are over.
    over: u64,
    len: u64,
}

impl Retired {
    pub(super) fn new(queues: u32) -> Self {
        Retired { queues: (0..queues).map(|_| VecDeque::new()).collect(), over: 0, len: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    fn queue(&mut self, partner: u16) -> &mut VecDeque<Entry> {
        let last = self.queues.len() - 1;
        &mut self.queues[usize::from(partner).min(last)]
    }

    fn add(&mut self, partner: u16, entry: Entry) {
        let queue = self.queue(partner);
        // Executions are undone last first, and later ones may reuse their stamps.
        while queue.back().is_some_and(|last| last.stamp >= entry.stamp) {
            let last = queue.pop_back();
            assert!(last.is_none_or(|last| last.number == NONE), "each execution has a stamp of its own, greater than those before");
        }
        queue.make_room(1, "the numbers of buffers that will be free");
        queue.push_back(entry);
        self.len += 1;
    }

    /// Takes an entry out and leaves its place. A search is good enough, as this is rare.
    fn remove(&mut self, partner: u16, stamp: u64) -> u32 {
        let queue = self.queue(partner);
        let found = queue.binary_search_by_key(&stamp, |entry| entry.stamp).ok();
        let number = found.map_or(NONE, |place| std::mem::replace(&mut queue[place].number, NONE));
        assert!(number != NONE, "only what has been retired is taken back");
        self.len -= 1;
        number
    }

    /// The number of the slot that will be reused after so many others.
    fn after(&mut self, partner: u16, others: usize) -> Option<u32> {
        self.queue(partner).get(others).map(|entry| entry.number).filter(|number| *number != NONE)
    }

    /// The number of the first slot of a partner whose message is over.
    fn pop(&mut self, partner: u16) -> Option<u32> {
        let over = self.over;
        let queue = self.queue(partner);
        while let Some(first) = queue.front()
            && (first.number == NONE || first.stamp < over)
        {
            let number = first.number;
            queue.pop_front();
            if number != NONE {
                self.len -= 1;
                return Some(number);
            }
        }
        None
    }
}

impl<T> Buffers<T> {
    /// Whether buffers are to be [retired](Self::retire).
    pub fn retires(&self) -> bool {
        self.retired.is_some()
    }

    /// Notes that a message has been executed, with a stamp greater than those of all earlier executions that have not been undone. Its
    /// buffer counts as free from now on, but stays as it is until the stamp is [over](Self::tidy); until then the execution may be
    /// [undone](Self::withdraw).
    ///
    /// # Panics
    /// Also if buffers are not retired here, or the stamp is not greater.
    #[inline]
    pub fn retire(&mut self, handle: Handle, stamp: u64) {
        let partner = owned(&self.arena, self.mine, handle).partner.load(Ordering::Relaxed);
        self.retired_mut().add(partner, Entry { stamp, number: handle.bits() });
        self.released += 1;
    }

    /// Takes back a buffer whose message was executed with this stamp, because the execution has been undone.
    ///
    /// # Panics
    /// Also if it has not been retired with this stamp.
    pub fn withdraw(&mut self, handle: Handle, stamp: u64) {
        let partner = owned(&self.arena, self.mine, handle).partner.load(Ordering::Relaxed);
        let number = self.retired_mut().remove(partner, stamp);
        assert_eq!(number, handle.bits(), "a message has the stamp of its own execution");
        self.released -= 1;
    }

    /// Drops the value of a message whose buffer has been retired, and which is over or will be when its stamp is.
    pub fn empty(&mut self, handle: Handle) {
        let slot = owned(&self.arena, self.mine, handle);
        // Relaxed: only this PE acts on the slot before it gives it away again.
        slot.tag.store(tag(OVER, self.me), Ordering::Relaxed);
        // SAFETY: the slot was live and belonged to this PE, so it had a value; by its tag it has none now, so nothing will reach that
        // again. This comes last, as it may panic.
        slot.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
    }

    /// Periodic work: evens out the pools, and lets buffers that were retired with a stamp less than `over` be reused.
    pub fn tidy(&mut self, over: u64) {
        if let Some(retired) = &mut self.retired {
            retired.over = over;
            if !self.pool.takes_retired() {
                self.reclaim_all(0);
            }
        }
        self.pool.tidy(&self.arena);
    }

    /// Whether there are buffers for this many messages to a PE, or new ones may be made: always, unless the sizes of sub-pools are
    /// limited.
    pub fn has_room(&mut self, to: u32, messages: u32) -> bool {
        if self.pool.has_room(to, messages) {
            return true;
        }
        self.reclaim_all(to as u16);
        self.pool.has_room(to, messages)
    }

    /// Notes that an event wants to send this many messages to a PE: adaptive sizes follow the demand.
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

    /// How many slots are retired for messages to a partner, if partners are kept apart. Not all of them may be over.
    pub(super) fn retired_for(&self, partner: u32) -> usize {
        let retired = self.retired.as_ref().filter(|_| self.pool.keeps_partners_apart());
        retired.map_or(0, |retired| retired.queues[partner as usize].len())
    }

    /// A retired slot for messages to PE `to`; its own message is over.
    pub(super) fn reclaim_one(&mut self, to: u32) -> Option<FreeSlot> {
        let retired = self.retired.as_mut().filter(|_| self.pool.takes_retired())?;
        reclaim(retired, &self.arena, self.me, self.mine, to as u16)
    }

    /// Gives the pool all retired slots whose messages are over, so that it can use them for any partner.
    pub(super) fn reclaim_each(&mut self) {
        let queues = self.retired.as_ref().map_or(0, |retired| retired.queues.len());
        (0..queues).for_each(|partner| self.reclaim_all(partner as u16));
    }

    /// Gives the pool all retired slots of a partner whose messages are over.
    fn reclaim_all(&mut self, partner: u16) {
        let Some(retired) = &mut self.retired else { return };
        let (arena, me, mine) = (&self.arena, self.me, self.mine);
        self.pool.give_all(partner, std::iter::from_fn(|| reclaim(retired, arena, me, mine, partner)), arena);
    }
}

/// Frees the first retired slot of a partner whose message is over.
fn reclaim<T>(retired: &mut Retired, arena: &Arena<T>, me: u16, mine: u32, partner: u16) -> Option<FreeSlot> {
    while let Some(number) = retired.pop(partner) {
        let slot = found(arena, Handle::from_bits(number));
        // Relaxed: only this PE writes either of these tags, and only it replaces them. A slot that has been released since is not this
        // PE's to free.
        let tagged = slot.tag.load(Ordering::Relaxed);
        if tagged != mine && tagged != tag(OVER, me) {
            continue;
        }
        slot.tag.store(FREE, Ordering::Relaxed);
        if let Some(soon) = retired.after(partner, FETCHED_AHEAD) {
            prefetch_write(found(arena, Handle::from_bits(soon)));
        }
        if needs_drop::<T>() && tagged == mine {
            // SAFETY: the slot was live and belonged to this PE, so it had a value; as it is marked free, nothing will reach that again.
            slot.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
        }
        return Some(FreeSlot::new(number));
    }
    None
}
