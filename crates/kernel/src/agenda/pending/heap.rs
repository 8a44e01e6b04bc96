use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom};

use super::set::{Entry, PENDING_EVENTS, PendingSet, Ties};

/// Children per node: four entries are one cache line.
const ARITY: usize = 4;
/// The entries that there is room for once there is one.
const LEAST: usize = 32;

/// A 4-ary heap: the best of the simple queues for up to a few hundred events; O(log n) beyond.
///
/// Taking out the first entry leaves a hole at the root. The next push fills it, which is half the
/// work of closing the hole first; most events send one event, so that is the usual case.
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

    /// Takes out all entries, in no order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Entry> {
        let hole = usize::from(std::mem::take(&mut self.hole));
        self.entries.drain(..).skip(hole)
    }

    /// The first time, by several at once: of many PEs, each would otherwise move its few events
    /// again and again.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let more = if self.entries.is_empty() { LEAST } else { 1 };
        self.entries.make_room(more, PENDING_EVENTS);
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

    /// Puts `entry` into the hole at the root, and moves it down into place.
    #[inline]
    fn sink(&mut self, entry: Entry, ties: &impl Ties) {
        self.sink_from(0, entry, ties);
    }

    /// The same for a hole anywhere.
    #[inline(always)]
    fn sink_from(&mut self, mut hole: usize, entry: Entry, ties: &impl Ties) {
        let entries = &mut self.entries[..];
        loop {
            let first = ARITY * hole + 1;
            let children = entries.get(first..).unwrap_or_default();
            let (least, child) = match children.first_chunk() {
                Some(children) => least_of_four(children, ties),
                // A leaf, as at the end of almost every way down.
                None if children.is_empty() => break,
                None => match least_of_few(children, ties) {
                    Some(least) => least,
                    None => break,
                },
            };
            if !ties.before(&child, &entry) {
                break;
            }
            entries[hole] = child;
            hole = first + least;
        }
        entries[hole] = entry;
    }
}

/// The first of a full set of children, and its index: without a branch, which no processor could
/// predict.
#[inline]
fn least_of_four(children: &[Entry; ARITY], ties: &impl Ties) -> (usize, Entry) {
    // Compilers call a function for each child in `children.map`.
    let [a, b, c, d] = children;
    let [a, b, c, d] = [a.time(), b.time(), c.time(), d.time()];
    let (left, left_time) = if b < a { (1, b) } else { (0, a) };
    let (right, right_time) = if d < c { (3, d) } else { (2, c) };
    let least = if right_time < left_time { right } else { left };
    // One branch for all three.
    if (a == b) | (c == d) | (left_time == right_time) {
        return least_of_few(children, ties).unwrap_or((least, children[least]));
    }
    (least, children[least])
}

/// The first of any number of entries, and its index.
#[cold]
fn least_of_few(children: &[Entry], ties: &impl Ties) -> Option<(usize, Entry)> {
    children
        .iter()
        .copied()
        .enumerate()
        .reduce(|least, child| if ties.before(&child.1, &least.1) { child } else { least })
}

impl PendingSet for Heap {
    #[inline]
    fn push(&mut self, entry: Entry, ties: &impl Ties) {
        if self.hole {
            self.hole = false;
            return self.sink(entry, ties);
        }
        let mut hole = self.entries.len();
        if hole == self.entries.capacity() {
            self.grow();
        }
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

    fn first(&mut self, ties: &impl Ties) -> Option<Entry> {
        self.peek(ties).copied()
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

    fn retain(&mut self, mut keep: impl FnMut(Handle) -> bool, ties: &impl Ties) {
        self.close_hole(ties);
        self.entries.retain(|entry| keep(entry.handle()));
        // What has no children is a heap already.
        for root in (0..self.entries.len().div_ceil(ARITY)).rev() {
            let entry = self.entries[root];
            self.sink_from(root, entry, ties);
        }
    }

    #[inline]
    fn upcoming(&self, _: usize) -> Option<Handle> {
        // What comes after the first is in no order.
        None
    }

    fn see_unordered(&self, end: VirtualTime, see: impl FnMut(Handle)) {
        let entries = &self.entries[usize::from(self.hole)..];
        entries.iter().filter(|entry| entry.time() < end).map(Entry::handle).for_each(see);
    }

    fn len(&self) -> usize {
        self.entries.len() - usize::from(self.hole)
    }

    fn bytes(&self) -> usize {
        size_of::<Entry>() * self.entries.capacity()
    }
}
