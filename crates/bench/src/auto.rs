//! What the choice of the engine costs: `--sync auto` against the best of the engines that one could have chosen.

use warpline::command::{Catalogue, Visitor};
use warpline::record::RunRecord;
use warpline::{Configure, Model, Simulation, Synchronisation};
use warpline_models::Library;

use crate::hostile::{Hostile, names};
use crate::network::on_topology;
use crate::{alternate, tell};

/// Name, model, parameters and end of runs that take about a second or two on one core.
const RUNS: [(&str, &str, &str, &str); 17] = [
    ("W1", "phold", "", "3000"),
    ("W1 la 0", "phold", "lookahead=0", "3000"),
    ("W1 la 0.001", "phold", "lookahead=0.001", "3000"),
    ("W1 la 1", "phold", "lookahead=1", "6000"),
    ("W1 1 µs", "phold", "epg=400", "200"),
    ("W1 la 0, 1 µs", "phold", "lookahead=0 epg=400", "200"),
    ("W2", "phold", "lps=1000000", "15"),
    ("W2 la 0", "phold", "lps=1000000 lookahead=0", "15"),
    ("W3", "phold", "lps=1024 population=16", "1500"),
    ("W3 la 0", "phold", "lps=1024 population=16 lookahead=0", "1500"),
    ("W4", "phold", "clusters=2", "3000"),
    ("W4 la 0", "phold", "clusters=2 lookahead=0", "3000"),
    ("W4 la 0, 1 µs", "phold", "clusters=2 lookahead=0 epg=400", "200"),
    ("64 LPs", "phold", "lps=64", "300000"),
    ("mm1", "mm1", "", "10000000"),
    ("network", "network", "", "60"),
    ("network, grid", "network", "GRID", "40"),
];

/// By how much runs of hostile models are longer than in their own comparison.
const LONGER: f64 = 12.0;

/// The engines, by the letters that they are measured by.
const ENGINES: [(&str, Synchronisation); 4] = [
    ("sequential", Synchronisation::Sequential),
    ("conservative", Synchronisation::Conservative),
    ("optimistic", Synchronisation::Optimistic),
    ("auto", Synchronisation::Auto),
];

/// Prints a row for every run, or for those whose name begins with `only`.
pub(crate) fn compare(only: Option<&str>) {
    println!("auto: million committed events per second of each engine, on all cores, and of auto against the best\n");
    println!("{:<14} {:>12} {:>12} {:>12} {:>8} {:>10}", "", "sequential", "conservative", "optimistic", "auto", "auto/best");
    let hostile = names().map(|name| ("hostile", name));
    let all = RUNS.iter().map(|run| ("library", run.0)).chain(hostile);
    for (kind, name) in all.filter(|(_, name)| only.is_none_or(|only| name.starts_with(only))) {
        on_topology(None, |grid| {
            let rivals: Vec<Vec<&str>> = ENGINES.iter().map(|engine| vec!["auto", kind, name, grid, engine.0]).collect();
            let rates: Vec<f64> = alternate(&rivals).iter().map(|measured| measured.rate / 1e6).collect();
            let best = rates[..3].iter().copied().fold(0.0, f64::max);
            let [sequential, conservative, optimistic, auto] = rates[..] else { return };
            println!("{name:<14} {sequential:>12.2} {conservative:>12.2} {optimistic:>12.2} {auto:>8.2} {:>10.2}", auto / best);
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
        _ => {
            let (_, model, words, end) = RUNS.iter().find(|run| run.0 == name).expect("the name of a run");
            let words = words.replace("GRID", &format!("topology={grid}"));
            let pairs = words.split_whitespace().filter_map(|word| word.split_once('='));
            let parameters: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let end = end.parse().expect("a time");
            Library.with_model(model, &parameters, Run { end, sync }).expect("valid parameters")
        }
    };
    for engine in record.iter().flat_map(|record| &record.engines) {
        eprintln!("{engine:?}");
    }
    tell(record.map_or(0.0, |record| record.event_rate));
}

struct Run {
    end: f64,
    sync: Synchronisation,
}

impl Visitor for Run {
    type Output = Option<RunRecord>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Option<RunRecord> {
        run(Simulation::<M>::configured(&parameters).expect("valid parameters").end(self.end), self.sync)
    }
}

fn run<M: Model>(simulation: Simulation<'_, M>, sync: Synchronisation) -> Option<RunRecord> {
    simulation.sync(sync).run().ok().map(|run| run.record)
}
