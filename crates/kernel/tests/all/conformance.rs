//! One suite for every pending event set: a set must return what a sorted set returns, whatever is
//! inserted and when.

mod pair;

use proptest::prelude::*;
use proptest::test_runner::Config;
use warpline_base::VirtualTime;
use warpline_kernel::pending::{Heap, Ladder, PendingSet};

use self::pair::{Pair, Phase, TIMES, Times};

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
    let mut pair =
        Pair::<Q>::new(u64::from(size), prefixes).look_every(if cfg!(miri) { 50 } else { 97 });
    pair.run(&Phase::Push(size, times));
    pair.run(&Phase::Hold(operations, times));
    assert_eq!(pair.len(), size as usize);
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
                        while pair.len() < size as usize {
                            pair.push(times);
                        }
                        while pair.len() > size as usize {
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
                        for end in [0, pair.len() / 2].into_iter().filter_map(|place| pair.time_at(place)) {
                            pair.unordered_before(end);
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
                    while let Some(first) = pair.time_at(0) {
                        assert!(!pair.pop_before(VirtualTime::ZERO) && !pair.pop_before(first));
                        let after = VirtualTime::from_bits(first.bits() + 1);
                        while pair.pop_before(after) {}
                        assert!(pair.time_at(0).is_none_or(|next| next > first));
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
