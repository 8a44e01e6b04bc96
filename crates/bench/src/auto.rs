//! The cost of choosing the engine: `--sync auto` against the best of the engines that it can
//! choose.

use warpline::command::{Catalogue, Visitor};
use warpline::record::RunRecord;
use warpline::{Configured, Model, Simulation, Synchronisation};
use warpline_bench::measuring::{alternate, tell};
use warpline_models::Library;

use crate::hostile::{Hostile, names};
use crate::network::on_topology;

/// The workloads: name, parameters, and an end at which a run takes about two seconds on one core.
const WORKLOADS: [(&str, &str, f64); 4] = [
    ("W1", "", 3000.0),
    ("W2", "lps=1000000", 15.0),
    ("W3", "lps=1024 population=16", 1500.0),
    ("W4", "clusters=2", 3000.0),
];
/// Variants of lookahead: name, parameter, and the factor for the end, as events are further apart.
const LOOKAHEADS: [(&str, &str, f64); 4] = [
    ("", "", 1.0),
    (" la 0", "lookahead=0", 1.0),
    (" la 0.001", "lookahead=0.001", 1.0),
    (" la 1", "lookahead=1", 2.0),
];
/// Likewise, variants of the work of an event.
const WORK: [(&str, &str, f64); 2] = [("", "", 1.0), (" 1 µs", "epg=400", 1.0 / 15.0)];
/// Other runs: name, model, parameters, end.
const OTHERS: [(&str, &str, &str, f64); 4] = [
    ("64 LPs", "phold", "lps=64", 300_000.0),
    ("mm1", "mm1", "", 1e7),
    ("network", "network", "", 60.0),
    ("network, grid", "network", "GRID", 40.0),
];

/// A run of a model of the library.
struct LibraryRun {
    name: String,
    model: &'static str,
    parameters: String,
    end: f64,
}

/// All runs of models of the library.
fn library_runs() -> Vec<LibraryRun> {
    let workloads = WORKLOADS
        .into_iter()
        .flat_map(|workload| LOOKAHEADS.map(|lookahead| (workload, lookahead)));
    let variants =
        workloads.flat_map(|(workload, lookahead)| WORK.map(|work| [workload, lookahead, work]));
    let variant = |parts: [(&str, &str, f64); 3]| LibraryRun {
        name: parts.map(|(name, ..)| name).concat(),
        model: "phold",
        parameters: parts.map(|(_, parameters, _)| parameters).join(" "),
        end: parts.iter().map(|(.., end)| end).product(),
    };
    let other = |(name, model, parameters, end): (&str, &'static str, &str, f64)| LibraryRun {
        name: name.to_owned(),
        model,
        parameters: parameters.to_owned(),
        end,
    };
    variants.map(variant).chain(OTHERS.map(other)).collect()
}

/// How many times as long runs of hostile models are here as in their own comparison.
const LONGER: f64 = 12.0;

/// The engines, by name.
const ENGINES: [(&str, Synchronisation); 4] = [
    ("sequential", Synchronisation::Sequential),
    ("conservative", Synchronisation::Conservative),
    ("optimistic", Synchronisation::Optimistic),
    ("auto", Synchronisation::Auto),
];

/// Prints a row for every run, or for those whose name begins with `only`.
pub(crate) fn compare(only: Option<&str>) {
    println!(
        "auto: million committed events per second of each engine, on all cores, and of auto \
         against the best\n"
    );
    println!(
        "{:<18} {:>12} {:>12} {:>12} {:>8} {:>10}",
        "", "sequential", "conservative", "optimistic", "auto", "auto/best"
    );
    let hostile = names().map(|name| ("hostile", name.to_owned()));
    let all = library_runs().into_iter().map(|run| ("library", run.name)).chain(hostile);
    for (kind, name) in all.filter(|(_, name)| only.is_none_or(|only| name.starts_with(only))) {
        let name = name.as_str();
        on_topology(None, |grid| {
            let rivals: Vec<Vec<&str>> =
                ENGINES.iter().map(|engine| vec!["auto", kind, name, grid, engine.0]).collect();
            let rates: Vec<f64> =
                alternate(&rivals).iter().map(|measured| measured.rate / 1e6).collect();
            let best = rates[..3].iter().copied().fold(0.0, f64::max);
            let [sequential, conservative, optimistic, auto] = rates[..] else { return };
            print!("{name:<18} {sequential:>12.2} {conservative:>12.2} {optimistic:>12.2}");
            println!(" {auto:>8.2} {:>10.2}", auto / best);
        });
    }
}

/// Measures a run in this process. An engine that cannot run it has no rate.
pub(crate) fn measure(kind: &str, name: &str, grid: &str, engine: &str) {
    let sync = ENGINES.iter().find(|known| known.0 == engine).expect("the name of an engine").1;
    let record = match kind {
        "hostile" => {
            let (model, end) = Hostile::longer(name, LONGER).expect("the name of a model");
            run(Simulation::new(model).end(end), sync)
        }
        _ => run_of_library(name, grid, sync),
    };
    for engine in record.iter().flat_map(|record| &record.engines) {
        eprintln!("{engine:?}");
    }
    tell(record.map_or(0.0, |record| record.event_rate));
}

fn run_of_library(name: &str, grid: &str, sync: Synchronisation) -> Option<RunRecord> {
    let run = library_runs().into_iter().find(|run| run.name == name);
    let LibraryRun { model, parameters, end, .. } = run.expect("the name of a run");
    let words = parameters.replace("GRID", &format!("topology={grid}"));
    let pairs = words.split_whitespace().filter_map(|word| word.split_once('='));
    let parameters: Vec<(String, String)> =
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Library.with_model(model, &parameters, Run { end, sync }).expect("valid parameters")
}

struct Run {
    end: f64,
    sync: Synchronisation,
}

impl Visitor for Run {
    type Output = Option<RunRecord>;

    fn visit<M: Model>(self, model: Configured<M>) -> Option<RunRecord> {
        run(Simulation::of(&model).expect("valid parameters").end(self.end), self.sync)
    }
}

fn run<M: Model>(simulation: Simulation<'_, M>, sync: Synchronisation) -> Option<RunRecord> {
    simulation.sync(sync).run().ok().map(|run| run.record)
}
