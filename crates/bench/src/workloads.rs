//! PHOLD in four sizes against the bare loop, and with events of about one microsecond.

use warpline::{Parameters, Pending, Simulation, Synchronisation};
use warpline_bench::measuring::{alternate, tell};
use warpline_models::phold::{Phold, PholdParameters};

use crate::bare;

/// Name, what it stresses, LPs, messages per LP, clusters, end time.
pub(crate) const WORKLOADS: [(&str, &str, u32, u32, u32, f64); 4] = [
    ("W1", "classic: everything, in cache", 8192, 1, 1, 3000.0),
    ("W2", "large: memory, pending set", 1_000_000, 1, 1, 10.0),
    ("W3", "dense: many events per LP", 1024, 16, 1, 1500.0),
    ("W4", "local: 10 % leave the cluster", 8192, 1, 2, 3000.0),
];

/// Iterations of floating-point work that make an event cost about a microsecond.
const MICROSECOND: &str = "400";

fn find(workload: &str) -> (u32, u32, u32, f64) {
    let found = WORKLOADS
        .iter()
        .find(|w| w.0 == workload.trim_end_matches('e'))
        .expect("workloads are named W1 to W4");
    (found.2, found.3, found.4, found.5)
}

pub(crate) fn compare() {
    println!(
        "PHOLD, million committed events per second, one thread (a bare heap loop beside it)\n"
    );
    println!(
        "{:<4} {:<32} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "", "", "bare", "ladder", "ratio", "heap", "memory"
    );
    for (name, about, ..) in WORKLOADS {
        let rates = alternate(&[vec!["bare", name], vec!["ladder", name], vec!["heap", name]]);
        let [bare, ladder, heap] = [0, 1, 2].map(|i| rates[i].rate / 1e6);
        let memory = rates[1].memory / 1e6;
        println!(
            "{name:<4} {about:<32} {bare:>8.2} {ladder:>8.2} {:>8.2} {heap:>8.2} {memory:>7.0} MB",
            ladder / bare
        );
    }
    let rates = alternate(&[vec!["ladder", "W1e"]]);
    println!(
        "{:<4} {:<32} {:>8} {:>8.2}\n",
        "W1",
        "with 1 µs of work per event",
        "",
        rates[0].rate / 1e6
    );
}

pub(crate) fn measure_bare(workload: &str) {
    let (lps, population, ..) = find(workload);
    tell(bare::rate(lps as usize, population as usize, 8_000_000));
}

pub(crate) fn measure_warpline(workload: &str, pending: &str) {
    let pending = if pending == "heap" { Pending::Heap } else { Pending::Ladder };
    let run = phold(workload).sync(Synchronisation::Sequential).pending(pending).run();
    tell(run.expect("PHOLD runs").record.event_rate);
}

/// PHOLD in the size of a workload.
pub(crate) fn phold<'a>(workload: &str) -> Simulation<'a, Phold> {
    let (parameters, end) = parameters(workload);
    Simulation::configured(&parameters).expect("valid parameters").end(end)
}

/// The parameters of a workload, and its end. A name that ends with `e` has events of about a
/// microsecond.
pub(crate) fn parameters(workload: &str) -> (PholdParameters, f64) {
    let (lps, population, clusters, end) = find(workload);
    let mut parameters =
        PholdParameters { lps, population, clusters, ..PholdParameters::default() };
    if !workload.ends_with('e') {
        return (parameters, end);
    }
    parameters.set("epg", MICROSECOND).expect("a valid granularity");
    (parameters, end / 20.0)
}
