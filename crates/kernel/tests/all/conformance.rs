//! One suite for every pending event set: a set must return what a sorted set returns, whatever is
//! inserted and when.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::Config;
use warpline_base::random::Random;
use warpline_base::{LpId, VirtualTime};
use warpline_kernel::pending::{Entry, Heap, Ladder, PendingSet, Ties};
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
enum Times {
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

const TIMES: [Times; 13] = [
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
enum Phase {
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
struct Pair<Q> {
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
    fn new(seed: u64, prefixes: u32) -> Self {
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

    fn push(&mut self, times: Times) {
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
    fn pop_before(&mut self, end: VirtualTime) -> bool {
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

    fn pop(&mut self) -> bool {
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
    fn look_ahead(&self) {
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
    fn unordered_before(&self, end: VirtualTime) -> usize {
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

    fn run(&mut self, phase: &Phase) {
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

fn phase() -> impl Strategy<Value = Phase> {
    let times = || prop::sample::select(&TIMES[..]);
    // Small sets, sets about as large as those at which a ladder is built or dismantled, and larger
    // ones.
    let count = || prop_oneof![1u32..20, 50u32..300, 900u32..1200, 1u32..4000].prop_map(scaled);
    prop_oneof![
        3 => (count(), times()).prop_map(|(count, times)| Phase::Push(count, times)),
        2 => count().prop_map(Phase::Pop),
        2 => (count(), times()).prop_map(|(count, times)| Phase::Hold(count, times)),
        1 => (0.0..1.5).prop_map(Phase::PopTo),
        3 => (count(), times()).prop_map(|(count, times)| Phase::Mix(count, times)),
        1 => (1u32..9).prop_map(Phase::Thin),
        1 => Just(Phase::Drain),
    ]
}

fn run_phases<Q: PendingSet>(seed: u64, prefixes: u32, phases: &[Phase]) {
    let mut pair = Pair::<Q>::new(seed, prefixes);
    phases.iter().for_each(|phase| pair.run(phase));
    pair.run(&Phase::Drain);
    // An empty set is as good as new.
    assert!(!pair.pop());
    pair.run(&Phase::Push(5, Times::Uniform));
    pair.run(&Phase::Drain);
}

/// A set of constant size, as an engine sees it: one out, one in.
fn hold_model<Q: PendingSet>(size: u32, operations: u32, times: Times, prefixes: u32) {
    let mut pair = Pair::<Q>::new(u64::from(size), prefixes);
    pair.look_every = if cfg!(miri) { 50 } else { 97 };
    pair.run(&Phase::Push(size, times));
    pair.run(&Phase::Hold(operations, times));
    assert_eq!(pair.set.len(), size as usize);
    pair.run(&Phase::Drain);
    pair.run(&Phase::Push(size / 2, times));
    pair.run(&Phase::Drain);
}

const fn scaled(count: u32) -> u32 {
    if cfg!(miri) { count.div_ceil(300) } else { count }
}

fn config() -> Config {
    let wanted = std::env::var("WARPLINE_CASES").ok().and_then(|text| text.parse().ok());
    Config {
        cases: wanted.unwrap_or(scaled(800)),
        failure_persistence: None,
        max_shrink_iters: 3000,
        ..Config::default()
    }
}

macro_rules! conformance {
    ($name:ident, $set:ty) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(config())]

                #[test]
                fn returns_what_a_sorted_set_returns(
                    seed: u64, prefixes in prop::sample::select(vec![1u32, 2, 1000]), phases in prop::collection::vec(phase(), 1..10),
                ) {
                    run_phases::<$set>(seed, prefixes, &phases);
                }
            }

            #[test]
            fn holds_any_increments_at_any_size() {
                for size in [0, 1, 2, 5, 60, 257, 1023, 1024, 1025, 5000] {
                    for times in TIMES {
                        hold_model::<$set>(scaled(size), scaled(1500), times, 3);
                    }
                }
            }

            #[test]
            fn holds_many() {
                for times in [Times::Exponential, Times::Integers, Times::Bimodal, Times::Clusters] {
                    hold_model::<$set>(scaled(100_000), scaled(100_000), times, 1000);
                }
                hold_model::<$set>(scaled(300_000), scaled(50_000), Times::Exponential, 1000);
            }

            /// All at one time, so that only the events behind the handles decide.
            #[test]
            fn orders_ties() {
                for times in [Times::Same, Times::Now] {
                    hold_model::<$set>(scaled(50_000), scaled(50_000), times, 1);
                }
            }

            /// Grows and shrinks slowly through the sizes at which a set may change its structure.
            #[test]
            fn changes_its_structure_and_back() {
                for times in [Times::Exponential, Times::Integers, Times::Past, Times::Ulps] {
                    let mut pair = Pair::<$set>::new(5, 2);
                    for size in (20..scaled(4000)).step_by(170).chain((0..scaled(4000)).rev().step_by(190)) {
                        while pair.set.len() < size as usize {
                            pair.push(times);
                        }
                        while pair.set.len() > size as usize {
                            pair.pop();
                        }
                        pair.run(&Phase::Hold(30, times));
                    }
                    pair.run(&Phase::Drain);
                }
            }

            #[test]
            fn upcoming_entries_are_pending() {
                for times in TIMES {
                    let mut pair = Pair::<$set>::new(3, 2);
                    for _ in 0..scaled(2000) {
                        pair.run(&Phase::Mix(1, times));
                        pair.look_ahead();
                    }
                    while pair.pop() {
                        pair.look_ahead();
                    }
                }
            }

            #[test]
            fn entries_in_no_order_are_pending() {
                for times in TIMES {
                    let mut pair = Pair::<$set>::new(8, 2);
                    for _ in 0..scaled(500) {
                        pair.run(&Phase::Mix(4, times));
                        for place in [0, pair.model.len() / 2] {
                            if let Some(((end, ..), _)) = pair.model.iter().nth(place) {
                                pair.unordered_before(*end);
                            }
                        }
                    }
                }
            }

            /// Undoing events puts entries back, before all others.
            #[test]
            fn takes_entries_back() {
                let mut pair = Pair::<$set>::new(9, 2);
                pair.run(&Phase::Push(scaled(4000), Times::Exponential));
                for _ in 0..scaled(200) {
                    pair.run(&Phase::Pop(40));
                    pair.run(&Phase::Push(38, Times::Past));
                    pair.run(&Phase::Push(2, Times::Exponential));
                }
                pair.run(&Phase::Drain);
            }

            /// Entries that are not due are neither returned nor lost, and an entry at the end is
            /// not before the end.
            #[test]
            fn leaves_entries_that_are_not_due() {
                for times in [Times::Integers, Times::Exponential, Times::Huge] {
                    let mut pair = Pair::<$set>::new(2, 2);
                    pair.run(&Phase::Push(scaled(3000), times));
                    while let Some(((first, ..), _)) = pair.model.first().copied() {
                        assert!(!pair.pop_before(VirtualTime::ZERO) && !pair.pop_before(first));
                        let after = VirtualTime::from_bits(first.bits() + 1);
                        while pair.pop_before(after) {}
                        assert!(pair.model.first().is_none_or(|((next, ..), _)| *next > first));
                    }
                }
            }
        }
    };
}

conformance!(heap, Heap);
conformance!(ladder, Ladder);

/// Nothing in a heap is in order, and a ladder with few entries is a heap. Of many, it holds those in
/// no order that come before what it has sorted.
#[test]
fn what_is_in_no_order_is_seen() {
    let all = VirtualTime::from_bits(f64::INFINITY.to_bits());
    let mut heap = Pair::<Heap>::new(4, 2);
    let mut ladder = Pair::<Ladder>::new(4, 2);
    heap.run(&Phase::Push(100, Times::Exponential));
    ladder.run(&Phase::Push(100, Times::Exponential));
    assert_eq!((heap.unordered_before(all), ladder.unordered_before(all)), (100, 100));
    heap.run(&Phase::Push(3900, Times::Exponential));
    ladder.run(&Phase::Push(3900, Times::Exponential));
    heap.run(&Phase::Pop(10));
    ladder.run(&Phase::Pop(10));
    let few = ladder.unordered_before(all);
    assert!(heap.unordered_before(all) == 3990 && few < 1000, "{few}");
    heap.run(&Phase::Push(5, Times::Past));
    ladder.run(&Phase::Push(5, Times::Past));
    assert_eq!((heap.unordered_before(all), ladder.unordered_before(all)), (3995, few + 5));
}
