//! Blocks for payloads in memory that processes share. Each process takes blocks from its own heap.
//! A block of another process that it frees, and does not use again, goes back to that process.
//!
//! An address stands for a heap and an item in it (E. Lynch, G. Riley and S. Hampton, the heaps of
//! §4). In the paper, an item whose count has reached zero is kept until GVT has passed that time
//! (_time to zero_), for rollbacks that revive it. Here it can be reused at once: as long as a
//! rollback may need it, it is held by the event that brought it, which is in the history, or by a
//! copy of a state.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::area::{AREA_BYTES, Area, PIECE_BYTES};
use super::classes::{SHARED_CLASSES as CLASSES, block_bytes};
use super::clean::Clean;
use super::free_list::{Block, FreeList};
use crate::Exhausted;
use crate::alloc::files::{is_in_any, zero};
use crate::sync::Arc;

/// The address of the memory that is in use at present; 0 if there is none. It is one word, so a
/// reader never mixes two runs.
static CURRENT: AtomicUsize = AtomicUsize::new(0);
static HEAP: Mutex<Heap> = Mutex::new(Heap::none());

/// Memory for payloads that processes share, by the address where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory(NonZeroUsize);

impl Memory {
    /// The memory that is in use at present.
    #[inline(always)]
    pub(super) fn current() -> Option<Memory> {
        // Relaxed: blocks are taken under a lock, or from lists that were filled under it.
        NonZeroUsize::new(CURRENT.load(Ordering::Relaxed)).map(Memory)
    }

    #[inline(always)]
    fn contains(self, address: usize) -> bool {
        address.wrapping_sub(self.0.get()) < AREA_BYTES
    }
}

/// This process's blocks.
struct Heap {
    area: Option<Arc<Area>>,
    classes: [Class; CLASSES],
    /// Memory of earlier runs that may still hold payloads, by address.
    past: BTreeMap<usize, Arc<Area>>,
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

impl Heap {
    const fn none() -> Self {
        Heap { area: None, classes: NO_BLOCKS, past: BTreeMap::new() }
    }

    /// From now on, blocks come from another area, or none. Returns the one before.
    fn replace(&mut self, area: Option<Arc<Area>>) -> Option<Arc<Area>> {
        self.classes = NO_BLOCKS;
        std::mem::replace(&mut self.area, area)
    }

    /// The area at this address, if it is in use at present.
    fn area_at(&self, address: usize) -> Option<&Arc<Area>> {
        self.area.as_ref().filter(|area| area.address() == address)
    }

    /// Keeps memory that is not in use any more as long as threads have blocks there.
    fn keep(&mut self, area: Arc<Area>) {
        // Nothing is given, but unlike a load, this finds the latest count.
        if area.note_given(0) > 0 {
            self.past.insert(area.address(), area);
        }
    }

    /// Takes back blocks that lie in memory of an earlier run.
    fn give_past(&mut self, address: usize, blocks: usize) {
        let found = self.past.range(..=address).next_back();
        if let Some((&start, area)) = found
            && address - start < AREA_BYTES
            && area.note_given(blocks) <= 0
        {
            self.past.remove(&start);
        }
    }
}

fn heap() -> MutexGuard<'static, Heap> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, payloads of this process lie in an area; `None` if there is no memory for them.
pub(crate) fn begin(area: &Arc<Area>) -> Option<()> {
    let mut heap = heap();
    if heap.area_at(area.address()).is_none() {
        area.begin()?;
        let before = heap.replace(Some(area.clone()));
        before.into_iter().for_each(|before| heap.keep(before));
    }
    CURRENT.store(area.address(), Ordering::Release);
    Some(())
}

/// From now on, payloads lie in the memory of this process again, if they lay in this area.
pub(crate) fn end(area: &Arc<Area>) {
    let mut heap = heap();
    if heap.area_at(area.address()).is_some() {
        // Under the lock, so that whoever finds that the memory is not in use any more finds it in
        // `past`.
        CURRENT.store(0, Ordering::Release);
        heap.replace(None);
        area.trim();
        heap.keep(area.clone());
    }
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
    /// In memory that processes share at present.
    Shared(Memory),
    /// In memory that they shared once.
    Past,
}

#[inline(always)]
pub(super) fn place_of(block: NonNull<u8>) -> Place {
    let address = block.addr().get();
    if !is_in_any(address) {
        return Place::Own;
    }
    match Memory::current() {
        Some(memory) if memory.contains(address) => Place::Shared(memory),
        _ => Place::Past,
    }
}

/// Takes up to `most` blocks, at least one, from this memory; `None` if it is no longer in use.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub(super) fn take(memory: Memory, class: usize, most: usize) -> Option<FreeList> {
    let heap = &mut *heap();
    let area = heap.area_at(memory.0.get())?.clone();
    let blocks = &mut heap.classes[class];
    if blocks.free.len() == 0 {
        area.returned(area.process()).take(class, &mut blocks.free);
        if blocks.free.len() == 0 && blocks.fresh.is_none() {
            blocks.fresh = Some(Fresh::of(&area, class));
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

/// Gives back a block that lies in memory of an earlier run.
pub(super) fn give_past(block: NonNull<u8>) {
    heap().give_past(block.addr().get(), 1);
}

/// Gives blocks back to the processes that have made them.
///
/// # Safety
/// Nobody uses them any more, and they lie in this memory.
pub(super) unsafe fn give(memory: Memory, class: usize, mut blocks: FreeList) {
    let heap = &mut *heap();
    let Some(area) = heap.area_at(memory.0.get()).cloned() else {
        return heap.give_past(memory.0.get(), blocks.len());
    };
    area.note_given(blocks.len());
    while let Some(block) = blocks.pop() {
        let owner = area.owner(block.start().addr().get());
        if owner == area.process() {
            // SAFETY: the block has just left the other list.
            unsafe { heap.classes[class].free.push(block) };
            continue;
        }
        // SAFETY: the block has just left the other list, and its owner made it, for this class.
        unsafe { area.returned(owner).give(class, block) };
    }
}

#[cold]
fn no_memory(class: usize) -> ! {
    Exhausted::Memory { what: "a payload", bytes: block_bytes(class) }.unwind()
}
