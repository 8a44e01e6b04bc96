//! The slots that all processing elements (PEs) share, numbered by 32 bits, in memory that never
//! moves.

use std::alloc::Layout;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::slot::{FREE, LIVE, SENT, Slot, phase};
use crate::alloc::{Exhausted, MakeRoom, Pages};
use crate::sync::{Arc, AtomicPtr, AtomicU32, Ordering};
use crate::{Common, Handle, IsPortable, Region, drop_each};

#[cfg(not(any(miri, loom)))]
pub(crate) const SEGMENT_BITS: u32 = 12;
#[cfg(any(miri, loom))]
pub(crate) const SEGMENT_BITS: u32 = if cfg!(loom) { 1 } else { 4 };
const SEGMENT: u32 = 1 << SEGMENT_BITS;

#[cfg(not(any(miri, loom)))]
const SEGMENTS: u32 = 1 << (32 - SEGMENT_BITS);
// Miri looks at every atomic of a list whenever a reference to the list is made.
#[cfg(any(miri, loom))]
const SEGMENTS: u32 = if cfg!(loom) { 5 } else { 64 };

/// The most segments taken at once.
const MOST: u32 = 4096;

/// The address of each segment of slots: null until it is made, then fixed.
type Directory<T> = [AtomicPtr<Slot<T>>; SEGMENTS as usize];

struct ArenaMemory<T> {
    directory: Common<Directory<T>>,
    /// How many segments have been numbered.
    claimed: Common<AtomicU32>,
    region: Region,
    /// All memory for slots, but none that processes share: that stays until all of it goes.
    slabs: Mutex<Vec<Slab>>,
}

/// Memory for slots.
struct Slab {
    pages: Pages,
    /// How many slots lie in it.
    slots: usize,
}

/// A share of the slots' memory, which is freed with the last share.
pub(crate) struct Arena<T> {
    shared: Arc<ArenaMemory<T>>,
    /// The directory of `shared`, without a detour.
    directory: Common<Directory<T>>,
    /// Not `Sync`: without this it would be, as the directory's pointers are, whatever they lead
    /// to.
    not_sync: PhantomData<Cell<T>>,
}

// SAFETY: any thread reaches the directory through atomics only. Only the PE that owns a value
// reaches it, which `Buffers` ensures, and the thread of the last share drops what is left: both
// are allowed, as values are `Send`.
unsafe impl<T: Send> Send for Arena<T> {}

impl<T> Arena<T> {
    /// No slots, in a region. If processes share that, values must be portable.
    pub(crate) fn new(region: &Region, portable: Option<IsPortable<T>>) -> Self {
        let directory = match region.segment() {
            None => Common::own(directory()),
            Some(segment) => {
                assert!(
                    portable.is_some(),
                    "only portable values can lie in memory that processes share"
                );
                let place = segment.place(size_of::<Directory<T>>(), align_of::<Directory<T>>());
                // SAFETY: the place is large enough and aligned, and its zeros are null pointers.
                unsafe { Common::placed(place.cast(), segment.clone()) }
            }
        };
        let claimed = region.place(AtomicU32::new(0));
        let shared = Arc::new(ArenaMemory {
            directory: directory.clone(),
            claimed,
            region: region.clone(),
            slabs: Mutex::default(),
        });
        Arena { shared, directory, not_sync: PhantomData }
    }

    /// Another share of the same memory.
    pub(crate) fn share(&self) -> Self {
        Arena {
            shared: self.shared.clone(),
            directory: self.directory.clone(),
            not_sync: PhantomData,
        }
    }

    /// The slot of this number, if it has been made.
    #[inline(always)]
    pub(crate) fn slot(&self, number: u32) -> Option<&Slot<T>> {
        // Acquire pairs with the Release of `grow`, which publishes the zeros of the slots.
        let segment =
            self.directory.get((number >> SEGMENT_BITS) as usize)?.load(Ordering::Acquire);
        if segment.is_null() {
            return None;
        }
        // SAFETY: a segment has SEGMENT slots, which are valid from before it is in the directory,
        // and stay in place until the last share is dropped. Only shared references to them are
        // made; all they hold is atomic or in an `UnsafeCell`.
        Some(unsafe { &*segment.add((number % SEGMENT) as usize) })
    }

    /// The slot at a handle, whichever PE it belongs to.
    #[inline(always)]
    pub(crate) fn found(&self, handle: Handle) -> &Slot<T> {
        match self.slot(handle.bits()) {
            Some(slot) => slot,
            None => stale(handle),
        }
    }

    /// The slot at a handle, which must have the tag `mine`, that of the caller's live slots.
    #[inline(always)]
    pub(crate) fn owned(&self, mine: u32, handle: Handle) -> &Slot<T> {
        let slot = self.found(handle);
        // Relaxed suffices: only this PE writes this tag, and only it replaces it.
        if slot.tag() != mine {
            stale(handle);
        }
        slot
    }

    /// Drops all values in slots with one of these tags, and frees the slots. The caller is the
    /// keeper of these slots.
    pub(crate) fn drop_tagged(&self, tags: [u32; 2]) {
        if !needs_drop::<T>() {
            return;
        }
        // Relaxed: slots that the caller keeps were made long ago.
        let end = self.shared.claimed.load(Ordering::Relaxed) * SEGMENT;
        for slot in (0..end).filter_map(|number| self.slot(number)) {
            if tags.contains(&slot.arrived_tag()) {
                slot.set_tag(FREE);
                // SAFETY: a slot in the phases of values had one, and belonged to the caller; by
                // its tag it has none now.
                drop_each([unsafe { slot.take() }]);
            }
        }
    }

    /// Whether processes share it.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.region.is_shared()
    }

    /// Makes up to `segments` segments of slots, at least one, in one piece of memory. Their
    /// numbers belong to the caller alone.
    #[cold]
    pub(crate) fn grow(&self, segments: u32) -> Range<u32> {
        const END: u32 = SEGMENTS - 1;
        let claimed = &self.shared.claimed;
        // Relaxed, here and below: the counter only hands out numbers.
        let wanted = segments.clamp(1, MOST).min(END - claimed.load(Ordering::Relaxed));
        if wanted == 0 {
            Exhausted::Numbers.unwind();
        }
        let new = |segments| Some((self.slots(segments)?, segments));
        let (start, count) = new(wanted)
            .or_else(|| new(1))
            .unwrap_or_else(|| no_buffers(SEGMENT as usize * size_of::<Slot<T>>()));
        let claim = |first: u32| (first < END).then(|| (first + count).min(END));
        let first = claimed
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim)
            .unwrap_or_else(|_| Exhausted::Numbers.unwind());
        let end = (first + count).min(END);
        for segment in first..end {
            // SAFETY: `count` >= `end` - `first` segments lie one after the other from `start` on.
            let pointer = unsafe { start.add(((segment - first) * SEGMENT) as usize) };
            // Release pairs with the Acquire of `slot`.
            self.shared.directory[segment as usize].store(pointer.as_ptr(), Ordering::Release);
        }
        first * SEGMENT..end * SEGMENT
    }

    /// Memory for this many segments, with all slots valid and free.
    fn slots(&self, segments: u32) -> Option<NonNull<Slot<T>>> {
        let slots = (segments * SEGMENT) as usize;
        let layout = Layout::array::<Slot<T>>(slots).ok()?;
        if let Some(segment) = self.shared.region.segment() {
            return segment.grow(layout.size(), layout.align()).map(NonNull::cast);
        }
        let pages = Pages::zeroed(layout.size(), layout.align())?;
        let start = pages.start().cast();
        // All zeros is a free slot already, except under loom.
        #[cfg(loom)]
        for index in 0..slots {
            // SAFETY: the slot lies within the new memory, which is aligned for it and nobody
            // else's.
            unsafe { pages.start().cast::<Slot<T>>().add(index).write(Slot::free()) };
        }
        // Recorded here, so that whatever is in the directory is in the list, too.
        let mut slabs = self.shared.slabs.lock().unwrap_or_else(PoisonError::into_inner);
        slabs.make_room(1, "the list of buffers");
        slabs.push(Slab { pages, slots });
        Some(start)
    }
}

/// A directory of nulls, whose untouched pages cost nothing.
#[cfg(not(loom))]
fn directory<T>() -> Box<Directory<T>> {
    use std::alloc::alloc_zeroed;
    let layout = Layout::new::<Directory<T>>();
    // SAFETY: the layout is not of size zero.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        no_buffers(layout.size());
    }
    // SAFETY: the memory was just allocated for this very type, as a box does, and zeros are null
    // pointers.
    unsafe { Box::from_raw(memory.cast()) }
}

#[cfg(loom)]
fn directory<T>() -> Box<Directory<T>> {
    Box::new(std::array::from_fn(|_| AtomicPtr::default()))
}

#[cold]
#[inline(never)]
pub(super) fn stale(handle: Handle) -> ! {
    panic!("no value of this PE at {handle:?}: it was released or given away before")
}

#[cold]
fn no_buffers(bytes: usize) -> ! {
    Exhausted::Memory { what: "events in buffers", bytes }.unwind()
}

impl<T> Drop for ArenaMemory<T> {
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        for slab in self.slabs.get_mut().unwrap_or_else(PoisonError::into_inner) {
            for index in 0..slab.slots {
                // SAFETY: the slots in the slab are valid. No share is left, and so no PE; what PEs
                // did happens before the end of the last share.
                let slot = unsafe { slab.pages.start().cast::<Slot<T>>().add(index).as_ref() };
                // No Acquire: the end of the shares has synchronised already.
                if matches!(phase(slot.tag()), LIVE | SENT) {
                    // SAFETY: a slot in these phases has a value; no slot is visited twice.
                    drop_each([unsafe { slot.take() }]);
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::catch_exhausted;

    #[test]
    fn numbers_end_with_the_last_segment_but_one() {
        let arena = Arena::<()>::new(&Region::own(), None);
        arena.shared.claimed.store(SEGMENTS - 4, Ordering::Relaxed);
        let range = (SEGMENTS - 4) * SEGMENT..(SEGMENTS - 1) * SEGMENT;
        assert_eq!(arena.grow(100), range);
        assert_eq!(
            arena.shared.slabs.lock().unwrap()[0].slots,
            range.len(),
            "memory for as many as can be numbered"
        );
        assert!(arena.slot(range.start - 1).is_none() && arena.slot(range.start).is_some());
        assert!(arena.slot(range.end - 1).is_some() && arena.slot(range.end).is_none());
        assert_eq!(catch_exhausted(|| arena.grow(1)), Err(Exhausted::Numbers));
        assert!(!arena.shared.slabs.is_poisoned());
    }
}
