use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom};

use super::bucket::{Bucket, Chunks};
use super::heap::Heap;
use super::set::{Entry, PENDING_EVENTS, PendingSet, Ties};

/// Buckets with at most this many entries are sorted at once; larger ones are distributed over a
/// finer rung.
const SORT_MOST: usize = 48;
/// How many entries a bucket of a new rung gets on average. More arrive before it is opened.
const BUCKET_MEAN: usize = 2;
/// The most buckets of a rung, so that the chunks being filled stay in the nearer caches.
const BUCKETS_MOST: usize = 8192;
/// The most rungs; a bucket on the last one is sorted however large it is.
const RUNGS_MOST: usize = 8;
/// A run is filled until it has one in this many of all entries.
const RUN_SHARE: usize = 128;
/// A run is filled until it has this many entries, however many there are in all.
const RUN_MOST: usize = 256;
/// With this many entries or more the rungs are used, and below a quarter of it the heap alone.
const LADDER_LEAST: usize = 1024;

/// A ladder queue: entries are distributed into buckets of time that get finer as their time
/// approaches, and only the few that are due next are sorted. O(1) per event, whatever the
/// distribution of increments.
///
/// After Tang, Goh, Thng, "Ladder queue", ACM TOMACS 15 (2005), with these differences: the lowest
/// rung is a sorted run beside a heap, so that entries due within the current run, earlier than it,
/// or all at one time cost O(log n) and never O(n); and a small set lives in that heap alone.
///
/// ```text
///  run ── sorted, given out first        late ── heap: whatever is due before the first closed bucket
///  rungs.last ── finest buckets of time … rungs[0] ── coarsest        top ── beyond the last bucket, unsorted
/// ```
/// Which bucket a time belongs to is a monotone function of the time, and buckets are compared by
/// number alone, so rounding cannot put two entries in the wrong order.
#[derive(Debug)]
pub struct Ladder {
    run: Vec<Entry>,
    next: usize,
    late: Heap,
    /// With this many entries or more the rungs are used.
    climbs_at: usize,
    /// From coarse to fine.
    rungs: Vec<Rung>,
    /// Rungs that are not in use, kept for their memory.
    spare: Vec<Rung>,
    top: Bucket,
    /// Entries later than this belong to `top`; `None` while the heap alone is used.
    top_start: Option<VirtualTime>,
    store: Chunks,
    len: usize,
}

/// One division of a span of time into buckets.
///
/// A bucket holds the times that share the high bits of their distance from the start, both taken
/// as integers (see [`VirtualTime::bits`]). Buckets are therefore equally wide within a power of
/// two of the time, and merely monotone across powers. That is enough, and involves no rounding.
#[derive(Debug, Default)]
struct Rung {
    start: u64,
    /// How many low bits of the distance a bucket ignores.
    shift: u32,
    buckets: Vec<Bucket>,
    /// The first bucket that has not been opened.
    current: usize,
    /// Entries in buckets that have not been opened.
    entries: usize,
}

impl Rung {
    /// Prepares the rung for `count` entries between `low` and `high`.
    fn span(&mut self, low: VirtualTime, high: VirtualTime, count: usize) {
        let most = (count / BUCKET_MEAN).clamp(2, BUCKETS_MOST) as u64;
        let distance = high.bits() - low.bits();
        self.start = low.bits();
        // The least shift that leaves at most `most` buckets.
        self.shift = (distance / most).checked_ilog2().map_or(0, |bits| bits + 1);
        self.buckets.clear();
        let buckets = (distance >> self.shift) as usize + 1;
        self.buckets.make_room(buckets, PENDING_EVENTS);
        self.buckets.resize(buckets, Bucket::default());
        self.current = 0;
        self.entries = 0;
    }

    /// The bucket of a time; a time outside the span belongs to the first or last bucket.
    #[inline]
    fn bucket(&self, time: VirtualTime) -> usize {
        ((time.bits().saturating_sub(self.start) >> self.shift) as usize)
            .min(self.buckets.len() - 1)
    }

    /// Adds an entry, unless its bucket has been opened.
    #[inline]
    fn push(&mut self, store: &mut Chunks, entry: Entry) -> bool {
        let bucket = self.bucket(entry.time());
        let closed = bucket >= self.current;
        if closed {
            store.push(&mut self.buckets[bucket], entry);
            self.entries += 1;
        }
        closed
    }

    /// Opens the next bucket that holds anything.
    fn open(&mut self) -> Option<Bucket> {
        if self.entries == 0 {
            return None;
        }
        while self.buckets[self.current].is_empty() {
            self.current += 1;
        }
        let bucket = std::mem::take(&mut self.buckets[self.current]);
        self.current += 1;
        self.entries -= bucket.len();
        Some(bucket)
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Ladder::climbing_at(LADDER_LEAST)
    }
}

impl Ladder {
    /// A ladder that keeps everything in its heap, however much that is.
    pub fn without_rungs() -> Self {
        Ladder::climbing_at(usize::MAX)
    }

    fn climbing_at(climbs_at: usize) -> Self {
        Ladder {
            run: Vec::new(),
            next: 0,
            late: Heap::default(),
            climbs_at,
            rungs: Vec::new(),
            spare: Vec::new(),
            top: Bucket::default(),
            top_start: None,
            store: Chunks::default(),
            len: 0,
        }
    }

    /// Whether the first late entry comes before `first`.
    #[inline]
    fn is_late(&mut self, first: &Entry, ties: &impl Ties) -> bool {
        self.late.peek(ties).is_some_and(|late| ties.before(late, first))
    }

    /// Takes out the first entry where it is not simply the next of the run.
    #[inline(never)]
    fn refill_or_pop_late(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry> {
        if self.next == self.run.len() && self.late.is_empty() && !self.refill(ties) {
            return None;
        }
        let first = match self.run.get(self.next).copied() {
            Some(first) if self.late.is_empty() || !self.is_late(&first, ties) => {
                if first.time() >= end {
                    return None;
                }
                self.next += 1;
                first
            }
            _ => self.late.pop_before(end, ties)?,
        };
        self.len -= 1;
        Some(first)
    }

    /// Fills the empty run, or if few entries are left, the empty heap; `false` if there is no
    /// entry.
    #[cold]
    fn refill(&mut self, ties: &impl Ties) -> bool {
        self.run.clear();
        self.next = 0;
        // Long enough to look ahead, short enough that few entries arrive too late for it.
        let enough = (self.len / RUN_SHARE).clamp(1, RUN_MOST);
        while self.run.len() < enough {
            match self.rungs.last_mut().map(Rung::open) {
                Some(Some(bucket)) => self.sort_or_split(bucket, ties),
                Some(None) => self.spare.extend(self.rungs.pop()),
                None if self.run.is_empty() && self.late.is_empty() && !self.top.is_empty() => {
                    self.open_top(ties)
                }
                None => break,
            }
        }
        !self.run.is_empty() || !self.late.is_empty()
    }

    /// Appends a bucket to the run or, if it is large, distributes it over a new finest rung.
    fn sort_or_split(&mut self, mut bucket: Bucket, ties: &impl Ties) {
        if bucket.len() > SORT_MOST {
            let (low, high) = self.store.extent(bucket);
            // A rung that this bucket empties makes room for the bucket's own rung: a single
            // far-off event must not pile rungs up.
            while low < high && self.rungs.last().is_some_and(|rung| rung.entries == 0) {
                self.spare.extend(self.rungs.pop());
            }
            if low < high && self.rungs.len() < RUNGS_MOST {
                let mut rung = self.spare.pop().unwrap_or_default();
                rung.span(low, high, bucket.len());
                self.store.drain(&mut bucket, |store, entries| {
                    for &entry in entries {
                        rung.push(store, entry);
                    }
                });
                return self.rungs.push(rung);
            }
        }
        let start = self.run.len();
        self.store.move_to(&mut bucket, &mut self.run);
        sort(&mut self.run[start..], ties);
    }

    /// Distributes what lay beyond all rungs over a new first rung or, if there is little of it,
    /// moves it to the heap.
    fn open_top(&mut self, ties: &impl Ties) {
        let mut top = std::mem::take(&mut self.top);
        if top.len() < LADDER_LEAST / 4 {
            self.top_start = None;
            self.store.move_to(&mut top, &mut self.run);
            self.run.drain(..).for_each(|entry| self.late.push(entry, ties));
        } else {
            self.top_start = Some(self.store.extent(top).1);
            self.sort_or_split(top, ties);
        }
    }

    /// Switches from the heap to the ladder.
    #[cold]
    fn climb(&mut self, ties: &impl Ties) {
        for entry in self.late.drain() {
            self.store.push(&mut self.top, entry);
        }
        self.open_top(ties);
    }
}

impl PendingSet for Ladder {
    #[inline]
    fn push(&mut self, entry: Entry, ties: &impl Ties) {
        self.len += 1;
        match self.top_start {
            Some(start) if entry.time() > start => self.store.push(&mut self.top, entry),
            Some(_) => {
                for rung in &mut self.rungs {
                    if rung.push(&mut self.store, entry) {
                        return;
                    }
                }
                self.late.push(entry, ties);
            }
            None => {
                self.late.push(entry, ties);
                if self.len >= self.climbs_at && self.next == self.run.len() {
                    self.climb(ties);
                }
            }
        }
    }

    fn first(&mut self, ties: &impl Ties) -> Option<Entry> {
        if self.next == self.run.len() && self.late.is_empty() && !self.refill(ties) {
            return None;
        }
        match self.run.get(self.next).copied() {
            Some(first) if self.late.is_empty() || !self.is_late(&first, ties) => Some(first),
            _ => self.late.peek(ties).copied(),
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry> {
        // With some lookahead, and mostly without, the next of the run is the first.
        if let Some(&first) = self.run.get(self.next)
            && self.late.is_empty()
        {
            if first.time() >= end {
                return None;
            }
            self.next += 1;
            self.len -= 1;
            return Some(first);
        }
        self.refill_or_pop_late(end, ties)
    }

    fn retain(&mut self, mut keep: impl FnMut(Handle) -> bool, ties: &impl Ties) {
        self.run.drain(..self.next);
        self.next = 0;
        self.run.retain(|entry| keep(entry.handle()));
        self.late.retain(&mut keep, ties);
        for rung in &mut self.rungs {
            for bucket in &mut rung.buckets[rung.current..] {
                self.store.retain(bucket, &mut keep);
            }
            rung.entries = rung.buckets[rung.current..].iter().map(|bucket| bucket.len()).sum();
        }
        self.store.retain(&mut self.top, &mut keep);
        let rungs: usize = self.rungs.iter().map(|rung| rung.entries).sum();
        self.len = self.run.len() + self.late.len() + rungs + self.top.len();
    }

    #[inline]
    fn upcoming(&self, distance: usize) -> Option<Handle> {
        self.run.get(self.next + distance).map(|entry| entry.handle())
    }

    fn see_unordered(&self, end: VirtualTime, see: impl FnMut(Handle)) {
        self.late.see_unordered(end, see);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        let rungs: usize =
            self.rungs.iter().chain(&self.spare).map(|rung| rung.buckets.capacity()).sum();
        self.store.bytes()
            + self.late.bytes()
            + size_of::<Entry>() * self.run.capacity()
            + size_of::<Bucket>() * rungs
    }
}

/// Sorts entries: by time, then those of one time by the rest of their keys.
fn sort(entries: &mut [Entry], ties: &impl Ties) {
    entries.sort_unstable_by_key(|entry| entry.time());
    let mut rest = entries;
    while let Some(start) = rest.windows(2).position(|pair| pair[0].time() == pair[1].time()) {
        rest = &mut rest[start..];
        let time = rest[0].time();
        let equal = rest.iter().take_while(|entry| entry.time() == time).count();
        rest[..equal].sort_unstable_by(|a, b| ties.compare(a, b));
        rest = &mut rest[equal..];
    }
}

#[cfg(test)]
mod tests {
    use warpline_base::LpId;
    use warpline_base::random::Random;

    use super::*;

    struct Distinct;

    impl Ties for Distinct {
        fn order(&self, a: Handle, b: Handle) -> std::cmp::Ordering {
            a.cmp(&b)
        }
    }

    /// One entry in a future that never comes must not turn the ladder into a heap as time goes on.
    #[test]
    fn an_outlier_does_not_pile_rungs_up() {
        const ENTRIES: u32 = 20_000;
        let passes = if cfg!(miri) { 0 } else { 150 };
        let mut ladder = Ladder::default();
        let mut random = Random::new(1, LpId(0), 0);
        let at = |time: f64| VirtualTime::new(time).unwrap();
        let mut hold = |ladder: &mut Ladder, now: f64, handle| {
            ladder.push(Entry::new(at(now + random.exponential(1.0)), 0, handle), &Distinct);
        };
        ladder.push(Entry::new(at(1e9), 0, Handle::from_bits(ENTRIES)), &Distinct);
        (0..ENTRIES).for_each(|handle| hold(&mut ladder, 1e6, Handle::from_bits(handle)));
        let mut rungs = 0;
        let mut late = 0;
        for _ in 0..passes * ENTRIES {
            let first = ladder.pop_before(at(1e8), &Distinct).unwrap();
            hold(&mut ladder, first.time().get(), first.handle());
            rungs = rungs.max(ladder.rungs.len());
            late = late.max(ladder.late.len());
        }
        assert!(rungs < RUNGS_MOST, "{rungs} rungs");
        assert!(late < ENTRIES as usize / 10, "{late} late entries");
    }

    #[test]
    fn a_ladder_without_rungs_is_a_heap() {
        let mut random = Random::new(1, LpId(0), 0);
        let entries = (0..5 * LADDER_LEAST as u32).map(|handle| {
            let time = VirtualTime::new(random.exponential(1.0)).unwrap();
            Entry::new(time, 0, Handle::from_bits(handle))
        });
        let mut entries: Vec<Entry> = entries.collect();
        let mut ladder = Ladder::without_rungs();
        entries.iter().for_each(|&entry| ladder.push(entry, &Distinct));
        assert_eq!((ladder.late.len(), ladder.len()), (entries.len(), entries.len()));
        sort(&mut entries, &Distinct);
        let end = VirtualTime::MAX;
        let popped = std::iter::from_fn(|| ladder.pop_before(end, &Distinct));
        assert!(popped.eq(entries), "all entries, in their order");
        assert_eq!((ladder.rungs.len(), ladder.run.capacity()), (0, 0));
    }
}
