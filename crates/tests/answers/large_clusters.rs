//! Virtual clusters of as many PEs as are allowed, with an LP or two each, give the sequential
//! answer.

use warpline::{
    Barrier, Cancellation, CopyInterval, GoAhead, GvtAlgorithm, GvtStart, Horizon, Mailbox,
    Messages, Pending, Undo,
};
use warpline_testkit::matrix::{ALGORITHMS, BufferUse, Configuration, Parallel};
use warpline_testkit::random_model::{DelayKind, Shape};
use warpline_testkit::torture::Case;
use warpline_testkit::{Recipe, Settings, cases};

/// How PEs are synchronised: whether conservatively, in windows, and with the use of lookahead.
#[derive(Clone, Copy)]
struct Way {
    conservative: bool,
    windows: bool,
    lookahead: bool,
}

const WINDOWS: Way = Way { conservative: true, windows: true, lookahead: true };
const FREE_RUNNING: Way = Way { windows: false, ..WINDOWS };
const OPTIMISTIC: Way = Way { conservative: false, ..FREE_RUNNING };
const WITHOUT_LOOKAHEAD: Way = Way { lookahead: false, ..OPTIMISTIC };

/// Events that go anywhere, most of them to other PEs.
fn recipe(seed: u64, pes: u32) -> Recipe {
    Recipe {
        lps: pes + pes / 2,
        topology: Shape::Uniform,
        delays: DelayKind::Exponential,
        lookahead: 1.0,
        starters: 1,
        energy: 4,
        fan_out: 2,
        burst: 0,
        to_self: 0.2,
        loans: false,
        ..Recipe::from_seed(seed)
    }
}

fn cluster(
    pes: u32,
    cluster: u64,
    way: Way,
    messages: Messages,
    gvt: GvtAlgorithm,
) -> Configuration {
    let parallel = Parallel {
        pes,
        processes: 1,
        copies: None,
        cluster: Some(cluster),
        conservative: way.conservative,
        windows: way.windows,
        messages,
        undo: [Undo::Copy, Undo::Reverse, Undo::Journal][cluster as usize % 3],
        cancellation: [Cancellation::Aggressive, Cancellation::Lazy, Cancellation::Dynamic]
            [cluster as usize / 3 % 3],
        copy_interval: CopyInterval::Every(1),
        lookahead: way.lookahead,
        go_ahead: if cluster % 2 == 1 { GoAhead::Always } else { GoAhead::Auto },
        batch: 16,
        kps: 7,
        gvt,
        barrier: Barrier::Tree,
        gvt_interval: 512,
        adapts_interval: false,
        window: None,
        waiting: None,
        buffers: BufferUse::default(),
        mailbox: Mailbox::Auto,
        least_room: false,
        horizon: Horizon::Auto,
        gvt_start: GvtStart::OnDemand,
    };
    Configuration { pending: Pending::Ladder, parallel: Some(parallel), changes: None }
}

/// Tries each way on one model, or on more models if there is time.
fn check(pes: u32, first_seed: u64, ways: &[(Way, Messages, GvtAlgorithm)]) {
    for seed in (first_seed..).take(cases(1).div_ceil(1000) as usize) {
        let settings = Settings { zero_delay_hops: 200, ..Settings::new(seed, 4.0) };
        let configurations = ways
            .iter()
            .map(|&(way, messages, gvt)| cluster(pes, seed, way, messages, gvt))
            .collect();
        let case = Case { recipe: recipe(seed, pes), settings, configurations };
        let summary = case.check().unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert!(summary.mistakes == 0 && summary.committed > 2 * u64::from(pes), "{summary:?}");
    }
}

#[test]
fn a_thousand_pes_have_one_answer() {
    check(
        1024,
        1,
        &[
            (FREE_RUNNING, Messages::Copy, GvtAlgorithm::Asynchronous),
            (WITHOUT_LOOKAHEAD, Messages::Copy, GvtAlgorithm::OneSided),
        ],
    );
}

/// Like the test above, in a test of its own so that it can run on another core.
#[test]
fn a_thousand_other_pes_have_one_answer() {
    check(
        1024,
        2,
        &[
            (OPTIMISTIC, Messages::Shared, GvtAlgorithm::OneSided),
            (WITHOUT_LOOKAHEAD, Messages::Shared, GvtAlgorithm::Gsu),
        ],
    );
}

/// The tree of 257 PEs is uneven. Each way is tried with each kind of messages, with varying GVT
/// algorithms.
#[test]
fn hundreds_of_pes_have_one_answer() {
    let ways = [WINDOWS, FREE_RUNNING, OPTIMISTIC, WITHOUT_LOOKAHEAD].into_iter();
    let wires = [Messages::Copy, Messages::Shared, Messages::Auto].into_iter();
    let all: Vec<_> =
        ways.flat_map(|way| wires.clone().map(move |messages| (way, messages))).collect();
    let gvt = |number| ALGORITHMS[number % ALGORITHMS.len()];
    let all: Vec<_> =
        (0..).zip(all).map(|(number, (way, messages))| (way, messages, gvt(number))).collect();
    check(257, 3, &all);
}
