//! Reclaiming on the fly: as soon as its message has been executed, a buffer goes to a list with a
//! stamp, and is reused when that stamp is over. So nobody has to go through everything that is
//! over to free it, and the cost is spread over the run.
//!
//! In the paper (R. Fujimoto and K. Panesar, "Buffer management in shared-memory Time Warp
//! systems", PADS 1995, §6) the stamp is the message's time, and a buffer may be reused when GVT
//! has passed that. Here it is a number that grows with every execution, and the engine says which
//! numbers are over. The engine has to say so, as a message before GVT may still have to commit,
//! and messages do not commit in the order of their times alone. A cancelled message is released at
//! once, as its buffer may be reused at once.

use std::collections::VecDeque;
use std::mem::needs_drop;

use super::arena::Arena;
use super::pools::{FreeSlot, Partners};
use super::slot::{FREE, LIVE, OVER, tag};
use crate::alloc::MakeRoom;
use crate::{Handle, prefetch_write};

/// How many reuses ahead a slot is fetched: those that have been retired for longest come first,
/// and have left the cache.
const FETCHED_AHEAD: usize = 4;

/// A slot whose message has been executed.
#[derive(Clone, Copy, Debug)]
struct Entry {
    stamp: u64,
    /// Its number; `None` if the execution has been undone.
    number: Option<u32>,
}

/// Slots whose messages have been executed.
pub(super) struct Retired {
    /// By partner, if the pool keeps them apart, or else all in one: by increasing stamp.
    queues: Box<[VecDeque<Entry>]>,
    partners: Option<Partners>,
    /// Messages with lesser stamps are over.
    over: u64,
    len: u64,
}

impl Retired {
    /// No slots; `partners` if the pool keeps any apart.
    pub(super) fn new(partners: Option<Partners>) -> Self {
        let queues = partners.map_or(1, |partners| partners.lists());
        let queues = (0..queues).map(|_| VecDeque::new()).collect();
        Retired { queues, partners, over: 0, len: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// How many queues there are.
    pub(super) fn queues(&self) -> usize {
        self.queues.len()
    }

    /// The queue of a partner.
    #[inline(always)]
    pub(super) fn queue_of(&self, partner: u32) -> usize {
        self.partners.map_or(0, |partners| partners.list(partner))
    }

    /// How many slots are in the queue of a partner. Not all of them may be over.
    pub(super) fn len_for(&self, partner: u32) -> usize {
        self.queues[self.queue_of(partner)].len()
    }

    /// Messages with lesser stamps are over from now on.
    pub(super) fn set_over(&mut self, over: u64) {
        self.over = over;
    }

    /// Adds a slot, with a stamp greater than those of all that are here.
    pub(super) fn add(&mut self, partner: u32, number: u32, stamp: u64) {
        let entry = Entry { stamp, number: Some(number) };
        let queue = self.queue_of(partner);
        let queue = &mut self.queues[queue];
        // Executions are undone in reverse order, and later ones may reuse their stamps.
        while queue.back().is_some_and(|last| last.stamp >= entry.stamp) {
            let last = queue.pop_back();
            assert!(
                last.is_none_or(|last| last.number.is_none()),
                "each execution has a stamp of its own, greater than those before"
            );
        }
        queue.make_room(1, "the numbers of buffers that will be free");
        queue.push_back(entry);
        self.len += 1;
    }

    /// Takes a slot back, and leaves its entry empty. A search is good enough, as this is rare.
    pub(super) fn remove(&mut self, partner: u32, stamp: u64) -> u32 {
        let queue = self.queue_of(partner);
        let queue = &mut self.queues[queue];
        let found = queue.binary_search_by_key(&stamp, |entry| entry.stamp).ok();
        let number = found
            .and_then(|place| queue[place].number.take())
            .expect("only what has been retired is taken back");
        self.len -= 1;
        number
    }

    /// The number of the slot that will be reused after so many others.
    fn after(&self, queue: usize, others: usize) -> Option<u32> {
        self.queues[queue].get(others)?.number
    }

    /// The number of the first slot in a queue whose message is over.
    fn pop(&mut self, queue: usize) -> Option<u32> {
        let over = self.over;
        let queue = &mut self.queues[queue];
        while let Some(first) = queue.front()
            && (first.number.is_none() || first.stamp < over)
        {
            let number = first.number;
            queue.pop_front();
            if number.is_some() {
                self.len -= 1;
                return number;
            }
        }
        None
    }

    /// Frees the first slot in a queue whose message is over. `me` is the PE that has retired it.
    pub(super) fn reclaim<T>(
        &mut self,
        arena: &Arena<T>,
        me: u32,
        queue: usize,
    ) -> Option<FreeSlot> {
        let mine = tag(LIVE, me);
        while let Some(number) = self.pop(queue) {
            let slot = arena.found(Handle::from_bits(number));
            // Only this PE writes either of these tags, and only it replaces them. A slot that has
            // been released since is not this PE's to free.
            let tagged = slot.tag();
            if tagged != mine && tagged != tag(OVER, me) {
                continue;
            }
            slot.set_tag(FREE);
            if let Some(soon) = self.after(queue, FETCHED_AHEAD) {
                prefetch_write(arena.found(Handle::from_bits(soon)));
            }
            if needs_drop::<T>() && tagged == mine {
                // SAFETY: the slot was live and belonged to this PE, so it had a value; as its tag
                // is `FREE` now, nobody will reach that again.
                unsafe { slot.drop_value() };
            }
            return Some(FreeSlot::new(number));
        }
        None
    }
}
