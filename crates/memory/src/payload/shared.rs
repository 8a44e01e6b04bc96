//! Blocks for payloads in memory that processes share. Each process takes blocks from its own heap.
//! A block of another process that it frees, and does not use again, goes back to that process.
//!
//! An address stands for a heap and an item in it (E. Lynch, G. Riley and S. Hampton, the heaps of
//! §4). In the paper, an item whose count has reached zero is kept until GVT has passed that time
//! (_time to zero_), for rollbacks that revive it. Here it can be reused at once: as long as a
//! rollback may need it, it is held by the event that brought it, which is in the history, or by a
//! copy of a state.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;
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
    /// The memory in which this thread's payloads lie; `None` if it is that of the process.
    static CURRENT: Cell<Option<Memory>> = const { Cell::new(None) };
}

/// All memory that this process shares and has payloads in, by address: of each run under way, and
/// of earlier runs as long as there are payloads of theirs.
static HEAPS: Mutex<Heaps> = Mutex::new(BTreeMap::new());

type Heaps = BTreeMap<usize, Heap>;

/// Memory for payloads that processes share, by the address where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory(NonZeroUsize);

impl Memory {
    /// The memory in which this thread's payloads lie.
    #[inline(always)]
    pub(super) fn current() -> Option<Memory> {
        CURRENT.get()
    }

    #[inline(always)]
    fn contains(self, address: usize) -> bool {
        address.wrapping_sub(self.0.get()) < AREA_BYTES
    }
}

/// This process's blocks in the memory of a run.
struct Heap {
    area: Arc<Area>,
    classes: [Class; CLASSES],
    /// The run is over: nobody takes blocks any more.
    is_over: bool,
}

struct Class {
    free: FreeList,
    fresh: Option<Fresh>,
}

/// Blocks that have never been used.
struct Fresh {
    /// Where they begin.
    start: NonNull<u8>,
    /// How many there are, at least one.
    blocks: usize,
}

// SAFETY: the blocks are this process's, wherever the lock lets a thread reach them.
unsafe impl Send for Fresh {}

const NO_BLOCKS: [Class; CLASSES] = {
    const NONE: Class = Class { free: FreeList::new(), fresh: None };
    [NONE; CLASSES]
};

impl Fresh {
    /// New blocks of an area: a piece full of them, or one if there is not enough memory.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    fn of(area: &Area, class: usize) -> Self {
        let of = |blocks| Some(Fresh { start: area.take(blocks * block_bytes(class))?, blocks });
        of((PIECE_BYTES / block_bytes(class)).max(1))
            .or_else(|| of(1))
            .unwrap_or_else(|| no_memory(class))
    }

    /// Takes out the first block. Returns the rest, if there is one.
    fn split(self, class: usize) -> (Block, Option<Fresh>) {
        // The file in memory that the segment maps is zeros at first.
        let block = Block::new(self.start, Clean::behind_header(block_bytes(class)));
        let blocks = self.blocks - 1;
        let rest = (blocks > 0).then(|| {
            // SAFETY: there are more blocks behind this one.
            Fresh { start: unsafe { self.start.add(block_bytes(class)) }, blocks }
        });
        (block, rest)
    }
}

impl Class {
    /// A block that has been freed, or else one that has never been used.
    fn pop(&mut self, class: usize) -> Option<Block> {
        if let Some(block) = self.free.pop() {
            return Some(block);
        }
        let (block, rest) = self.fresh.take()?.split(class);
        self.fresh = rest;
        Some(block)
    }
}

fn heaps() -> MutexGuard<'static, Heaps> {
    HEAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The heap that an address lies in.
fn heap_at(heaps: &mut Heaps, address: usize) -> Option<&mut Heap> {
    let (start, heap) = heaps.range_mut(..=address).next_back()?;
    (address - start < AREA_BYTES).then_some(heap)
}

/// Notes that threads have given so many blocks back. With the last block of a run that is over,
/// its memory goes.
fn note_given(heaps: &mut Heaps, address: usize, blocks: usize) {
    let Some(heap) = heap_at(heaps, address) else { return };
    // Even if nothing is given: unlike a load, this finds the latest count.
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
/// process. Returns where they lay before.
pub(crate) fn enter(area: Option<&Arc<Area>>) -> Option<Memory> {
    let is_open = |start: &usize| heaps().get(start).is_some_and(|heap| !heap.is_over);
    let address = area.map(|area| area.address()).filter(is_open);
    CURRENT.replace(address.and_then(NonZeroUsize::new).map(Memory))
}

/// This thread's payloads lie again where they lay before it [entered](enter).
pub(crate) fn go_back(before: Option<Memory>) {
    CURRENT.set(before);
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
    /// In the memory in which this thread's payloads lie.
    Shared(Memory),
    /// In that of a run in which this thread has no part, or none any more.
    Elsewhere,
}

#[inline(always)]
pub(super) fn place_of(block: NonNull<u8>) -> Place {
    let address = block.addr().get();
    if !is_in_any(address) {
        return Place::Own;
    }
    match Memory::current() {
        Some(memory) if memory.contains(address) => Place::Shared(memory),
        _ => Place::Elsewhere,
    }
}

/// Takes up to `most` blocks, at least one, from this memory; `None` if its run is over.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub(super) fn take(memory: Memory, class: usize, most: usize) -> Option<FreeList> {
    let mut heaps = heaps();
    let heap = heaps.get_mut(&memory.0.get()).filter(|heap| !heap.is_over)?;
    let area = &heap.area;
    let blocks = &mut heap.classes[class];
    if blocks.free.len() == 0 {
        area.returned(area.process()).take(class, &mut blocks.free);
        if blocks.free.len() == 0 && blocks.fresh.is_none() {
            blocks.fresh = Some(Fresh::of(area, class));
        }
    }
    let mut taken = FreeList::new();
    while taken.len() < most
        && let Some(block) = blocks.pop(class)
    {
        // SAFETY: the block has just left the class, so it is in no other list. It is clean where
        // it says so, has at least a line, and is aligned to one.
        unsafe { taken.push(block) };
    }
    area.note_taken(taken.len());
    Some(taken)
}

/// Gives back a block that lies [elsewhere](Place::Elsewhere).
///
/// # Safety
/// Nobody uses it any more, and it is of this class.
pub(super) unsafe fn give_elsewhere(block: Block, class: usize) {
    let mut list = FreeList::default();
    // SAFETY: the caller gives the block away; all blocks have a line and begin with one.
    unsafe { list.push(block) };
    // SAFETY: likewise.
    unsafe { give_to(block.start().addr().get(), class, list) };
}

/// Gives blocks back to the processes that have made them.
///
/// # Safety
/// Nobody uses them any more, they are of this class, and they lie in this memory.
pub(super) unsafe fn give(memory: Memory, class: usize, blocks: FreeList) {
    // SAFETY: the caller's promise.
    unsafe { give_to(memory.0.get(), class, blocks) };
}

/// The same for the memory that an address lies in.
///
/// # Safety
/// As [`give`].
unsafe fn give_to(address: usize, class: usize, mut blocks: FreeList) {
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
            // SAFETY: the block has just left the other list, and its owner made it, for this
            // class.
            unsafe { area.returned(owner).give(class, block) };
        }
    }
    note_given(&mut heaps, address, given);
}

#[cold]
fn no_memory(class: usize) -> ! {
    Exhausted::Memory { what: "a payload", bytes: block_bytes(class) }.unwind()
}
