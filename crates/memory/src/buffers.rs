use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::arena::{Arena, FREE, LIVE, NONE, SEGMENT_BITS, SENT, Slot, tag};
use crate::sync::Ordering;
use crate::{Apart, Books, Handle, PoolFull, prefetch, prefetch_write};

mod handover;
#[cfg(all(test, loom))]
mod loom_tests;
mod status;
#[cfg(all(test, not(loom)))]
mod tests;

pub use status::CancelOutcome;
use status::PENDING;

/// How many new slots a sub-pool gets at once.
const RUN: u32 = if cfg!(any(miri, loom)) { 2 } else { 32 };
/// More free local slots than this are more than they need to be.
const PLENTY: usize = if cfg!(any(miri, loom)) { 16 } else { 8192 };

/// One processing element's (PE's) view of the event buffers that all PEs share.
///
/// A buffer holds one message, and this one copy serves both sender and receiver: the sender writes it into a buffer of its
/// own, which is the receiver's from then on, and keeps the handle, by which it can still [cancel](Self::cancel) the message.
///
/// Each PE keeps free buffers apart by the PE that they go to and come from, its _partner_: those that it frees go back the
/// way they came with the next messages. So two PEs that exchange messages pass the same buffers to and fro, and no lock is
/// needed (Fujimoto & Panesar, _Buffer management in shared-memory Time Warp_, PADS 1995). The last buffer freed is the next
/// one taken, while it is still in the cache.
///
/// A buffer is the business of one PE at a time. It is a mistake of an engine, which panics, to use a handle whose buffer is
/// another's or free.
///
/// ```
/// use warpline_memory::{CancelOutcome, buffers};
///
/// let mut views = buffers(2);
/// let (mut receiver, mut sender) = (views.pop().unwrap(), views.pop().unwrap());
/// let handle = sender.insert(1, "hello")?;
/// // The handle goes to the other PE, say through a ring.
/// receiver.accept(handle);
/// assert!(receiver.begin(handle));
/// assert_eq!(*receiver.get(handle), "hello");
/// assert_eq!(sender.cancel(handle), CancelOutcome::Processed);
/// assert!(!receiver.undo(handle));
/// receiver.release(handle);
/// # Ok::<(), warpline_memory::PoolFull>(())
/// ```
pub struct Buffers<T> {
    arena: Arena<T>,
    me: u16,
    /// The tag of a slot that is live and mine.
    mine: u32,
    /// Free slots by partner. A slot here or in `fresh` is this PE's alone.
    free: Box<[Apart<Vec<u32>>]>,
    /// How many slots this PE has made for messages to each partner: those it need not send back.
    made: Box<[u32]>,
    /// Slots never used.
    fresh: Range<u32>,
    segments: u32,
    fresh_taken: u64,
    inserted: u64,
    released: u64,
    given: u64,
    accepted: u64,
    returned: u64,
    taken_back: u64,
    /// Not `Sync`: values are `Send` at most, and those that `get` gives out must not be reached from two threads.
    not_sync: PhantomData<Cell<T>>,
}

/// The views of as many PEs on buffers that they share; the first is that of PE 0.
///
/// # Panics
/// If `pes` is not in 1..=32767.
pub fn buffers<T>(pes: u32) -> Vec<Buffers<T>> {
    assert!((1..=32767).contains(&pes), "buffers serve 1 to 32767 PEs, not {pes}");
    let arena = Arena::new();
    (0..pes as u16).map(|me| Buffers::new(arena.share(), me, pes)).collect()
}

// Invariant: a slot's tag, partner and value are written by one PE at a time, its keeper. The keeper of a slot that is FREE is the PE that
// has it in its lists or its fresh range; of one that is LIVE or SENT, the PE in the tag. Each PE has one view, so a method with `&mut self`
// is the only one to act as that keeper; it alone writes the tag, hands the slot on by SENT, and takes it by accepting. So to find the
// tag LIVE with `me` under a borrow of the view means that it stays so for the borrow. That holds whatever handles the callers make up.
impl<T> Buffers<T> {
    fn new(arena: Arena<T>, me: u16, pes: u32) -> Self {
        let free = (0..pes).map(|_| Apart::default()).collect();
        let made = vec![0; pes as usize].into_boxed_slice();
        let (fresh, mine) = (0..0, tag(LIVE, me));
        let (segments, fresh_taken, inserted, released, given, accepted, returned, taken_back) = (0, 0, 0, 0, 0, 0, 0, 0);
        Buffers {
            arena,
            me,
            mine,
            free,
            made,
            fresh,
            segments,
            fresh_taken,
            inserted,
            released,
            given,
            accepted,
            returned,
            taken_back,
            not_sync: PhantomData,
        }
    }

    /// Which PE's view this is.
    pub fn me(&self) -> u32 {
        self.me.into()
    }

    /// Puts a value into a free buffer for `to`. If that is this PE itself, the message is local, and the buffer stays here; otherwise it
    /// is in flight at once, until that PE [accepts](Self::accept) it. The message is pending and links to no other.
    ///
    /// # Errors
    /// If there is no number or no memory for another buffer.
    ///
    /// # Panics
    /// If there is no such PE.
    #[inline]
    pub fn insert(&mut self, to: u32, value: T) -> Result<Handle, PoolFull> {
        self.insert_with(to, 0, None, || value)
    }

    /// Like [`insert`](Self::insert), with a word for [`begin_if`](Self::begin_if), a link to the message that the same event sent
    /// [before](Self::next), and the value made in its place rather than moved there.
    ///
    /// # Errors
    /// Likewise.
    #[inline(always)]
    pub fn insert_with(&mut self, to: u32, mark: u32, next: Option<Handle>, value: impl FnOnce() -> T) -> Result<Handle, PoolFull> {
        let number = match self.free[to as usize].0.pop() {
            Some(number) => number,
            None => self.fresh(to)?,
        };
        let handle = Handle::from_bits(number);
        let slot = found(&self.arena, handle);
        // SAFETY: the slot is free and this PE's alone, so nobody else reaches its value, and there is none to drop.
        slot.value.with_mut(|place| unsafe { *place = MaybeUninit::new(value()) });
        // All Relaxed: the next line publishes these. The receiver's partner is this PE, and so is its own.
        slot.partner.store(self.me, Ordering::Relaxed);
        slot.status.store(PENDING, Ordering::Relaxed);
        slot.next.store(next.map_or(NONE, Handle::bits), Ordering::Relaxed);
        slot.mark.store(mark, Ordering::Relaxed);
        let local = to == u32::from(self.me);
        // Release pairs with the Acquire of `accept`, which may then read the value.
        slot.tag.store(if local { self.mine } else { tag(SENT, to as u16) }, Ordering::Release);
        self.inserted += 1;
        self.given += u64::from(!local);
        Ok(handle)
    }

    /// A slot for messages to `partner`, when those that were are in use: one never used. Cores fetch lines of memory in pairs, so a slot
    /// that goes to and fro between two PEs would drag the next one along. Of a pair, only one does, and the other is for local messages.
    /// But where there is more than the caches hold, memory is worth more than that, and local slots change over.
    #[cold]
    fn fresh(&mut self, partner: u32) -> Result<u32, PoolFull> {
        let local = &mut self.free[usize::from(self.me)].0;
        if local.len() > PLENTY {
            self.made[partner as usize] += 1;
            return local.pop().ok_or(PoolFull::Numbers);
        }
        if self.fresh.is_empty() {
            // As much as there is already.
            self.fresh = self.arena.grow(self.segments)?;
            self.segments += self.fresh.len() as u32 >> SEGMENT_BITS;
        }
        let run = self.fresh.start..self.fresh.end.min(self.fresh.start.saturating_add(RUN));
        self.fresh.start = run.end;
        self.fresh_taken += run.len() as u64;
        for number in run.rev() {
            let to = if number % 2 == 0 { partner as usize } else { usize::from(self.me) };
            self.free[to].0.push(number);
            self.made[to] += 1;
        }
        self.free[partner as usize].0.pop().ok_or(PoolFull::Numbers)
    }

    /// The value in a buffer.
    ///
    /// # Panics
    /// Like all methods here that take a handle, unless they say otherwise, if the buffer is not this PE's or free.
    #[inline]
    pub fn get(&self, handle: Handle) -> &T {
        let slot = owned(&self.arena, self.mine, handle);
        // SAFETY: the slot is live and this PE's, so has a value, and stays so while the view is borrowed; writing the value or dropping
        // it takes `&mut` of this view.
        slot.value.with(|value| unsafe { (*value).assume_init_ref() })
    }

    /// Drops the value in a buffer and frees it. Returns its partner.
    #[inline]
    pub fn release(&mut self, handle: Handle) -> u32 {
        let slot = owned(&self.arena, self.mine, handle);
        let partner = slot.partner.load(Ordering::Relaxed);
        // Relaxed: only this PE acts on the slot before it gives it away again.
        slot.tag.store(FREE, Ordering::Relaxed);
        self.free[usize::from(partner)].0.push(handle.bits());
        self.released += 1;
        // SAFETY: the slot was live and this PE's, so had a value; as it is marked free, nothing will reach that value again. This comes
        // last as it may panic.
        slot.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
        partner.into()
    }

    /// The message that this one links to. The sender may ask even when the receiver has the buffer.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn next(&self, handle: Handle) -> Option<Handle> {
        // Relaxed: the sender wrote it itself, and the receiver leaves it alone until the sender has cancelled the message or both have
        // agreed that it is committed.
        let next = found(&self.arena, handle).next.load(Ordering::Relaxed);
        (next != NONE).then(|| Handle::from_bits(next))
    }

    /// Brings the first cache line of a buffer near, if there is one at the handle. It never panics.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        if let Some(slot) = self.arena.slot(handle.bits()) {
            prefetch(slot);
        }
    }

    /// Like [`prefetch`](Self::prefetch), for a buffer that will be written as well.
    #[inline]
    pub fn prefetch_write(&self, handle: Handle) {
        if let Some(slot) = self.arena.slot(handle.bits()) {
            prefetch_write(slot);
        }
    }

    /// The PE that a buffer goes to, or came from.
    #[cfg(test)]
    fn partner(&self, handle: Handle) -> u32 {
        owned(&self.arena, self.mine, handle).partner.load(Ordering::Relaxed).into()
    }

    /// The PE that has a buffer, or will have it when it has arrived. Any PE may ask.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn owner(&self, handle: Handle) -> u32 {
        // Relaxed: the sender of a message knows its receiver, and finds it here as it wrote it.
        found(&self.arena, handle).tag.load(Ordering::Relaxed) >> 16
    }

    /// What this PE did with buffers, and how many it has.
    pub fn books(&self) -> Books {
        let Buffers { inserted, released, given, accepted, returned, taken_back, fresh_taken: places, .. } = *self;
        let free = self.free.iter().map(|list| list.0.len() as u64).sum();
        Books { inserted, released, given, accepted, returned, taken_back, live: inserted + accepted - released - given, places, free }
    }
}

impl<T> fmt::Debug for Buffers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers").field("me", &self.me).field("books", &self.books()).finish_non_exhaustive()
    }
}

/// The slot at a handle, whoever has it.
#[inline(always)]
fn found<T>(arena: &Arena<T>, handle: Handle) -> &Slot<T> {
    match arena.slot(handle.bits()) {
        Some(slot) => slot,
        None => stale(handle),
    }
}

/// The slot at a handle, which has this tag: that of live slots of the PE that asks.
#[inline(always)]
fn owned<T>(arena: &Arena<T>, mine: u32, handle: Handle) -> &Slot<T> {
    let slot = found(arena, handle);
    // Relaxed: only this PE writes this tag, and only it takes it away.
    if slot.tag.load(Ordering::Relaxed) != mine {
        stale(handle);
    }
    slot
}

#[cold]
#[inline(never)]
fn stale(handle: Handle) -> ! {
    panic!("no value of this PE at {handle:?}: it was released or given away before")
}
