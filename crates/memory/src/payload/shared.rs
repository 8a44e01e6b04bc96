//! Blocks for payloads in memory that processes share. Each process takes blocks from its own heap. Blocks of another process that it frees
//! and does not use again go back to that process.
//!
//! An address stands for a heap and an item in it (E. Lynch, G. Riley and S. Hampton, the heaps of §4). An item whose count reaches zero
//! can be reused at once: as long as a rollback may still need it, it is held by the event that brought it, which is in the history, or by
//! a copy of a state. That is the paper's _time to zero_.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chunks::{Block, FreeBlock, FreeList};
use super::classes::{SHARED_CLASSES as CLASSES, block_bytes};
use super::clean::Clean;
use crate::segment::{Segment, is_in_any};
use crate::sync::Arc;
use crate::{Common, Exhausted};

/// How many bytes a heap grows at a time.
const GROWTH: usize = 1 << 20;

/// Where the memory that is in use at present begins, and its length; both 0 if there is none.
static START: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// The length of all payloads without bytes there.
static EMPTY: AtomicPtr<usize> = AtomicPtr::new(std::ptr::null_mut());
static HEAP: Mutex<Heap> = Mutex::new(Heap::none());

/// The blocks of a process that others have freed: the head of a list for each class.
#[derive(Debug, Default)]
pub(crate) struct Returned([AtomicPtr<FreeBlock>; CLASSES]);

/// This process's blocks.
struct Heap {
    segment: Option<Arc<Segment>>,
    /// By process.
    returned: Option<Common<[Returned]>>,
    classes: [Class; CLASSES],
}

struct Class {
    free: FreeList,
    /// Blocks that have never been used: where they begin, and how many there are.
    fresh: Option<NonNull<u8>>,
    fresh_blocks: usize,
}

// SAFETY: the blocks are this process's, wherever the lock lets a thread reach them.
unsafe impl Send for Class {}

impl Heap {
    const fn none() -> Self {
        const NONE: Class = Class { free: FreeList::new(), fresh: None, fresh_blocks: 0 };
        Heap { segment: None, returned: None, classes: [NONE; CLASSES] }
    }
}

fn heap() -> MutexGuard<'static, Heap> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, payloads of this process lie in a segment. So do `returned`, by process, and `empty`, the length of payloads without bytes.
pub(crate) fn begin(segment: &Arc<Segment>, returned: Common<[Returned]>, empty: &usize) {
    EMPTY.store(std::ptr::from_ref(empty).cast_mut(), Ordering::Release);
    *heap() = Heap { segment: Some(segment.clone()), returned: Some(returned), ..Heap::none() };
    // Never unmapped, as payloads do not keep the segment alive.
    std::mem::forget(segment.clone());
    START.store(segment.start().addr().get(), Ordering::Release);
    BYTES.store(segment.bytes(), Ordering::Release);
}

/// From now on, payloads lie in the memory of this process again.
pub(crate) fn end() {
    BYTES.store(0, Ordering::Release);
}

/// The number of the memory in use at present: its address; 0 if there is none.
#[inline(always)]
pub(super) fn current() -> usize {
    // Relaxed: blocks are taken under a lock, or from lists that were filled under it.
    if BYTES.load(Ordering::Relaxed) == 0 { 0 } else { START.load(Ordering::Relaxed) }
}

/// The length of a payload without bytes that all processes can read.
pub(super) fn empty() -> Option<NonNull<usize>> {
    NonNull::new(EMPTY.load(Ordering::Acquire))
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the memory of this process.
    Own,
    /// In memory that processes share at present.
    Shared,
    /// In memory that they shared once. Nobody frees it any more.
    Past,
}

#[inline(always)]
pub(super) fn place_of(block: NonNull<u8>) -> Place {
    let address = block.addr().get();
    if !is_in_any(address) {
        Place::Own
    } else if address.wrapping_sub(START.load(Ordering::Relaxed)) < BYTES.load(Ordering::Relaxed) {
        Place::Shared
    } else {
        Place::Past
    }
}

/// Takes up to `most` blocks, at least one.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub(super) fn take(class: usize, most: usize) -> FreeList {
    let heap = &mut *heap();
    let (Some(segment), Some(returned)) = (&heap.segment, &heap.returned) else { no_memory(class) };
    let Class { free, fresh, fresh_blocks } = &mut heap.classes[class];
    if free.blocks == 0 {
        // Acquire pairs with the Release of `give`: those who freed the blocks are done with them.
        let mut next = returned[segment.process() as usize].0[class].swap(std::ptr::null_mut(), Ordering::Acquire);
        while let Some(block) = NonNull::new(next) {
            // SAFETY: the block was given back by a process that has written this, and is nobody else's now.
            unsafe {
                let FreeBlock { next: behind, clean } = block.read();
                next = behind.map_or(std::ptr::null_mut(), NonNull::as_ptr);
                free.push(Block { start: block.cast(), clean });
            }
        }
    }
    let mut taken = FreeList::new();
    while taken.blocks < most {
        let block = match free.pop() {
            Some(block) => block,
            None => {
                if *fresh_blocks == 0 {
                    if taken.blocks > 0 {
                        break;
                    }
                    let blocks = (GROWTH / block_bytes(class)).max(1);
                    let grow = |blocks| Some((segment.grow(blocks * block_bytes(class), 64)?, blocks));
                    let (start, blocks) = grow(blocks).or_else(|| grow(1)).unwrap_or_else(|| no_memory(class));
                    (*fresh, *fresh_blocks) = (Some(start), blocks);
                }
                let Some(start) = *fresh else { no_memory(class) };
                *fresh_blocks -= 1;
                // SAFETY: there are `fresh_blocks` more blocks behind this one; nobody looks beyond the last.
                *fresh = Some(unsafe { start.add(block_bytes(class)) });
                // The file in memory that the segment maps is zeros at first.
                Block { start, clean: Clean::behind_header(block_bytes(class)) }
            }
        };
        // SAFETY: the block is in no other list, and clean where it says so.
        unsafe { taken.push(block) };
    }
    taken
}

/// Gives blocks back to the processes whose heaps they are from.
///
/// # Safety
/// Nobody uses them any more, and they lie in the memory that is shared at present.
pub(super) unsafe fn give(class: usize, mut blocks: FreeList) {
    let heap = &mut *heap();
    let (Some(segment), Some(returned)) = (&heap.segment, &heap.returned) else { return };
    while let Some(block) = blocks.pop() {
        let owner = segment.heap_of(block.start.addr().get());
        if owner == segment.process() {
            // SAFETY: the block has just left the other list.
            unsafe { heap.classes[class].free.push(block) };
            continue;
        }
        let (list, clean, block) = (&returned[owner as usize].0[class], block.clean, block.start.cast::<FreeBlock>());
        let mut first = list.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block is nobody else's until the exchange below has succeeded.
            unsafe { block.write(FreeBlock { next: NonNull::new(first), clean }) };
            // Release pairs with the Acquire of `take`.
            match list.compare_exchange_weak(first, block.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
    }
}

#[cold]
fn no_memory(class: usize) -> ! {
    Exhausted::Memory { what: "a payload", bytes: block_bytes(class) }.unwind()
}
