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

/// The series add up to what the run reports as a whole, and begin with an empty queue.
#[test]
fn series_show_the_queue_over_time() {
    let run = Simulation::<Mm1>::configured(&queue(0.8, 1.0)).unwrap().end(20_000.0).seed(3).run().unwrap();
    let (results, series) = (&run.record.results, &run.record.series);
    assert_eq!(series.keys().collect::<Vec<_>>(), ["customers", "mean_stay"]);
    let inside: f64 = series["customers"].slices().filter_map(|(_, _, value)| value).sum::<f64>() / 100.0;
    assert!((inside - estimate(results, "customers").0).abs() < 1e-9, "{inside} inside on average");
    let stays = &series["mean_stay"];
    assert_eq!(serde_json::json!(stays.counts.iter().sum::<u64>()), results["mean_stay"]["count"]);
    let total: f64 = stays.values.iter().zip(&stays.counts).filter_map(|(mean, count)| Some((*mean)? * *count as f64)).sum();
    let mean = total / stays.counts.iter().sum::<u64>() as f64;
    assert!((mean - estimate(results, "mean_stay").0).abs() < 1e-9, "a stay of {mean} on average");

    // From 0 to 0.01, nobody comes.
    let early = Simulation::<Mm1>::configured(&queue(0.8, 1.0)).unwrap().end(1.0).seed(3).run().unwrap();
    assert_eq!((early.record.series["customers"].values[0], early.record.series["mean_stay"].values[0]), (Some(0.0), None));
}

/// In a run that is short against its own correlation, intervals are far too narrow, and say so; those that say nothing can be relied on.
#[test]
fn intervals_keep_their_word_or_say_that_they_do_not() {
    // How many intervals for the customers inside have no warning, and how many of these contain the truth.
    let tried = |load: f64, end: f64, runs: u64| {
        let one = |seed: u64| {
            let run = Simulation::<Mm1>::configured(&queue(load, 1.0)).unwrap().end(end).warmup(0.1 * end).seed(seed).run().unwrap();
            let (mean, half_width) = estimate(&run.record.results, "customers");
            let silent = run.record.results["customers"].get("ci95_note").is_none();
            (silent, (mean - load / (1.0 - load)).abs() < half_width)
        };
        let all: Vec<(bool, bool)> = (0..runs).map(one).collect();
        let silent = all.iter().filter(|(silent, _)| *silent).count();
        (silent, all.iter().filter(|(silent, covers)| *silent && *covers).count(), all.iter().filter(|(_, covers)| *covers).count())
    };
    let (silent, covering, _) = tried(0.5, 10_000.0, 300);
    assert!(silent >= 270, "at a load of 0.5, {silent} of 300 are without a warning");
    assert!(covering * 100 >= silent * 90, "{covering} of {silent} intervals contain the truth");
    let (silent, _, covering) = tried(0.95, 5_000.0, 100);
    assert!(silent <= 10, "at a load of 0.95, {silent} of 100 are without a warning");
    assert!(covering <= 70, "the warning is deserved: {covering} of 100 intervals contain the truth");
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
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            assert_eq!(simulation().undo(undo).verify().unwrap().digest, run.record.digest);
        }
    }
}

#[test]
fn rates_are_checked() {
    let error = Simulation::<Mm1>::configured(&queue(0.0, 1.0)).err().unwrap().to_string();
    assert!(error.contains("arrival-rate") && error.contains("must lie in"), "{error}");
}
