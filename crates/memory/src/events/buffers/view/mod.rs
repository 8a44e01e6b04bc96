//! One PE's view of all buffers.

mod cancelling;
#[cfg(all(test, not(loom)))]
mod exchange_tests;
mod handover;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod pool_tests;
mod reuse;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::arena::Arena;
use super::books::Books;
use super::pools::{FreeSlot, Pool, PoolSettings};
use super::retired::Retired;
use super::slot::{FREE, LIVE, PES_END, SENT, Slot, pe_of, tag};
use crate::{Handle, IsPortable, Region, prefetch, prefetch_write};

/// One processing element's (PE's) view of the event buffers that all PEs share.
///
/// A buffer holds one message, and this one copy serves both sender and receiver. The sender writes
/// the message into a buffer of its own, which belongs to the receiver from then on. It keeps the
/// handle, with which it can still [cancel](Self::cancel) the message.
///
/// The [pool](crate::PoolKind) decides where a free buffer waits and who takes it next. By default
/// each PE keeps one free list per _partner_, the PE that the buffers go to and come from: a buffer
/// that it frees goes back with one of its next messages to that partner. So two PEs that exchange
/// messages pass the same buffers back and forth, and no lock is needed (Fujimoto & Panesar,
/// _Buffer management in shared-memory Time Warp_, PADS 1995). The last buffer freed is the next
/// one taken, while it is still in the cache.
///
/// A buffer belongs to one PE at a time. Using a handle whose buffer belongs to another PE, or is
/// free, is a bug in the engine and panics.
///
/// ```
/// use warpline_memory::{CancelOutcome, buffers};
///
/// let mut views = buffers(2);
/// let mut receiver = views.pop().unwrap();
/// let mut sender = views.pop().unwrap();
/// let handle = sender.insert(1, "hello");
/// // The handle goes to the other PE, say through a ring.
/// receiver.accept(handle);
/// assert!(receiver.begin(handle));
/// assert_eq!(*receiver.get(handle), "hello");
/// assert_eq!(sender.cancel(handle), CancelOutcome::Processed);
/// assert!(!receiver.undo(handle));
/// receiver.release(handle);
/// ```
pub struct Buffers<T> {
    arena: Arena<T>,
    me: u32,
    /// The tag of live slots of this PE.
    mine: u32,
    /// Free slots. Those that are not in a common list belong to this PE alone.
    pool: Pool,
    /// Slots of executed messages, reused once these are over; `None` if slots are freed one by one
    /// instead.
    retired: Option<Retired>,
    counts: Counts,
    /// Not `Sync`: values need only be `Send`, so two threads must not reach the one that `get`
    /// returns.
    not_sync: PhantomData<Cell<T>>,
}

/// What this PE has done with buffers, as its [`Books`] say.
#[derive(Default)]
struct Counts {
    inserted: u64,
    released: u64,
    given: u64,
    accepted: u64,
    returned: u64,
    taken_back: u64,
}

/// One view per PE of the buffers that this many PEs share, by PE, with default settings.
///
/// # Panics
/// If `pes` is not in 1..=16777215.
pub fn buffers<T>(pes: u32) -> Vec<Buffers<T>> {
    buffers_in(&Region::own(), None, pes, PoolSettings::default())
}

/// As [`buffers`], in a region. If processes share the region, values must be portable; each
/// process has the views of all PEs, but may use one only if no other process does.
///
/// # Panics
/// As [`buffers`]; also if processes share the region without a proof that values are portable.
pub fn buffers_in<T>(
    region: &Region,
    portable: Option<IsPortable<T>>,
    pes: u32,
    settings: PoolSettings,
) -> Vec<Buffers<T>> {
    buffers_of(region, portable, (pes, 0..pes), settings)
}

/// As [`buffers_in`], but only the views of the PEs `mine` of `pes`: a process needs no others.
///
/// # Panics
/// As [`buffers_in`].
pub fn buffers_of<T>(
    region: &Region,
    portable: Option<IsPortable<T>>,
    (pes, mine): (u32, Range<u32>),
    settings: PoolSettings,
) -> Vec<Buffers<T>> {
    assert!((1..PES_END).contains(&pes), "buffers serve 1 to {} PEs, not {pes}", PES_END - 1);
    let arena = Arena::new(region, portable);
    let pools = Pool::of(region, (pes, mine.clone()), settings).into_iter().zip(mine);
    pools
        .map(|(pool, me)| {
            let retired = settings.retires.then(|| Retired::new(pool.partners()));
            Buffers::new(arena.share(), me, pool, retired)
        })
        .collect()
}

// Invariant: a slot's tag, partner and value are written by one PE at a time, its keeper. The
// keeper of a FREE slot is whoever has its `FreeSlot`, and that passes from one PE to another only
// behind a lock; the keeper of any other slot is the PE in the tag. Each PE has one view, so only
// one method with `&mut self` acts as keeper at a time; only the keeper writes the tag, passes the
// slot on as SENT or EMPTY, and takes it by accepting. So if a borrowed view finds the tag LIVE
// with `me`, it stays so for as long as the borrow lasts. That holds even for handles that callers
// make up, as no other word that they can write decides who keeps a slot.
impl<T> Buffers<T> {
    fn new(arena: Arena<T>, me: u32, pool: Pool, retired: Option<Retired>) -> Self {
        Buffers {
            arena,
            me,
            mine: tag(LIVE, me),
            pool,
            retired,
            counts: Counts::default(),
            not_sync: PhantomData,
        }
    }

    /// The slot at a handle, which must be a live one of this PE.
    #[inline(always)]
    fn slot(&self, handle: Handle) -> &Slot<T> {
        self.arena.owned(self.mine, handle)
    }

    /// The PE whose view this is.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// Puts a value into a free buffer for PE `to`. If that is this PE itself, the message is local
    /// and the buffer stays here; otherwise it is in flight until that PE [accepts](Self::accept)
    /// it. The message is pending and has no link to another one.
    ///
    /// # Panics
    /// If there is no such PE. If there is no number or no memory for another buffer, it
    /// [unwinds](crate::Exhausted::unwind).
    #[inline]
    pub fn insert(&mut self, to: u32, value: T) -> Handle {
        self.insert_with(to, 0, None, || value)
    }

    /// Like [`insert`](Self::insert), with a mark for [`begin_if`](Self::begin_if), a link to the
    /// [previous](Self::next) message of the same event, and the value constructed in place rather
    /// than moved there.
    ///
    /// # Panics
    /// Likewise.
    #[inline(always)]
    pub fn insert_with(
        &mut self,
        to: u32,
        mark: u32,
        next: Option<Handle>,
        value: impl FnOnce() -> T,
    ) -> Handle {
        let free = match self.pool.take(to, &self.arena) {
            Some(free) => free,
            None => self.find_free(to),
        };
        let handle = Handle::from_bits(free.number());
        let slot = self.arena.found(handle);
        // The buffer will return here, so its partner is this PE, even if local.
        // SAFETY: the slot is free and belongs to this PE alone, which has its `FreeSlot`.
        unsafe { slot.fill(self.me, mark, next, value) };
        let local = to == self.me;
        // Whoever accepts it may read all that was written above.
        slot.send(if local { self.mine } else { tag(SENT, to) });
        self.counts.inserted += 1;
        self.counts.given += u64::from(!local);
        handle
    }

    /// The value in a buffer.
    ///
    /// # Panics
    /// If the buffer is free or belongs to another PE. So do all methods here that take a handle,
    /// unless they say otherwise.
    #[inline]
    pub fn get(&self, handle: Handle) -> &T {
        let slot = self.slot(handle);
        // SAFETY: the slot is live and belongs to this PE, so it has a value, and stays so while
        // the view is borrowed: writing or dropping the value takes `&mut` of this view.
        unsafe { slot.value() }
    }

    /// Drops the value in a buffer and frees it. Returns its partner.
    #[inline]
    pub fn release(&mut self, handle: Handle) -> u32 {
        let (value, partner) = self.take_out(handle);
        // This comes last, as it may panic.
        drop(value);
        partner
    }

    /// Takes the value out of a buffer and frees it.
    ///
    /// # Panics
    /// If this PE has no value there.
    #[inline]
    pub fn take(&mut self, handle: Handle) -> T {
        self.take_out(handle).0
    }

    /// Frees a buffer of this PE. Returns its value and its partner.
    #[inline(always)]
    fn take_out(&mut self, handle: Handle) -> (T, u32) {
        let slot = self.slot(handle);
        let partner = slot.partner();
        // Only this PE acts on the slot before it gives it away again.
        slot.set_tag(FREE);
        // SAFETY: the slot was live and belonged to this PE, so it had a value; as its tag is
        // `FREE` now, nobody will reach that value again.
        let value = unsafe { slot.take() };
        // Only now, as another PE may take it out of the pool at once.
        self.pool.give(partner, FreeSlot::new(handle.bits()), &self.arena);
        self.counts.released += 1;
        (value, partner)
    }

    /// Where processes share the buffers, drops the values that this PE has and those on their way
    /// to it; elsewhere, they are dropped with the last view. To be called when no PE uses its view
    /// any more.
    pub fn drop_rest(self) {
        if self.arena.is_shared() {
            self.arena.drop_tagged([self.mine, tag(SENT, self.me)]);
        }
    }

    /// The message that this one links to. Its sender may ask even while the receiver has the
    /// buffer.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn next(&self, handle: Handle) -> Option<Handle> {
        // The sender wrote the link itself. The receiver overwrites it only when the sender has
        // cancelled the message, or can no longer cancel it.
        self.arena.found(handle).next()
    }

    /// Links a message to another one of the same event. Only its sender may do so, while it can
    /// still cancel the message.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn set_next(&self, handle: Handle, next: Option<Handle>) {
        // As in `next`, nobody else reads or writes it meanwhile.
        self.arena.found(handle).set_next(next);
    }

    /// Prefetches the first cache line of a buffer, if there is one at the handle. It never panics.
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

    /// The PE that a buffer came from and returns to.
    #[cfg(test)]
    fn partner(&self, handle: Handle) -> u32 {
        self.slot(handle).partner()
    }

    /// The PE that a buffer belongs to, or will when it has arrived. Any PE may ask.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn owner(&self, handle: Handle) -> u32 {
        // The sender wrote the receiver here itself.
        pe_of(self.arena.found(handle).tag())
    }

    /// How many buffers this PE has used, sent and received, and how many it has now.
    pub fn books(&self) -> Books {
        let Counts { inserted, released, given, accepted, returned, taken_back } = self.counts;
        let redistributed = self.pool.redistributed();
        Books {
            inserted,
            released,
            given,
            accepted,
            returned,
            taken_back,
            deposited: redistributed.deposited(),
            withdrawn: redistributed.withdrawn(),
            live: inserted + accepted - released - given,
            places: self.pool.places(),
            free: self.pool.free() + self.retired.as_ref().map_or(0, Retired::len),
        }
    }
}

impl<T> Buffers<T> {
    /// How much memory the buffers made by this PE take, with their numbers, in bytes, wherever
    /// they are now; those never used do not count.
    pub fn bytes(&self) -> usize {
        (size_of::<Slot<T>>() + size_of::<u32>()) * self.pool.places() as usize
    }

    /// How many messages could be sent without making new buffers.
    pub fn available(&self) -> u64 {
        self.pool.available()
    }
}

impl<T> fmt::Debug for Buffers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers")
            .field("me", &self.me)
            .field("books", &self.books())
            .finish_non_exhaustive()
    }
}
