use warpline_base::VirtualTime;
use warpline_memory::Handle;

use super::{Entry, Heap, PendingSet, Ties};

/// Buckets with at most this many entries are sorted at once; larger ones are distributed over a finer rung.
const SORT_MOST: usize = 48;
/// How many entries a bucket of a new rung gets on average.
const BUCKET_MEAN: usize = 2;
/// The most buckets of a rung: their open ends stay in the nearer caches.
const BUCKETS_MOST: usize = 8192;
/// The most rungs; a bucket on the last one is sorted however large it is.
const RUNGS_MOST: usize = 8;
/// From this many entries on the ladder is used, below it the heap.
const LADDER_LEAST: usize = 256;

/// A ladder queue: entries are distributed into buckets of time that get finer as their time comes, and only the
/// handful that is due next is sorted. O(1) per event, whatever the distribution of increments.
///
/// After Tang, Goh, Thng, "Ladder queue", ACM TOMACS 15 (2005), with these differences: the lowest rung is a sorted
/// run beside a heap, so that entries due within the current run, earlier than it, or all at one time cost
/// O(log n) and never O(n); and a small set lives in that heap alone.
///
/// ```text
///  run ── sorted, given out first        late ── heap: whatever is due before the first closed bucket
///  rungs.last ── finest buckets of time … rungs[0] ── coarsest        top ── beyond the last bucket, unsorted
/// ```
/// Which bucket a time belongs to is a monotone function of the time, and buckets are compared by number alone, so
/// rounding cannot put two entries in the wrong order.
#[derive(Debug, Default)]
pub struct Ladder {
    run: Vec<Entry>,
    next: usize,
    late: Heap,
    rungs: Vec<Rung>,
    active: usize,
    top: Vec<Entry>,
    /// Entries later than this belong to `top`; `None` while the heap alone is used.
    top_start: Option<VirtualTime>,
    len: usize,
}

/// One division of a span of time into buckets.
///
/// A bucket holds the times that share the high bits of their distance from the start, both taken as integers (see
/// [`VirtualTime::bits`]). Buckets are therefore equally wide within a power of two of the time, and only monotone across:
/// nothing more is needed, and no rounding can go wrong.
#[derive(Debug, Default)]
struct Rung {
    start: u64,
    /// How many low bits of the distance a bucket leaves open.
    shift: u32,
    buckets: Vec<Vec<Entry>>,
    /// How many of `buckets` are in use, less one.
    last: usize,
    /// The first bucket that has not been opened.
    current: usize,
    /// Entries in buckets that have not been opened.
    entries: usize,
}

impl Rung {
    /// The bucket of a time; what lies outside the span belongs to the first or last.
    #[inline]
    fn bucket(&self, time: VirtualTime) -> usize {
        ((time.bits().saturating_sub(self.start) >> self.shift) as usize).min(self.last)
    }

    #[inline]
    fn push(&mut self, bucket: usize, entry: Entry) {
        self.buckets[bucket].push(entry);
        self.entries += 1;
    }

    /// Prepares the rung for `count` entries between `low` and `high`.
    fn span(&mut self, low: VirtualTime, high: VirtualTime, count: usize) {
        let most = (count / BUCKET_MEAN).clamp(2, BUCKETS_MOST) as u64;
        let distance = high.bits() - low.bits();
        self.start = low.bits();
        // The least shift that leaves at most `most` buckets.
        self.shift = (distance / most).checked_ilog2().map_or(0, |bits| bits + 1);
        self.last = (distance >> self.shift) as usize;
        (self.current, self.entries) = (0, 0);
        if self.buckets.len() <= self.last {
            self.buckets.resize_with(self.last + 1, Vec::new);
        }
    }

    /// Opens the next bucket that holds anything.
    fn open(&mut self) -> Option<&mut Vec<Entry>> {
        if self.entries == 0 {
            return None;
        }
        while self.buckets[self.current].is_empty() {
            self.current += 1;
        }
        let bucket = &mut self.buckets[self.current];
        self.current += 1;
        self.entries -= bucket.len();
        Some(bucket)
    }
}

impl Ladder {
    /// Fills the empty run, so that it or `late` holds the first entry; `false` if there is none.
    #[cold]
    fn refill(&mut self, ties: &impl Ties) -> bool {
        self.run.clear();
        self.next = 0;
        loop {
            if !self.late.is_empty() {
                return true;
            }
            let Some(rung) = self.active.checked_sub(1) else {
                if self.top.is_empty() {
                    return false;
                }
                self.open_top(ties);
                continue;
            };
            match self.rungs[rung].open() {
                None => self.active -= 1,
                Some(bucket) => {
                    std::mem::swap(bucket, &mut self.run);
                    if self.run.len() <= SORT_MOST || !self.split_run() {
                        sort(&mut self.run, ties);
                        return true;
                    }
                }
            }
        }
    }

    /// Distributes the run over a rung of its own; `false` if that is not possible.
    fn split_run(&mut self) -> bool {
        let mut run = std::mem::take(&mut self.run);
        let split = self.add_rung(&mut run);
        self.run = run;
        split
    }

    /// Distributes `entries` over a new finest rung, if they can be told apart, and leaves them empty.
    fn add_rung(&mut self, entries: &mut Vec<Entry>) -> bool {
        let (Some(low), Some(high)) = (entries.iter().map(|e| e.time).min(), entries.iter().map(|e| e.time).max()) else { return false };
        if low == high || self.active == RUNGS_MOST {
            return false;
        }
        if self.rungs.len() == self.active {
            self.rungs.push(Rung::default());
        }
        let rung = &mut self.rungs[self.active];
        rung.span(low, high, entries.len());
        for entry in entries.drain(..) {
            rung.push(rung.bucket(entry.time), entry);
        }
        self.active += 1;
        true
    }

    /// Brings down what lay beyond all rungs, to a new first rung or, if it is little, to the heap.
    fn open_top(&mut self, ties: &impl Ties) {
        let mut top = std::mem::take(&mut self.top);
        if top.len() < LADDER_LEAST / 4 {
            self.top_start = None;
            top.drain(..).for_each(|entry| self.late.push(entry, ties));
        } else {
            self.top_start = top.iter().map(|entry| entry.time).max();
            if !self.add_rung(&mut top) {
                std::mem::swap(&mut self.run, &mut top);
                sort(&mut self.run, ties);
            }
        }
        self.top = top;
    }

    /// Leaves the heap for the ladder.
    #[cold]
    fn climb(&mut self, ties: &impl Ties) {
        self.top.extend(self.late.drain());
        self.open_top(ties);
    }
}

impl PendingSet for Ladder {
    const NAME: &'static str = "ladder";

    #[inline]
    fn push(&mut self, entry: Entry, ties: &impl Ties) {
        self.len += 1;
        match self.top_start {
            Some(start) if entry.time > start => self.top.push(entry),
            Some(_) => {
                for rung in &mut self.rungs[..self.active] {
                    let bucket = rung.bucket(entry.time);
                    if bucket >= rung.current {
                        return rung.push(bucket, entry);
                    }
                }
                self.late.push(entry, ties);
            }
            None => {
                self.late.push(entry, ties);
                if self.len >= LADDER_LEAST && self.next == self.run.len() {
                    self.climb(ties);
                }
            }
        }
    }

    #[inline]
    fn pop_before(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry> {
        loop {
            let Some(first) = self.run.get(self.next) else {
                let Some(late) = self.late.peek(ties).copied() else {
                    if self.refill(ties) {
                        continue;
                    }
                    return None;
                };
                if late.time >= end {
                    return None;
                }
                self.len -= 1;
                return self.late.pop(ties);
            };
            let first = *first;
            if !self.late.is_empty()
                && let Some(late) = self.late.peek(ties).copied()
                && ties.before(&late, &first)
            {
                if late.time >= end {
                    return None;
                }
                self.len -= 1;
                return self.late.pop(ties);
            }
            if first.time >= end {
                return None;
            }
            self.next += 1;
            self.len -= 1;
            return Some(first);
        }
    }

    #[inline]
    fn upcoming(&self, distance: usize) -> Option<Handle> {
        self.run.get(self.next + distance).map(|entry| entry.handle)
    }

    fn len(&self) -> usize {
        self.len
    }
}

/// Sorts entries: by time, then those of one time by the rest of their keys.
fn sort(entries: &mut [Entry], ties: &impl Ties) {
    entries.sort_unstable_by_key(|entry| entry.time);
    let mut rest = entries;
    while let Some(start) = rest.windows(2).position(|pair| pair[0].time == pair[1].time) {
        rest = &mut rest[start..];
        let time = rest[0].time;
        let equal = rest.iter().take_while(|entry| entry.time == time).count();
        rest[..equal].sort_unstable_by(|a, b| ties.compare(a, b));
        rest = &mut rest[equal..];
    }
}
