//! All models of the library under all engines: one answer, whatever the settings.

mod golden;

use std::path::Path;

use warpline::command::{Catalogue, Visitor};
use warpline::prelude::*;
use warpline::serde_json::Value;
use warpline::{Configured, Conservative, GoAhead, GvtAlgorithm, Messages, Run, Synchronisation};
use warpline_models::Library;
use warpline_testkit::time_limit;

/// How a parallel run synchronises.
#[derive(Clone, Copy, Debug)]
enum Sync {
    Conservative(Conservative),
    Optimistic(GoAhead),
    /// Optimistic, without use of lookahead.
    TimeWarp,
}

/// Settings of a parallel run.
#[derive(Clone, Copy, Debug)]
struct Way {
    sync: Sync,
    threads: u32,
    messages: Messages,
    undo: Undo,
    batch: u32,
    kps: u32,
    gvt: GvtAlgorithm,
}

impl Way {
    fn set<'a, M: Model>(self, simulation: Simulation<'a, M>) -> Simulation<'a, M> {
        let Way { sync, threads, messages, undo, batch, kps, gvt } = self;
        let simulation = simulation.threads(threads).messages(messages).batch(batch).gvt(gvt);
        let optimistic = |simulation: Simulation<'a, M>| {
            simulation.sync(Synchronisation::Optimistic).undo(undo).kps(kps)
        };
        match sync {
            Sync::Conservative(mode) => {
                simulation.sync(Synchronisation::Conservative).conservative(mode)
            }
            Sync::Optimistic(when) => optimistic(simulation).go_ahead(when),
            Sync::TimeWarp => optimistic(simulation).use_lookahead(false),
        }
    }

    /// Whether the model can be run this way, with this least delay between PEs.
    fn suits<M: Model>(self, least_delay: f64) -> bool {
        let can_undo = match self.undo {
            Undo::Reverse => M::ABILITIES.has_reverse(),
            Undo::Journal => M::ABILITIES.journal().is_some(),
            _ => true,
        };
        can_undo && (least_delay > 0.0 || !matches!(self.sync, Sync::Conservative(_)))
    }
}

/// A selection in which every value of each setting meets most values of the others.
const WAYS: [Way; 22] = {
    const fn way(
        sync: Sync,
        threads: u32,
        messages: Messages,
        undo: Undo,
        batch: u32,
        kps: u32,
        gvt: GvtAlgorithm,
    ) -> Way {
        Way { sync, threads, messages, undo, batch, kps, gvt }
    }
    use GvtAlgorithm::{Asynchronous, Synchronous};
    use Messages::{Auto, Shared};
    use Undo::{Copy, Journal, Reverse};
    const COPIES: Messages = Messages::Copy;
    const WINDOWS: Sync = Sync::Conservative(Conservative::Windows);
    const FREE: Sync = Sync::Conservative(Conservative::FreeRunning);
    const CAUTIOUS: Sync = Sync::Optimistic(GoAhead::Auto);
    const BOLD: Sync = Sync::Optimistic(GoAhead::Always);
    const AHEAD: Sync = Sync::TimeWarp;
    [
        way(AHEAD, 1, Auto, Copy, 64, 1000, Asynchronous),
        way(CAUTIOUS, 1, COPIES, Reverse, 1, 16, Synchronous),
        way(BOLD, 1, Auto, Reverse, 16, 1, Asynchronous),
        way(BOLD, 2, Auto, Copy, 16, 16, Asynchronous),
        way(AHEAD, 2, COPIES, Copy, 1, 1000, Synchronous),
        way(CAUTIOUS, 2, Shared, Reverse, 64, 1, Synchronous),
        way(AHEAD, 2, Shared, Reverse, 64, 1000, Asynchronous),
        way(BOLD, 3, COPIES, Copy, 64, 1, Asynchronous),
        way(CAUTIOUS, 3, Auto, Copy, 16, 1000, Synchronous),
        way(BOLD, 3, Shared, Reverse, 1, 16, Asynchronous),
        way(CAUTIOUS, 8, Auto, Copy, 64, 16, Asynchronous),
        way(AHEAD, 8, COPIES, Reverse, 16, 1000, Asynchronous),
        way(BOLD, 1, Shared, Journal, 16, 16, Synchronous),
        way(AHEAD, 2, Auto, Journal, 64, 1, Asynchronous),
        way(BOLD, 3, COPIES, Journal, 1, 1000, Asynchronous),
        way(AHEAD, 8, Shared, Journal, 16, 16, Synchronous),
        way(FREE, 1, Auto, Copy, 64, 1000, Asynchronous),
        way(WINDOWS, 2, Auto, Copy, 64, 16, Asynchronous),
        way(FREE, 2, Shared, Copy, 1, 1000, Asynchronous),
        way(WINDOWS, 3, Shared, Copy, 16, 1000, Synchronous),
        way(FREE, 3, COPIES, Copy, 64, 1, Synchronous),
        way(WINDOWS, 8, COPIES, Copy, 16, 16, Asynchronous),
    ]
};

/// Compares all ways with the sequential run.
struct Compare {
    end: f64,
}

/// What must not depend on the settings.
#[derive(Debug, PartialEq)]
struct Answer {
    digest: String,
    committed: u64,
    results: Value,
    series: String,
    views: String,
    tables: String,
}

fn answer<M: Model>(run: Run<M>) -> Answer {
    let Run { record, tables, .. } = run;
    Answer {
        digest: record.digest,
        committed: record.committed_events,
        results: record.results.into(),
        series: format!("{:?}", record.series),
        views: format!("{:?}", record.views),
        tables: format!("{tables:?}"),
    }
}

impl Visitor for Compare {
    type Output = ();

    fn visit<M: Model>(self, model: Configured<M>) {
        let model = &model;
        for seed in [3, 0xFEED_5EED] {
            let simulation =
                || Simulation::of(model).unwrap().seed(seed).end(self.end).warmup(self.end * 0.1);
            let expected = answer(simulation().sync(Synchronisation::Sequential).run().unwrap());
            assert!(expected.committed > 100, "it does something");
            let least_delay = |threads| simulation().threads(threads).least_delay().unwrap();
            for way in WAYS.into_iter().filter(|way| way.suits::<M>(least_delay(way.threads))) {
                let parallel = way.set(simulation());
                let _limit = time_limit((model.name(), model.values().clone(), seed, way));
                let found = answer(parallel.run().unwrap());
                assert_eq!(found, expected, "{model:?}, seed {seed}, {way:?}");
            }
            let mut synchronisations = vec![Synchronisation::Optimistic];
            if least_delay(4) > 0.0 {
                synchronisations.push(Synchronisation::Conservative);
            }
            for sync in synchronisations {
                let cluster = simulation().sync(sync).threads(4).virtual_cluster(seed);
                let what = (model.name(), model.values().clone(), seed, sync, "virtual cluster");
                let _limit = time_limit(what.clone());
                assert_eq!(answer(cluster.run().unwrap()), expected, "{what:?}");
            }
            let mut segments = 0;
            for changes in 0..4 {
                let what =
                    (model.name(), model.values().clone(), seed, changes, "changing engines");
                let _limit = time_limit(what.clone());
                let simulation = simulation()
                    .sync(Synchronisation::Optimistic)
                    .threads(4)
                    .change_engines(changes);
                let simulation = if changes.is_multiple_of(2) {
                    simulation
                } else {
                    simulation.virtual_cluster(seed)
                };
                let run = simulation.run().unwrap();
                segments += run.record.engines.len();
                assert_eq!(answer(run), expected, "{what:?}");
            }
            assert!(segments > 4, "some of them change the engine: {model:?}");
        }
    }
}

/// Compares all runs of a model with the words `name=value` for parameters.
fn compare(model: &str, words: &str, end: f64) {
    let pairs = words.split_whitespace().map(|word| word.split_once('=').unwrap());
    let parameters: Vec<(String, String)> =
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Library.with_model(model, &parameters, Compare { end }).unwrap();
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
    compare("phold", "lps=120 clusters=4 remote=0.2 plots=true", 6.0);
}

#[test]
fn phold_in_clusters_has_one_answer() {
    compare("phold", "lps=300 clusters=10 reach=2 remote=0.3", 6.0);
    compare("phold", "lps=64 clusters=4 remote=0.01 population=4", 6.0);
}

#[test]
fn phold_with_any_payload_has_one_answer() {
    for payload in [0, 9, 100, 20_000] {
        compare("phold", &format!("lps=64 payload={payload} epg=20"), 6.0);
    }
}

#[test]
fn simplesim_has_one_answer() {
    compare("simplesim", "limit=20", 60.0);
    compare("simplesim", "lps=30 limit=10 lookahead=0 message-size=0", 12.0);
    compare("simplesim", "lps=12 limit=40 lookahead=0.5 message-size=20000", 16.0);
}

#[test]
fn hypercube_has_one_answer() {
    compare("hypercube", "dimensions=5 in-flight=300", 20.0);
    compare("hypercube", "dimensions=4 in-flight=7 shortest=0 propagation=0", 60.0);
    compare("hypercube", "dimensions=3 in-flight=60 lengths=exponential redraw=true", 40.0);
}

#[test]
fn replay_has_one_answer() {
    compare("replay", "servers=3 repeat=true", 200_000.0);
}

#[test]
fn pcs_has_one_answer() {
    compare("pcs", "cells=64 portables=1500", 15.0);
    compare("pcs", "cells=16 portables=300 dwell=0.5 channels=3", 6.0);
    compare("pcs", "cells=9 portables=100 dwell=0 channels=2", 300.0);
}

/// Nothing undoes what they do, so runs that are to go ahead do not.
#[test]
fn models_of_processes_have_one_answer() {
    compare("bank", "patience=20 tellers=2 gap=5", 2000.0);
    compare("car-wash", "", 480.0);
    compare("machine-shop", "repair-times=exponential", 1000.0);
    compare("gas-station", "", 20_000.0);
    compare("movie", "", 120.0);
    compare("hospital", "", 2000.0);
    compare("job-shop", "rounds=10 variation=0.5 rule=shortest", 1000.0);
    compare("harbour", "", 1000.0);
}

#[test]
fn processes_that_send_messages_have_one_answer() {
    compare("event-latency", "jitter=5", 5000.0);
    compare("event-latency", "cable=0 jitter=5", 5000.0);
    compare("tandem", "stations=20", 60.0);
    compare("tandem", "stations=7 servers=3 arrival-rate=2.7 way=0", 60.0);
}

#[test]
fn network_has_one_answer() {
    compare("network", "", 0.004);
    compare(
        "network",
        "sources=onoff on=0.01 off=0.02 load=1.2 buffer=5000 sizes=exponential",
        0.003,
    );
    let geant = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topologies/sndlib-geant.json");
    compare("network", "topology=star-clique:4 udp-start=0.001 on=0.01", 0.05);
    compare(
        "network",
        &format!("topology={} demand=file load=1 buffer=3000", geant.display()),
        0.004,
    );
}

#[test]
fn programs_of_ranks_have_one_answer() {
    compare("mupi-barrier", "ranks=30 barriers=5", 0.006);
    compare("mupi-ping", "ranks=21 overhead=0.2 last-size=200000", 0.012);
    compare("stencil", "ranks=20 iterations=30", 0.004);
    compare("stencil", "ranks=31 iterations=20 target=cray-xt5", 0.004);
}
