use std::ops::Range;

use super::slots::FreeSlot;
use crate::events::buffers::arena::{Arena, SEGMENT_BITS};

/// How many new slots a pool gets at once.
pub(in crate::events::buffers) const RUN: u32 = if cfg!(any(miri, loom)) { 2 } else { 32 };

/// Slots that have never been used. Each PE has its own range, in its own pages, untouched until a
/// slot is taken out of its pool. So a system that places a page near the core that touches it
/// first places it near the PE that has the pool.
#[derive(Default)]
pub(super) struct Fresh {
    range: Range<u32>,
    segments: u32,
    taken: u64,
}

impl Fresh {
    /// The next slots, at most this many and at least one, in descending order.
    pub(super) fn run<T>(
        &mut self,
        most: u32,
        arena: &Arena<T>,
    ) -> impl ExactSizeIterator<Item = FreeSlot> + use<T> {
        if self.range.is_empty() {
            // As many again as this PE has already, at most.
            self.range = arena.grow(self.segments);
            self.segments += self.range.len() as u32 >> SEGMENT_BITS;
        }
        let run = self.range.start..self.range.end.min(self.range.start.saturating_add(most));
        self.range.start = run.end;
        self.taken += u64::from(run.end - run.start);
        run.rev().map(FreeSlot::new)
    }

    /// How many slots have been taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// How many slots there are, taken or not.
    #[cfg(all(test, not(loom)))]
    pub(super) fn numbered(&self) -> u64 {
        assert_eq!(
            u64::from(self.segments) << SEGMENT_BITS,
            self.taken + self.range.len() as u64,
            "no slot of a segment is left out"
        );
        u64::from(self.segments) << SEGMENT_BITS
    }
}
