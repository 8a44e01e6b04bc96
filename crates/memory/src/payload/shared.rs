//! Blocks for payloads in memory that processes share. Each process takes blocks from its own heap.
//! Blocks of another process that it frees and does not use again go back to that process.
//!
//! An address stands for a heap and an item in it (E. Lynch, G. Riley and S. Hampton, the heaps of
//! §4). In the paper, an item whose count has reached zero is kept until GVT has passed that time
//! (_time to zero_), for rollbacks that revive it. Here it can be reused at once: as long as a
//! rollback may need it, it is held by the event that brought it, which is in the history, or by a
//! copy of a state.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::area::{AREA_BYTES, Area, PIECE_BYTES};
use super::classes::{SHARED_CLASSES as CLASSES, block_bytes};
use super::clean::Clean;
use super::free_list::{Block, FreeList};
use crate::Exhausted;
use crate::alloc::files::{is_in_any, zero};
use crate::sync::Arc;

thread_local! {
    /// Where the memory begins in which this thread's payloads lie; 0 if they lie in the memory of
    /// its process.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// All memory that this process shares and has payloads in, by address: of each run under way, and
/// of those that are over as long as there are payloads of theirs.
static HEAPS: Mutex<BTreeMap<usize, Heap>> = Mutex::new(BTreeMap::new());

/// This process's blocks in the memory of a run.
struct Heap {
    area: Arc<Area>,
    classes: [Class; CLASSES],
    /// The run is over: nobody takes blocks any more.
    is_over: bool,
}

struct Class {
    free: FreeList,
    /// Blocks that have never been used: where they begin, and how many there are.
    fresh: Option<NonNull<u8>>,
    fresh_blocks: usize,
}

// SAFETY: the blocks are this process's, wherever the lock lets a thread reach them.
unsafe impl Send for Class {}

const NO_BLOCKS: [Class; CLASSES] = {
    const NONE: Class = Class { free: FreeList::new(), fresh: None, fresh_blocks: 0 };
    [NONE; CLASSES]
};

type Heaps = BTreeMap<usize, Heap>;

fn heaps() -> MutexGuard<'static, Heaps> {
    HEAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The heap that an address lies in.
fn heap_at(heaps: &mut Heaps, address: usize) -> Option<&mut Heap> {
    let (start, heap) = heaps.range_mut(..=address).next_back()?;
    (address - start < AREA_BYTES).then_some(heap)
}

/// Threads have given so many blocks back. With the last of a run that is over, its memory goes.
fn note_given(heaps: &mut Heaps, address: usize, blocks: usize) {
    let Some(heap) = heap_at(heaps, address) else { return };
    if heap.area.note_given(blocks) <= 0 && heap.is_over {
        let start = heap.area.address();
        heaps.remove(&start);
    }
}

/// From now on, payloads may lie in an area; `None` if there is no memory for them.
pub(crate) fn begin(area: &Arc<Area>) -> Option<()> {
    let mut heaps = heaps();
    if let Entry::Vacant(place) = heaps.entry(area.address()) {
        area.begin()?;
        place.insert(Heap { area: area.clone(), classes: NO_BLOCKS, is_over: false });
    }
    Some(())
}

/// From now on, no new payloads lie in this area.
pub(crate) fn end(area: &Arc<Area>) {
    let mut heaps = heaps();
    let Some(heap) = heaps.get_mut(&area.address()).filter(|heap| !heap.is_over) else { return };
    heap.is_over = true;
    heap.classes = NO_BLOCKS;
    area.trim();
    note_given(&mut heaps, area.address(), 0);
}

/// From now on, this thread's payloads lie in this area, if any may, or in the memory of its
/// process. Returns where they lay.
pub(crate) fn enter(area: Option<&Arc<Area>>) -> usize {
    let is_open = |start: &usize| heaps().get(start).is_some_and(|heap| !heap.is_over);
    CURRENT.replace(area.map(|area| area.address()).filter(is_open).unwrap_or_default())
}

/// The thread's payloads lie again where they lay.
pub(crate) fn go_back(memory: usize) {
    CURRENT.set(memory);
}

/// The number of the memory in which this thread's payloads lie: its address; 0 if it is that of
/// the process.
#[inline(always)]
pub(super) fn current() -> usize {
    CURRENT.get()
}

/// The length of a payload without bytes, which all processes can read for ever.
pub(super) fn empty() -> Option<NonNull<usize>> {
    zero()
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the memory of this process.
    Own,
    /// In the memory that this thread's payloads lie in: which.
    Shared(usize),
    /// In that of a run that this thread has no part in, or none any more.
    Elsewhere,
}

#[inline(always)]
pub(super) fn place_of(block: NonNull<u8>) -> Place {
    let address = block.addr().get();
    if !is_in_any(address) {
        return Place::Own;
    }
    let memory = current();
    // There is no area at 0, and no payload within its length of that.
    if address.wrapping_sub(memory) < AREA_BYTES { Place::Shared(memory) } else { Place::Elsewhere }
}

/// Takes up to `most` blocks, at least one, from this memory; `None` if its run is over.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub(super) fn take(memory: usize, class: usize, most: usize) -> Option<FreeList> {
    let mut heaps = heaps();
    let heap = heaps.get_mut(&memory).filter(|heap| !heap.is_over)?;
    let area = heap.area.clone();
    let Class { free, fresh, fresh_blocks } = &mut heap.classes[class];
    if free.len() == 0 {
        area.returned(area.process()).take(class, free);
    }
    let mut taken = FreeList::new();
    while taken.len() < most {
        let block = match free.pop() {
            Some(block) => block,
            None => {
                if *fresh_blocks == 0 {
                    if taken.len() > 0 {
                        break;
                    }
                    let blocks = (PIECE_BYTES / block_bytes(class)).max(1);
                    let grow = |blocks| Some((area.take(blocks * block_bytes(class))?, blocks));
                    let (start, blocks) =
                        grow(blocks).or_else(|| grow(1)).unwrap_or_else(|| no_memory(class));
                    (*fresh, *fresh_blocks) = (Some(start), blocks);
                }
                let Some(start) = *fresh else { no_memory(class) };
                *fresh_blocks -= 1;
                // SAFETY: there are `fresh_blocks` more blocks behind this one; nobody looks beyond
                // the last.
                *fresh = Some(unsafe { start.add(block_bytes(class)) });
                // The file in memory that the segment maps is zeros at first.
                Block::new(start, Clean::behind_header(block_bytes(class)))
            }
        };
        // SAFETY: the block is in no other list, and clean where it says so.
        unsafe { taken.push(block) };
    }
    area.note_taken(taken.len());
    Some(taken)
}

/// Gives a block back that lies [elsewhere](Place::Elsewhere).
///
/// # Safety
/// Nobody uses it any more, and it is of this class.
pub(super) unsafe fn give_elsewhere(block: Block, class: usize) {
    let mut list = FreeList::default();
    // SAFETY: the caller gives the block away.
    unsafe { list.push(block) };
    // SAFETY: likewise.
    unsafe { give(block.start().addr().get(), class, list) };
}

/// Gives blocks back to the processes that have made them.
///
/// # Safety
/// Nobody uses them any more, they are of this class, and they lie in the memory that this address
/// lies in.
pub(super) unsafe fn give(address: usize, class: usize, mut blocks: FreeList) {
    let mut heaps = heaps();
    let given = blocks.len();
    if let Some(heap) = heap_at(&mut heaps, address).filter(|heap| !heap.is_over) {
        let area = &heap.area;
        while let Some(block) = blocks.pop() {
            let owner = area.owner(block.start().addr().get());
            if owner == area.process() {
                // SAFETY: the block has just left the other list.
                unsafe { heap.classes[class].free.push(block) };
                continue;
            }
            // SAFETY: the block has just left the other list, and the owner has made it, as all of
            // its class.
            unsafe { area.returned(owner).give(class, block) };
        }
    }
    note_given(&mut heaps, address, given);
}

#[cold]
fn no_memory(class: usize) -> ! {
    Exhausted::Memory { what: "a payload", bytes: block_bytes(class) }.unwind()
}
