use warpline_base::VirtualTime;
use warpline_memory::Handle;

use super::{Entry, PendingSet, Ties};

/// Children per node: four entries are one cache line.
const ARITY: usize = 4;

/// A 4-ary heap: the best of the simple queues up to a few hundred events, at O(log n) beyond.
///
/// Taking out the first entry leaves a hole at the root. The next push drops into it, which is half the work of
/// closing it first; most events send one event, so that is the usual case.
#[derive(Debug, Default)]
pub struct Heap {
    entries: Vec<Entry>,
    /// Whether the root is a hole.
    hole: bool,
}

impl Heap {
    /// The first entry.
    #[inline]
    pub(super) fn peek(&mut self, ties: &impl Ties) -> Option<&Entry> {
        self.close_hole(ties);
        self.entries.first()
    }

    /// Takes out the first entry.
    #[inline]
    pub(super) fn pop(&mut self, ties: &impl Ties) -> Option<Entry> {
        self.close_hole(ties);
        let first = *self.entries.first()?;
        self.hole = true;
        Some(first)
    }

    /// Takes out all entries, in no order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Entry> {
        let hole = usize::from(std::mem::take(&mut self.hole));
        self.entries.drain(..).skip(hole)
    }

    #[inline]
    fn close_hole(&mut self, ties: &impl Ties) {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.entries.pop()
                && !self.entries.is_empty()
            {
                self.sink(last, ties);
            }
        }
    }

    /// Puts `entry` into the hole at the root, and moves it down to its place.
    #[inline]
    fn sink(&mut self, entry: Entry, ties: &impl Ties) {
        let entries = &mut self.entries[..];
        let mut hole = 0;
        loop {
            let first = ARITY * hole + 1;
            let Some(children) = entries.get(first..entries.len().min(first + ARITY)).filter(|c| !c.is_empty()) else { break };
            let mut least = 0;
            for child in 1..children.len() {
                if ties.before(&children[child], &children[least]) {
                    least = child;
                }
            }
            if !ties.before(&children[least], &entry) {
                break;
            }
            entries[hole] = children[least];
            hole = first + least;
        }
        entries[hole] = entry;
    }
}

impl PendingSet for Heap {
    const NAME: &'static str = "heap";

    #[inline]
    fn push(&mut self, entry: Entry, ties: &impl Ties) {
        if self.hole {
            self.hole = false;
            return self.sink(entry, ties);
        }
        let mut hole = self.entries.len();
        self.entries.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if !ties.before(&entry, &self.entries[parent]) {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    #[inline]
    fn pop_before(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry> {
        let first = *self.peek(ties)?;
        if first.time() >= end {
            return None;
        }
        self.hole = true;
        Some(first)
    }

    #[inline]
    fn upcoming(&self, distance: usize) -> Option<Handle> {
        // The root's children are the best guess that costs nothing.
        self.entries.get(distance).filter(|_| distance <= ARITY).map(|entry| entry.handle())
    }

    fn len(&self) -> usize {
        self.entries.len() - usize::from(self.hole)
    }
}
