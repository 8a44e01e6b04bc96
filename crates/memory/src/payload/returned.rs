//! Blocks that go back to the process that has made them.

use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::classes::SHARED_CLASSES;
use super::free_list::{Block, FreeBlock, FreeList};

/// The blocks of a process that others have freed: the head of a list for each class.
#[derive(Debug, Default)]
pub(super) struct Returned([AtomicPtr<FreeBlock>; SHARED_CLASSES]);

impl Returned {
    /// Gives a block back to the process that made it.
    ///
    /// # Safety
    /// Nobody uses the block any more. The process that these blocks go back to made it, for this
    /// class.
    pub(super) unsafe fn give(&self, class: usize, block: Block) {
        let list = &self.0[class];
        let mut first = list.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block is nobody else's until the exchange below has succeeded; all have
            // at least a line, and are aligned to one.
            let linked = unsafe { FreeBlock::link(block, NonNull::new(first)) };
            // Release pairs with the Acquire of `take`.
            match list.compare_exchange_weak(
                first,
                linked.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
    }

    /// Moves all blocks of a class that have come back into a list of the process that made them.
    pub(super) fn take(&self, class: usize, into: &mut FreeList) {
        // Acquire pairs with the Release of `give`: those who freed the blocks are done with them.
        let mut next = NonNull::new(self.0[class].swap(null_mut(), Ordering::Acquire));
        while let Some(first) = next {
            // SAFETY: `give` has linked the block, which is nobody else's now, and is clean where
            // it was when it was given.
            unsafe {
                let (block, behind) = FreeBlock::unlink(first);
                into.push(block);
                next = behind;
            }
        }
    }
}
