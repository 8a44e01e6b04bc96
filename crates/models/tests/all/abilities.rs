//! What engines can do with the models besides executing their events.

use warpline::Configured;
use warpline::command::{Catalogue, Visitor};
use warpline::prelude::*;
use warpline_models::Library;

/// Whether a model can run in several processes and compare its events, and whether it has a
/// journal and reverse code.
struct Can;

impl Visitor for Can {
    type Output = [bool; 4];

    fn visit<M: Model>(self, _: Configured<M>) -> [bool; 4] {
        let can = M::ABILITIES;
        [
            can.wire().is_some(),
            can.comparable().is_some(),
            can.journal().is_some(),
            can.has_reverse(),
        ]
    }
}

fn abilities(model: &str, parameters: &[(&str, &str)]) -> [bool; 4] {
    let given: Vec<_> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Library.with_model(model, &given, Can).unwrap()
}

#[test]
fn mm1_and_replay_declare_nothing_and_run_in_processes() {
    assert_eq!(abilities("mm1", &[]), [true, true, false, false]);
    assert_eq!(abilities("replay", &[]), [true, true, false, false]);
}

/// What their processes do is never undone, so they need neither.
#[test]
fn models_of_processes_run_in_processes_of_the_system() {
    for model in [
        "bank",
        "car-wash",
        "machine-shop",
        "gas-station",
        "movie",
        "event-latency",
        "hospital",
        "job-shop",
        "harbour",
        "tandem",
        "mupi-barrier",
        "mupi-ping",
        "stencil",
    ] {
        assert_eq!(abilities(model, &[])[..1], [true], "{model}");
        assert_eq!(abilities(model, &[])[2..], [false, false], "{model}");
    }
}

#[test]
fn all_other_models_can_do_everything() {
    for model in ["simplesim", "phold", "hypercube", "pcs", "network"] {
        assert_eq!(abilities(model, &[]), [true; 4], "{model}");
    }
    assert_eq!(abilities("phold", &[("payload", "100")]), [true; 4]);
}
