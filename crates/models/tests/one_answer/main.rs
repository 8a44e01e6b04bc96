//! All models of the library under all engines: one answer, whatever the settings.

mod golden;

use std::path::Path;

use warpline::prelude::*;
use warpline::serde_json::Value;
use warpline::{Configure, GvtAlgorithm, Parameters, Run, Synchronisation};
use warpline_models::catalogue::{Visitor, with_model};
use warpline_testkit::time_limit;

/// Settings of a parallel run.
#[derive(Clone, Copy, Debug)]
struct Way {
    threads: u32,
    undo: Undo,
    batch: u32,
    kps: u32,
    gvt: GvtAlgorithm,
}

/// A selection in which every value of each setting meets every value of nearly every other.
const WAYS: [Way; 12] = {
    const fn way(threads: u32, undo: Undo, batch: u32, kps: u32, gvt: GvtAlgorithm) -> Way {
        Way { threads, undo, batch, kps, gvt }
    }
    use GvtAlgorithm::{Asynchronous, Synchronous};
    use Undo::{Copy, Reverse};
    [
        way(1, Copy, 64, 1000, Asynchronous),
        way(1, Reverse, 1, 16, Synchronous),
        way(1, Reverse, 16, 1, Asynchronous),
        way(2, Copy, 16, 16, Asynchronous),
        way(2, Copy, 1, 1000, Synchronous),
        way(2, Reverse, 64, 1, Synchronous),
        way(2, Reverse, 64, 1000, Asynchronous),
        way(3, Copy, 64, 1, Asynchronous),
        way(3, Copy, 16, 1000, Synchronous),
        way(3, Reverse, 1, 16, Asynchronous),
        way(8, Copy, 64, 16, Asynchronous),
        way(8, Reverse, 16, 1000, Asynchronous),
    ]
};

/// Compares all ways with the sequential run.
struct Compare {
    end: f64,
}

/// What must not depend on the way.
#[derive(Debug, PartialEq)]
struct Answer {
    digest: String,
    committed: u64,
    results: Value,
    views: String,
    tables: String,
}

fn answer<M: Model>(run: Run<M>) -> Answer {
    let Run { record, tables, .. } = run;
    let (views, tables) = (format!("{:?}", record.views), format!("{tables:?}"));
    Answer { digest: record.digest, committed: record.committed_events, results: record.results, views, tables }
}

impl Visitor for Compare {
    type Output = ();

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) {
        for seed in [3, 0xFEED_5EED] {
            let simulation = || Simulation::<M>::configured(&parameters).unwrap().seed(seed).end(self.end).warmup(self.end * 0.1);
            let expected = answer(simulation().run().unwrap());
            assert!(expected.committed > 100, "it does something");
            // Half of the ways for either seed; those of one are not those of the other.
            let ways = WAYS.into_iter().skip(usize::from(seed != 3)).step_by(2);
            for way in ways.filter(|way| way.undo == Undo::Copy || M::REVERSIBLE) {
                let Way { threads, undo, batch, kps, gvt } = way;
                let parallel = simulation().sync(Synchronisation::Optimistic).threads(threads).undo(undo).batch(batch).kps(kps).gvt(gvt);
                let _limit = time_limit((M::NAME, parameters.values(), seed, way));
                let found = answer(parallel.run().unwrap());
                assert_eq!(found, expected, "{} {:?}, seed {seed}, {way:?}", M::NAME, parameters.values());
            }
            let cluster = simulation().sync(Synchronisation::Optimistic).threads(4).virtual_cluster(seed);
            let _limit = time_limit((M::NAME, parameters.values(), seed, "virtual cluster"));
            assert_eq!(answer(cluster.run().unwrap()), expected, "{} {:?}, seed {seed}, virtual cluster", M::NAME, parameters.values());
        }
    }
}

/// Compares all runs of a model with the words `name=value` for parameters.
fn compare(model: &str, words: &str, end: f64) {
    let pairs = words.split_whitespace().map(|word| word.split_once('=').unwrap());
    let parameters: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    with_model(model, &parameters, Compare { end }).unwrap();
}

#[test]
fn mm1_has_one_answer() {
    compare("mm1", "", 300.0);
    compare("mm1", "discipline=lifo arrival-rate=0.97", 300.0);
}

#[test]
fn phold_has_one_answer() {
    compare("phold", "lps=400", 6.0);
    compare("phold", "lps=60 population=10 lookahead=0", 3.0);
}

#[test]
fn phold_in_clusters_has_one_answer() {
    compare("phold", "lps=300 clusters=10 reach=2 remote=0.3", 6.0);
    compare("phold", "lps=64 clusters=4 remote=0.01 population=4", 6.0);
}

#[test]
fn phold_with_any_payload_has_one_answer() {
    for payload in [0, 40, 300, 4096] {
        compare("phold", &format!("lps=64 payload={payload} epg=20"), 6.0);
    }
}

#[test]
fn network_has_one_answer() {
    compare("network", "", 0.004);
    compare("network", "sources=onoff on=0.01 off=0.02 load=1.2 buffer=5000 sizes=exponential", 0.003);
    let geant = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topologies/sndlib-geant.json");
    compare("network", &format!("topology={} demand=file load=1 buffer=3000", geant.display()), 0.004);
}
