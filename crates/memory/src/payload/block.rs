//! Blocks of memory for payloads. A block that is freed waits in a list of the thread that frees
//! it, whichever thread it came from; so in steady state a thread takes no lock and calls no
//! allocator.

use std::alloc::Layout;
use std::array::from_fn;
use std::cell::RefCell;
use std::mem::take;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chunks::Chunks;
use super::classes::{CLASSES, LINE, SHARED_CLASSES, block_bytes, class_for};
use super::clean::Clean;
use super::free_list::{Block, FreeList};
use super::held;
use super::shared::{self, Memory, Place};
use crate::Exhausted;
use crate::sync::{alloc, dealloc};

/// How many bytes of free blocks a thread keeps per class, whoever made them: as many as a PE frees
/// at once when 4096 events of 1 KiB commit. That is only a few large blocks, but to fill one takes
/// longer than to take a lock.
const KEPT_BYTES: usize = if cfg!(miri) { 256 << 10 } else { 4 << 20 };
/// At most this many bytes, and this many blocks, go from the chunks to a thread at a time, or
/// back.
const MOVED_BYTES: usize = 64 << 10;
const MOVED_MOST: usize = 64;

static CHUNKS: [Mutex<Chunks>; CLASSES] = [const { Mutex::new(Chunks::new()) }; CLASSES];

thread_local! {
    static FREE: RefCell<FreeLists> = RefCell::new(FreeLists::new());
}

/// The free blocks that a thread keeps, by class.
struct FreeLists {
    own: [FreeList; CLASSES],
    shared: [FreeList; SHARED_CLASSES],
    /// The memory that those in `shared` lie in, if there are any.
    memory: Option<Memory>,
}

impl FreeLists {
    fn new() -> Self {
        FreeLists {
            own: from_fn(|_| FreeList::new()),
            shared: from_fn(|_| FreeList::new()),
            memory: None,
        }
    }

    /// The lists of blocks in the memory that processes share at present.
    #[inline(always)]
    fn shared(&mut self, memory: Memory) -> &mut [FreeList; SHARED_CLASSES] {
        if self.memory != Some(memory) {
            self.give_back_shared();
            self.memory = Some(memory);
        }
        &mut self.shared
    }

    /// Gives back the blocks in memory that processes share.
    #[cold]
    #[inline(never)]
    fn give_back_shared(&mut self) {
        let Some(memory) = self.memory else { return };
        for (class, list) in self.shared.iter_mut().enumerate().filter(|(_, list)| list.len() > 0) {
            // SAFETY: all of them are from that memory.
            unsafe { shared::give(memory, class, take(list)) };
        }
    }
}

/// How many blocks of a class go from the chunks to a thread at a time, or back.
fn moved_at_once(class: usize) -> usize {
    (MOVED_BYTES / block_bytes(class)).clamp(1, MOVED_MOST)
}

fn chunks(class: usize) -> MutexGuard<'static, Chunks> {
    // If memory runs out in the middle, the chunks are as they were.
    CHUNKS[class].lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block with room for this many bytes, at least one, rounded up to lines. Where it is not clean,
/// it may be uninitialised.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
#[inline]
pub(super) fn take_block(bytes: usize) -> Block {
    if let Some(memory) = Memory::current()
        && let Some(block) = take_shared(bytes, memory)
    {
        return block;
    }
    let Some(class) = class_for(bytes, CLASSES) else { return allocate(bytes) };
    let kept = FREE.try_with(|lists| {
        let list = &mut lists.borrow_mut().own[class];
        list.pop().unwrap_or_else(|| refill(list, class, moved_at_once(class)))
    });
    // A thread that is ending has no lists any more.
    kept.unwrap_or_else(|_| refill(&mut FreeList::default(), class, 1))
}

/// A block in memory that processes share; `None` if they no longer do.
fn take_shared(bytes: usize, memory: Memory) -> Option<Block> {
    let class = shared_class(bytes);
    let refill = |list: &mut FreeList, most| {
        *list = shared::take(memory, class, most)?;
        list.pop()
    };
    let kept = FREE.try_with(|lists| {
        let lists = &mut *lists.borrow_mut();
        let list = &mut lists.shared(memory)[class];
        list.pop().or_else(|| refill(list, moved_at_once(class)))
    });
    kept.unwrap_or_else(|_| refill(&mut FreeList::default(), 1))
}

/// The class of a payload that processes share.
///
/// # Panics
/// If there is none so large, it [unwinds](Exhausted::unwind).
fn shared_class(bytes: usize) -> usize {
    class_for(bytes, SHARED_CLASSES)
        .unwrap_or_else(|| Exhausted::Memory { what: "a payload", bytes }.unwind())
}

/// Fills an empty list with up to `most` blocks, and takes one of them.
#[cold]
#[inline(never)]
fn refill(list: &mut FreeList, class: usize, most: usize) -> Block {
    *list = chunks(class).take(block_bytes(class), LINE, most);
    list.pop().expect("there is at least one")
}

/// Frees a block.
///
/// # Safety
/// The block is from [`take_block`] with the same number of bytes, has zeros where it is said to be
/// clean, and nobody uses it any more.
#[inline]
pub(super) unsafe fn free_block(block: Block, bytes: usize) {
    let (memory, classes) = match shared::place_of(block.start()) {
        Place::Own => (None, CLASSES),
        Place::Shared(memory) => (Some(memory), SHARED_CLASSES),
        // SAFETY: the caller's promise; shared memory has only blocks of a class.
        Place::Elsewhere => return unsafe { shared::give_elsewhere(block, shared_class(bytes)) },
    };
    let Some(class) = class_for(bytes, classes) else {
        // SAFETY: without a class, `take_block` has allocated the block, as shared memory has none
        // such; the rest is the caller's promise.
        return unsafe { deallocate(block.start(), bytes) };
    };
    let kept = FREE.try_with(|lists| {
        let lists = &mut *lists.borrow_mut();
        let list = match memory {
            None => &mut lists.own[class],
            Some(memory) => &mut lists.shared(memory)[class],
        };
        // SAFETY: the caller gives the block away and knows what is clean, and all blocks begin
        // with a line.
        unsafe { list.push(block) };
        if list.len() * block_bytes(class) > KEPT_BYTES {
            give_some_back(list, class, moved_at_once(class), memory);
        }
    });
    if kept.is_err() {
        let mut list = FreeList::default();
        // SAFETY: as above; no other list has taken it.
        unsafe { list.push(block) };
        give_some_back(&mut list, class, 1, memory);
    }
}

/// Gives up to `most` blocks of a list of this class back to the chunks.
#[cold]
#[inline(never)]
fn give_some_back(list: &mut FreeList, class: usize, most: usize, memory: Option<Memory>) {
    let mut back = FreeList::default();
    while back.len() < most
        && let Some(block) = list.pop()
    {
        // SAFETY: the block has just left the other list.
        unsafe { back.push(block) };
    }
    // SAFETY: all blocks of the class are from these chunks, or from heaps that processes share.
    unsafe {
        match memory {
            None => chunks(class).give(block_bytes(class), back),
            Some(memory) => shared::give(memory, class, back),
        }
    };
}

/// Gives back the free blocks of this thread that lie in memory that processes share.
pub(crate) fn give_back() {
    // A thread that is ending has no lists any more.
    let _ = FREE.try_with(|lists| lists.borrow_mut().give_back_shared());
}

/// A thread that ends gives back what it has kept.
impl Drop for FreeLists {
    fn drop(&mut self) {
        for (class, list) in self.own.iter_mut().enumerate().filter(|(_, list)| list.len() > 0) {
            // SAFETY: all blocks of the class are from these chunks.
            unsafe { chunks(class).give(block_bytes(class), take(list)) };
        }
        self.give_back_shared();
    }
}

/// What the allocator is asked for, for a block without a class; `None` if no address space is that
/// large.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_next_multiple_of(LINE)?, LINE).ok()
}

#[cold]
#[inline(never)]
fn allocate(bytes: usize) -> Block {
    // SAFETY: there is at least one byte.
    let block = layout(bytes).and_then(|layout| NonNull::new(unsafe { alloc(layout) }));
    let start = block.unwrap_or_else(|| Exhausted::Memory { what: "a payload", bytes }.unwind());
    held::add(bytes);
    Block::new(start, Clean::NONE)
}

/// # Safety
/// The block is from [`allocate`] with the same number of bytes, and nobody uses it any more.
#[cold]
#[inline(never)]
unsafe fn deallocate(block: NonNull<u8>, bytes: usize) {
    let layout = layout(bytes).expect("it was there when the block was allocated");
    // SAFETY: `allocate` got the block with this layout, and nobody uses it any more.
    unsafe { dealloc(block.as_ptr(), layout) };
    held::subtract(bytes);
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use super::*;

    /// How many bytes of free blocks this thread keeps of blocks for this many bytes, and the most
    /// that it may.
    pub(in crate::payload) fn kept(bytes: usize) -> (usize, usize) {
        let class = class_for(bytes, CLASSES).unwrap();
        (FREE.with(|lists| lists.borrow().own[class].len() * block_bytes(class)), KEPT_BYTES)
    }

    #[test]
    fn classes_leave_room_for_all_that_belongs_to_them() {
        assert_eq!([0, 1, 2, 3, 11].map(block_bytes), [64, 128, 192, 320, 65_600]);
        for (bytes, class) in
            [(1, 0), (64, 0), (65, 1), (128, 1), (129, 2), (192, 2), (193, 3), (65_600, 11)]
        {
            assert_eq!(class_for(bytes, CLASSES), Some(class), "{bytes} bytes");
            assert!(
                bytes <= block_bytes(class) && (class == 0 || block_bytes(class - 1) < bytes),
                "{bytes} bytes"
            );
        }
        assert_eq!([65_601, usize::MAX].map(|bytes| class_for(bytes, CLASSES)), [None, None]);
        assert_eq!([0, 4, 11].map(moved_at_once), [64, 64, 1]);
        assert!(layout(usize::MAX).is_none());
    }
}
