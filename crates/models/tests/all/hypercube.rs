//! `hypercube` against theory: lengths of routes, Little's law, and closed networks of queues.

use crate::estimates::{estimate, near};
use warpline::prelude::*;
use warpline::serde_json::Value;
use warpline_models::hypercube::{Hypercube, HypercubeParameters, Lengths};

fn results(parameters: &HypercubeParameters, end: f64) -> Value {
    let simulation = Simulation::<Hypercube>::configured(parameters).unwrap();
    simulation.end(end).warmup(0.1 * end).seed(5).run().unwrap().record.results.into()
}

#[test]
fn routes_have_the_mean_length_of_a_hypercube() {
    for dimensions in [1, 3, 7, 10] {
        let parameters = HypercubeParameters {
            dimensions,
            in_flight: 4 << dimensions,
            ..HypercubeParameters::default()
        };
        let truth = f64::from(dimensions) * f64::from(1 << (dimensions - 1))
            / (f64::from(1 << dimensions) - 1.0);
        let results = results(&parameters, 600.0);
        if dimensions == 1 {
            assert_eq!(estimate(&results, "hops").0, 1.0, "there is only one other node");
        } else {
            near(&results, "hops", truth);
        }
    }
}

/// Throughput times mean time is the number of messages, which never changes.
#[test]
fn no_message_is_lost() {
    for (messages, redraw) in [(2048, false), (300, false), (2048, true)] {
        let parameters =
            HypercubeParameters { in_flight: messages, redraw, ..HypercubeParameters::default() };
        let results = results(&parameters, 3000.0);
        let found = results["in_network"].as_f64().unwrap();
        assert!((found / f64::from(messages) - 1.0).abs() < 0.01, "{found} of {messages} messages");
    }
}

/// Alone, a message never waits.
#[test]
fn a_single_message_takes_as_long_as_its_hops() {
    let parameters =
        HypercubeParameters { dimensions: 4, in_flight: 1, ..HypercubeParameters::default() };
    let results = results(&parameters, 200_000.0);
    assert_eq!(estimate(&results, "wait").0, 0.0);
    near(&results, "time", 32.0 / 15.0 * (1.0 + 0.1));
}

/// Mean value analysis of a closed network in which all nodes are alike (M. Reiser and S.
/// Lavenberg, J. ACM 27(2), 1980): the time for a hop, waiting included, and the throughput in
/// hops, with so many messages.
fn mean_values(nodes: f64, messages: u32, service: f64, travel: f64) -> (f64, f64) {
    (1..=messages).fold((0.0, 0.0), |(stay, throughput), messages| {
        let waiting_at_a_node = throughput / nodes * stay;
        let stay = service * (1.0 + waiting_at_a_node);
        (stay, f64::from(messages) / (stay + travel))
    })
}

/// With exponential lengths, drawn anew at every node, the network has a product form: it is
/// vertex-transitive, and so is e-cube routing to uniform destinations, so that all nodes are
/// visited alike.
#[test]
fn waits_and_throughput_are_those_of_a_closed_network() {
    for (dimensions, messages, propagation) in [(3, 40, 0.5), (5, 60, 0.1), (4, 8, 2.0)] {
        let parameters = HypercubeParameters {
            dimensions,
            in_flight: messages,
            propagation,
            lengths: Lengths::Exponential,
            redraw: true,
            ..HypercubeParameters::default()
        };
        let results = results(&parameters, 20_000.0);
        let (stay, throughput) =
            mean_values(f64::from(1 << dimensions), messages, 1.0, propagation);
        near(&results, "wait", stay - 1.0);
        let utilisation = results["utilisation"].as_f64().unwrap();
        let truth = throughput / f64::from(1 << dimensions);
        assert!(
            (utilisation / truth - 1.0).abs() < 0.01,
            "utilisation {utilisation}, in theory {truth}"
        );
    }
}

#[test]
fn both_ways_of_undo_pass_verification() {
    for (redraw, propagation) in [(false, 0.1), (true, 0.0)] {
        let parameters = HypercubeParameters {
            dimensions: 3,
            in_flight: 30,
            redraw,
            propagation,
            ..HypercubeParameters::default()
        };
        let simulation = || Simulation::<Hypercube>::configured(&parameters).unwrap().end(40.0);
        let run = simulation().run().unwrap();
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

#[test]
fn lengths_have_to_be_in_order() {
    let parameters =
        HypercubeParameters { shortest: 2.0, longest: 1.0, ..HypercubeParameters::default() };
    let error = Simulation::<Hypercube>::configured(&parameters).err().unwrap().to_string();
    assert!(
        error.contains("the shortest message, 2 ms, is longer than the longest, 1 ms"),
        "{error}"
    );
}
