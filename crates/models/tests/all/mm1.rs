//! `mm1` against queueing theory: with ρ = λ/μ, L = ρ/(1-ρ) customers, each for W = 1/(μ-λ).

use warpline::prelude::*;
use warpline_models::mm1::{Discipline, Mm1, Mm1Parameters};

fn queue(arrival_rate: f64, service_rate: f64) -> Mm1Parameters {
    Mm1Parameters { arrival_rate, service_rate, ..Mm1Parameters::default() }
}

/// A result with its 95 % half-width.
fn estimate(results: &serde_json::Value, name: &str) -> (f64, f64) {
    let number = |field: &str| results[name][field].as_f64().unwrap_or_else(|| panic!("{name}.{field} in {results}"));
    (number("mean"), number("ci95"))
}

/// Theory must lie within twice the 95 % interval: by chance it lies outside about once in ten thousand checks.
fn near(results: &serde_json::Value, name: &str, truth: f64) {
    let (mean, half_width) = estimate(results, name);
    assert!((mean - truth).abs() < 2.0 * half_width, "{name}: {mean} ± {half_width}, in theory {truth}");
    assert!(half_width < 0.15 * truth, "{name}: ± {half_width} is too wide to tell anything");
}

#[test]
fn queue_length_and_stay_follow_theory() {
    for (arrivals, services) in [(0.3, 1.0), (0.5, 1.0), (0.8, 1.0), (40.0, 50.0)] {
        let end = 300_000.0 / arrivals;
        let run = Simulation::<Mm1>::configured(&queue(arrivals, services)).unwrap().end(end).warmup(0.02 * end).seed(3).run().unwrap();
        let load = arrivals / services;
        near(&run.record.results, "customers", load / (1.0 - load));
        near(&run.record.results, "mean_stay", 1.0 / (services - arrivals));
    }
}

/// The stay is exponential (first come, first served), so its percentiles are known too.
#[test]
fn stay_is_exponential() {
    let run = Simulation::<Mm1>::configured(&queue(0.5, 1.0)).unwrap().end(1e6).seed(4).run().unwrap();
    for (name, share) in [("p50", 0.5f64), ("p90", 0.9), ("p99", 0.99)] {
        let (found, theory) = (run.record.results["stay"][name].as_f64().unwrap(), -2.0 * (1.0 - share).ln());
        assert!((found / theory - 1.0).abs() < 0.04, "{name}: {found}, in theory {theory}");
    }
}

/// The order of service changes who waits, not how much waiting there is.
#[test]
fn discipline_changes_the_spread_but_not_the_mean() {
    let run = |discipline| {
        let parameters = Mm1Parameters { discipline, ..queue(0.7, 1.0) };
        Simulation::<Mm1>::configured(&parameters).unwrap().end(400_000.0).seed(5).run().unwrap().record.results
    };
    let (fifo, lifo) = (run(Discipline::Fifo), run(Discipline::Lifo));
    near(&lifo, "mean_stay", 1.0 / 0.3);
    let spread = |results: &serde_json::Value| results["mean_stay"]["deviation"].as_f64().unwrap();
    assert!(spread(&lifo) > 1.5 * spread(&fifo), "{lifo} {fifo}");
}

#[test]
fn both_ways_of_undo_pass_verification() {
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let parameters = Mm1Parameters { discipline, ..queue(0.9, 1.0) };
        let simulation = || Simulation::<Mm1>::configured(&parameters).unwrap().end(2_000.0);
        let run = simulation().run().unwrap();
        for undo in [Undo::Copy, Undo::Reverse] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

#[test]
fn rates_are_checked() {
    let error = Simulation::<Mm1>::configured(&queue(0.0, 1.0)).err().unwrap().to_string();
    assert!(error.contains("arrival-rate") && error.contains("must lie in"), "{error}");
}
