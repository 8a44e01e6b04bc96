//! GVT among PEs that do random, but legal, Time Warp over a network that delays and reorders
//! messages. Whenever a PE adopts a GVT, it must be at or before everything pending or in flight,
//! and in the end it must be [`Moment::Never`].

mod dice;
mod mistakes;
mod pe;
mod ranks;
mod world;

use self::world::{Way, World};
use warpline_base::Moment;
use warpline_kernel::gvt::GvtAlgorithm;

const SCHEDULES: u64 = 2_000;

/// What blocks are for: each has its place.
fn four_blocks(place: usize) -> usize {
    place
}

/// Runs many schedules, and checks that they exercise the algorithm: a verdict takes at least
/// `rounds_at_least` reductions, and often more if `often_more`.
fn check(way: Way, rounds_at_least: u32, often_more: bool) {
    let mut epochs = 0;
    let mut inner = 0;
    let mut repeated = 0;
    for seed in 0..SCHEDULES {
        let result =
            std::panic::catch_unwind(|| World::new(seed, |gvt| gvt, way, four_blocks).run());
        let verdicts = result.unwrap_or_else(|_| panic!("{way:?} GVT fails with seed {seed}"));
        epochs += verdicts.len();
        inner += verdicts.iter().filter(|verdict| matches!(verdict.gvt, Moment::Event(_))).count();
        repeated += verdicts.iter().filter(|verdict| verdict.rounds > rounds_at_least).count();
        assert!(verdicts.iter().all(|verdict| verdict.rounds >= rounds_at_least));
    }
    println!("{way:?}: {epochs} epochs, {inner} before the end, {repeated} with further rounds");
    assert!(inner as u64 > SCHEDULES, "{inner} of {epochs}");
    assert_eq!(repeated as u64 > SCHEDULES / 2, often_more, "{repeated} of {epochs}");
}

/// One thread per algorithm, as each goes through thousands of schedules.
#[test]
fn every_algorithm_finds_a_bound_and_terminates() {
    std::thread::scope(|scope| {
        for &algorithm in GvtAlgorithm::ALL {
            let (rounds_at_least, often_more) = match algorithm {
                GvtAlgorithm::Synchronous => (2, true),
                GvtAlgorithm::Gsu => (1, false),
                _ => (1, true),
            };
            scope.spawn(move || check(Way::Together(algorithm), rounds_at_least, often_more));
        }
    });
}

#[test]
fn gvt_at_a_barrier_is_a_bound_and_terminates() {
    check(Way::AtBarrier { sleeps: false }, 2, true);
}

#[test]
fn gvt_over_ranks_is_a_bound_and_terminates() {
    check(Way::Ranks, 2, true);
}
