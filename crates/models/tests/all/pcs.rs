//! `pcs` against the formulas of Engset and Erlang, and against balance.

use crate::estimates::{estimate, near};
use warpline::prelude::*;
use warpline::record::View;
use warpline::serde_json::Value;
use warpline_models::pcs::{Pcs, PcsParameters};

fn results(parameters: &PcsParameters, end: f64) -> Value {
    let simulation = Simulation::<Pcs>::configured(parameters).unwrap();
    simulation.end(end).warmup(0.1 * end).seed(8).run().unwrap().record.results.into()
}

/// The probabilities of 0, 1, … busy channels, if each of `sources` wants one at this rate, in
/// units of the rate at which calls end.
fn busy_channels(sources: u32, channels: u32, rate: f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    for busy in 1..=channels.min(sources) {
        let before = weights[busy as usize - 1];
        weights.push(before * f64::from(sources + 1 - busy) * rate / f64::from(busy));
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The share of calls that are blocked: a caller sees the others, who are one fewer.
fn engset(sources: u32, channels: u32, rate: f64) -> f64 {
    busy_channels(sources - 1, channels, rate).get(channels as usize).copied().unwrap_or_default()
}

fn erlang_b(channels: u32, load: f64) -> f64 {
    (1..=channels)
        .fold(1.0, |blocked, channels| load * blocked / (f64::from(channels) + load * blocked))
}

/// One portable is idle at first: a call begins at rate 1/100 and ends at rate 1/3, wherever it
/// moves.
#[test]
fn cells_in_which_nobody_calls_count() {
    let parameters = PcsParameters {
        cells: 4,
        portables: 1,
        call: 3.0,
        inter_call: 100.0,
        ..PcsParameters::default()
    };
    let all =
        Simulation::<Pcs>::configured(&parameters).unwrap().end(10.0).replicate(1000).unwrap();
    let begins = 1.0 / 100.0;
    let ends = 1.0 / 3.0;
    let pace: f64 = begins + ends;
    let truth = begins / pace * (1.0 - (1.0 - (-10.0 * pace).exp()) / (10.0 * pace));
    assert!((truth - 0.0209).abs() < 1e-4, "{truth}");
    let busy = all.spread("busy").unwrap();
    let half = busy.ci95.unwrap();
    assert!(
        busy.values.len() == 1000 && (busy.mean - truth).abs() < 2.0 * half && half < 0.3 * truth,
        "{} ± {half}, not {truth}",
        busy.mean
    );
}

/// The extremes of a sum over cells are those of single cells, and are named so.
#[test]
fn busy_channels_of_all_cells_have_extremes_of_single_cells() {
    let parameters = PcsParameters { cells: 16, portables: 400, ..PcsParameters::default() };
    let busy = &results(&parameters, 100.0)["busy"];
    let figures = ["levels", "single_min", "single_max"].map(|name| busy[name].as_f64());
    assert_eq!(figures, [Some(16.0), Some(0.0), Some(10.0)], "{busy}");
    assert!(
        busy["mean"].as_f64() > Some(100.0)
            && busy.get("max").is_none()
            && busy.get("min").is_none(),
        "{busy}"
    );
}

#[test]
fn where_nobody_moves_calls_are_blocked_as_engset_says() {
    for (portables, channels, call, inter_call) in
        [(25, 10, 3.0, 6.0), (8, 2, 1.0, 4.0), (40, 10, 3.0, 6.0)]
    {
        let parameters = PcsParameters {
            cells: 100,
            portables: 100 * portables,
            channels,
            dwell: 0.0,
            call,
            inter_call,
        };
        let results = results(&parameters, 4000.0);
        let rate = call / inter_call;
        near(&results, "blocking", engset(portables, channels, rate));
        let busy: f64 = busy_channels(portables, channels, rate)
            .iter()
            .zip(0..)
            .map(|(share, busy)| share * f64::from(busy))
            .sum();
        near(&results, "busy", 100.0 * busy);
        assert_eq!(results["dropping"]["count"], 0);
    }
}

/// Many portables that seldom call are as good as a Poisson process of calls.
#[test]
fn many_portables_that_seldom_call_are_blocked_as_erlang_says() {
    let portables = 20_000;
    let channels = 10;
    let load = 7.0;
    let inter_call = f64::from(portables) / load;
    let parameters = PcsParameters {
        cells: 4,
        portables: 4 * portables,
        channels,
        dwell: 0.0,
        call: 1.0,
        inter_call,
    };
    let truth = erlang_b(channels, load);
    // The two formulas differ by less than the interval.
    assert!((engset(portables, channels, load / f64::from(portables)) / truth - 1.0).abs() < 2e-3);
    near(&results(&parameters, 20_000.0), "blocking", truth);
}

#[test]
fn with_a_channel_for_everybody_no_call_is_lost() {
    let parameters = PcsParameters {
        cells: 25,
        portables: 200,
        channels: 200,
        dwell: 2.0,
        ..PcsParameters::default()
    };
    let results = results(&parameters, 2000.0);
    assert_eq!((estimate(&results, "blocking").0, estimate(&results, "dropping").0), (0.0, 0.0));
    near(&results, "busy", 200.0 * 3.0 / 9.0);
}

/// All times are exponential, so that rates follow from how many portables have a call: as many
/// hand-offs and ends as those make, as many new calls as the others want; and as many calls begin
/// as end.
#[test]
fn calls_and_hand_offs_balance_where_people_move() {
    for (dwell, channels) in [(75.0, 10), (2.0, 10), (0.5, 4)] {
        let parameters = PcsParameters {
            cells: 64,
            portables: 1600,
            channels,
            dwell,
            ..PcsParameters::default()
        };
        let end = 5000.0;
        let results = results(&parameters, 5000.0);
        let observed = 0.9 * end;
        let busy = estimate(&results, "busy").0;
        let count = |name: &str| results[name]["count"].as_f64().unwrap();
        let [calls, hand_offs, ended] =
            [count("blocking"), count("dropping"), results["ended"].as_f64().unwrap()];
        let [blocked, dropped] = [("blocking", calls), ("dropping", hand_offs)]
            .map(|(name, all)| estimate(&results, name).0 * all);
        assert!(blocked > 1000.0 && dropped > 100.0, "{results}");
        let balances = |what: &str, one: f64, other: f64| {
            // Both are counts, or nearly so; what they have in common makes them closer still.
            let deviation = one.max(other).sqrt();
            assert!(
                (one - other).abs() < 4.0 * deviation,
                "{what} with a dwell of {dwell}: {one} and {other}"
            );
        };
        balances("ends", ended, busy / 3.0 * observed);
        balances("hand-offs", hand_offs, busy / dwell * observed);
        balances("new calls", calls, (1600.0 - busy) / 6.0 * observed);
        balances("beginnings and ends", calls - blocked, ended + dropped);
    }
}

/// Nobody leaves the grid at its edges: every cell is as busy as any other.
#[test]
fn all_cells_are_alike() {
    let parameters =
        PcsParameters { cells: 16, portables: 400, dwell: 1.0, ..PcsParameters::default() };
    let run = Simulation::<Pcs>::configured(&parameters).unwrap().end(10_000.0).run().unwrap();
    let wanted: Vec<f64> = run.states.iter().map(|cell| f64::from(cell.wanted)).collect();
    let mean = wanted.iter().sum::<f64>() / 16.0;
    assert!(wanted.iter().all(|wanted| (wanted / mean - 1.0).abs() < 0.02), "{wanted:?}");
    let [View::Grid(grid)] = &run.record.views[..] else { panic!("{:?}", run.record.views) };
    let shares: Vec<Option<f64>> = run
        .states
        .iter()
        .map(|cell| Some(f64::from(cell.refused) / f64::from(cell.wanted)))
        .collect();
    assert_eq!((grid.columns, &grid.values), (4, &shares));
}

#[test]
fn both_ways_of_undo_pass_verification() {
    for (cells, dwell, channels) in [(16, 1.0, 2), (4, 0.2, 0), (1, 0.0, 3)] {
        let parameters = PcsParameters {
            cells,
            portables: 10 * cells,
            channels,
            dwell,
            ..PcsParameters::default()
        };
        let simulation = || Simulation::<Pcs>::configured(&parameters).unwrap().end(30.0);
        let run = simulation().run().unwrap();
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

#[test]
fn grids_are_square_and_have_neighbours() {
    let refused = |cells, dwell| {
        let parameters = PcsParameters { cells, dwell, ..PcsParameters::default() };
        Simulation::<Pcs>::configured(&parameters).err().unwrap().to_string()
    };
    assert!(refused(1000, 75.0).contains("1000 cells make no square; choose 961 or 1024"));
    assert!(refused(1, 75.0).contains("one cell has no neighbours to move to"));
}
