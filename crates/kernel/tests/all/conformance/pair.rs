//! A pending event set beside a sorted one, which says what it must return.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use warpline_base::random::Random;
use warpline_base::{LpId, VirtualTime};
use warpline_kernel::pending::{Entry, PendingSet, Ties};
use warpline_memory::Handle;

/// What determines an event's place in the order: its time, its tie, and what decides between equal
/// ties.
type Key = (VirtualTime, u32, u64);

/// Where events lie. Freed places are reused at once, so that a stale handle soon means another
/// event.
#[derive(Default)]
struct Places {
    keys: Vec<Option<Key>>,
    free: Vec<u32>,
}

impl Places {
    fn insert(&mut self, key: Key) -> Handle {
        let place = self.free.pop().unwrap_or_else(|| {
            self.keys.push(None);
            self.keys.len() as u32 - 1
        });
        self.keys[place as usize] = Some(key);
        Handle::from_bits(place)
    }

    fn remove(&mut self, handle: Handle) {
        assert!(
            self.keys[handle.bits() as usize].take().is_some(),
            "{handle:?} was returned twice"
        );
        self.free.push(handle.bits());
    }

    fn is_pending(&self, handle: Handle) -> bool {
        self.keys.get(handle.bits() as usize).is_some_and(Option::is_some)
    }

    fn key(&self, handle: Handle) -> Key {
        self.keys[handle.bits() as usize]
            .unwrap_or_else(|| panic!("the set looked at {handle:?}, which is not pending"))
    }
}

impl Ties for Places {
    fn order(&self, a: Handle, b: Handle) -> Ordering {
        let (a, b) = (self.key(a), self.key(b));
        assert_eq!(
            (a.0, a.1),
            (b.0, b.1),
            "the set asked for the order of entries of different rank"
        );
        a.2.cmp(&b.2)
    }
}

/// How the times of new entries are distributed, relative to the last entry taken out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Times {
    Uniform,
    Exponential,
    Integers,
    Narrow,
    Bimodal,
    /// At exactly the time of the last one.
    Now,
    /// At one time for all.
    Same,
    /// A few representable numbers later.
    Ulps,
    /// Anything between 1e-300 and 1e300.
    Huge,
    /// Next to zero.
    Subnormal,
    /// Before the last one.
    Past,
    /// Zero, or the largest number.
    Extremes,
    /// Mostly in a few distant clusters.
    Clusters,
}

pub(super) const TIMES: [Times; 13] = [
    Times::Uniform,
    Times::Exponential,
    Times::Integers,
    Times::Narrow,
    Times::Bimodal,
    Times::Now,
    Times::Same,
    Times::Ulps,
    Times::Huge,
    Times::Subnormal,
    Times::Past,
    Times::Extremes,
    Times::Clusters,
];

impl Times {
    fn draw(self, now: f64, random: &mut Random) -> VirtualTime {
        let time = match self {
            Times::Uniform => now + 100.0 * random.uniform(),
            Times::Exponential => now + random.exponential(1.0),
            Times::Integers => now.floor() + f64::from(random.below(5)),
            Times::Narrow => now + 1.0 + 1e-9 * random.uniform(),
            Times::Bimodal => {
                now + random.uniform() * if random.bernoulli(0.9) { 1e-3 } else { 1e3 }
            }
            Times::Now => now,
            Times::Same => 17.25,
            Times::Ulps => {
                f64::from_bits((now.to_bits() + u64::from(random.below(4))).min(f64::MAX.to_bits()))
            }
            Times::Huge => 10f64.powi(random.below(601) as i32 - 300),
            Times::Subnormal => f64::from_bits(u64::from(random.below(1000))),
            Times::Past => now * random.uniform(),
            Times::Extremes => [0.0, f64::MAX][random.below(2) as usize],
            Times::Clusters => f64::from(random.below(4)) * 1e6 + random.uniform(),
        };
        VirtualTime::new(time.clamp(0.0, f64::MAX)).expect("a time was drawn")
    }
}

/// A phase in the life of a set.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// This many entries are inserted.
    Push(u32, Times),
    /// This many are taken out.
    Pop(u32),
    /// This many are taken out, and a new one is inserted for each.
    Hold(u32, Times),
    /// Exactly those before this fraction of the span of times are taken out.
    PopTo(f64),
    /// This many times, one or two are inserted, or one is taken out.
    Mix(u32, Times),
    /// All but those of one in so many handles are taken out at once.
    Thin(u32),
    /// All are taken out.
    Drain,
}

/// A set beside its model.
pub(super) struct Pair<Q> {
    set: Q,
    model: BTreeSet<(Key, u32)>,
    places: Places,
    random: Random,
    pushed: u64,
    now: f64,
    /// The number of different prefixes among ties.
    prefixes: u32,
    /// The number of operations between full checks.
    look_every: u64,
    operations: u64,
}

impl<Q: PendingSet> Pair<Q> {
    pub(super) fn new(seed: u64, prefixes: u32) -> Self {
        Pair {
            set: Q::default(),
            model: BTreeSet::new(),
            places: Places::default(),
            random: Random::new(seed, LpId(0), 0),
            pushed: 0,
            now: 0.0,
            prefixes,
            look_every: 1,
            operations: 0,
        }
    }

    /// Checks the whole set after every so many operations, and no longer after each.
    pub(super) fn look_every(self, operations: u64) -> Self {
        Pair { look_every: operations, ..self }
    }

    /// How many entries the set says it has.
    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    /// The time of the entry that comes after `place` others.
    pub(super) fn time_at(&self, place: usize) -> Option<VirtualTime> {
        self.model.iter().nth(place).map(|((time, ..), _)| *time)
    }

    pub(super) fn push(&mut self, times: Times) {
        let time = times.draw(self.now, &mut self.random);
        let tie = self.random.below(self.prefixes).wrapping_sub(1);
        // Equal ranks are not ordered by arrival.
        let order = u64::from(self.random.below(1 << 20)) << 40 | self.pushed;
        self.pushed += 1;
        let handle = self.places.insert((time, tie, order));
        assert!(self.model.insert(((time, tie, order), handle.bits())));
        self.set.push(Entry::new(time, tie, handle), &self.places);
        self.look();
    }

    /// Takes out the first entry before `end`; `false` if there is none.
    pub(super) fn pop_before(&mut self, end: VirtualTime) -> bool {
        let expected = self.model.first().copied().filter(|((time, ..), _)| *time < end);
        let found = self.set.pop_before(end, &self.places);
        let found = found
            .map(|entry| (entry.time(), entry.handle().bits(), self.places.key(entry.handle())));
        assert_eq!(
            found,
            expected.map(|(key, handle)| (key.0, handle, key)),
            "the first entry before {end} of {}",
            self.model.len()
        );
        if let Some(((time, ..), handle)) = expected {
            self.model.pop_first();
            self.places.remove(Handle::from_bits(handle));
            self.now = time.get();
        }
        self.look();
        expected.is_some()
    }

    pub(super) fn pop(&mut self) -> bool {
        // Beyond the largest time: everything.
        self.pop_before(VirtualTime::from_bits(f64::INFINITY.to_bits()))
    }

    /// Checks what must hold at any moment.
    fn look(&mut self) {
        self.operations += 1;
        if !self.operations.is_multiple_of(self.look_every) {
            return;
        }
        assert_eq!(
            (self.set.len(), self.set.is_empty()),
            (self.model.len(), self.model.is_empty())
        );
    }

    /// `upcoming` is a hint, but must never return an entry that is gone.
    pub(super) fn look_ahead(&self) {
        for distance in 0..20 {
            if let Some(handle) = self.set.upcoming(distance) {
                assert!(
                    self.places.is_pending(handle),
                    "upcoming({distance}) returned {handle:?}, which is not pending"
                );
            }
        }
    }

    /// How many of the entries before `end` the set holds in no order. Each of them is pending, lies
    /// before `end`, and is seen once.
    pub(super) fn unordered_before(&self, end: VirtualTime) -> usize {
        let mut seen = BTreeSet::new();
        self.set.see_unordered(end, |handle| {
            assert!(self.places.key(handle).0 < end, "{handle:?} does not lie before {end}");
            assert!(seen.insert(handle.bits()), "{handle:?} was seen twice");
        });
        seen.len()
    }

    /// Takes out all entries but those of one in `divisor` handles.
    fn thin(&mut self, divisor: u32) {
        let stays = |handle: u32| handle.is_multiple_of(divisor);
        self.set.retain(|handle| stays(handle.bits()), &self.places);
        let Pair { model, places, .. } = self;
        model.retain(|(_, handle)| {
            if !stays(*handle) {
                places.remove(Handle::from_bits(*handle));
            }
            stays(*handle)
        });
        self.look();
        self.look_ahead();
    }

    pub(super) fn run(&mut self, phase: &Phase) {
        match *phase {
            Phase::Push(count, times) => (0..count).for_each(|_| self.push(times)),
            Phase::Pop(count) => (0..count).for_each(|_| {
                self.pop();
            }),
            Phase::Hold(count, times) => {
                for _ in 0..count {
                    if self.pop() {
                        self.push(times);
                    }
                }
            }
            Phase::PopTo(share) => {
                let Some(((last, ..), _)) = self.model.last().copied() else { return };
                let end = (self.now + (last.get() - self.now).max(0.0) * share).min(f64::MAX);
                let end = VirtualTime::new(end).expect("it lies between times");
                while self.pop_before(end) {}
                // A second time: entries that are not due stay.
                assert!(!self.pop_before(end));
            }
            Phase::Mix(count, times) => {
                for _ in 0..count {
                    match self.random.below(5) {
                        0 | 1 => self.push(times),
                        2 => (0..2).for_each(|_| self.push(times)),
                        _ => {
                            self.pop();
                        }
                    }
                }
            }
            Phase::Thin(divisor) => self.thin(divisor),
            Phase::Drain => while self.pop() {},
        }
    }
}
