//! `mm1` against queueing theory: with ρ = λ/μ, L = ρ/(1-ρ) customers, each for W = 1/(μ-λ).

use crate::estimates::{estimate, near_within};
use warpline::prelude::*;
use warpline_models::mm1::{Discipline, Mm1, Mm1Parameters};

fn queue(arrival_rate: f64, service_rate: f64) -> Mm1Parameters {
    Mm1Parameters { arrival_rate, service_rate, ..Mm1Parameters::default() }
}

/// Theory must lie within twice the 95 % interval, which may be wide where customers are many.
fn near(results: &serde_json::Value, name: &str, truth: f64) {
    near_within(results, name, truth, 0.15);
}

#[test]
fn queue_length_and_stay_follow_theory() {
    for (arrivals, services) in [(0.3, 1.0), (0.5, 1.0), (0.8, 1.0), (40.0, 50.0)] {
        let end = 300_000.0 / arrivals;
        let run = Simulation::<Mm1>::configured(&queue(arrivals, services))
            .unwrap()
            .end(end)
            .warmup(0.02 * end)
            .seed(3)
            .run()
            .unwrap();
        let load = arrivals / services;
        near(&run.record.results, "customers", load / (1.0 - load));
        near(&run.record.results, "mean_stay", 1.0 / (services - arrivals));
    }
}

/// The mean number inside over each twelfth of the time to `end`, from an empty queue: A.
/// Kolmogorov's forward equations for up to 40 customers, by the method of Runge and Kutta.
fn inside_from_empty(arrivals: f64, services: f64, end: f64) -> Vec<f64> {
    const STEPS: usize = 2000;
    let last = 40;
    let step = end / 12.0 / STEPS as f64;
    let flow = |p: &[f64]| -> Vec<f64> {
        let up = |n: usize| if n < last { arrivals * p[n] } else { 0.0 };
        let down = |n: usize| if n > 0 { services * p[n] } else { 0.0 };
        (0..=last).map(|n| if n > 0 { up(n - 1) } else { 0.0 } + if n < last { down(n + 1) } else { 0.0 } - up(n) - down(n)).collect()
    };
    let moved = |p: &[f64], flow: &[f64], by: f64| -> Vec<f64> {
        p.iter().zip(flow).map(|(p, flow)| p + by * flow).collect()
    };
    let inside = |p: &[f64]| -> f64 { (0u32..).zip(p).map(|(n, p)| f64::from(n) * p).sum() };
    let mut p = vec![0.0; last + 1];
    p[0] = 1.0;
    let twelfth = |_| {
        let mut area = 0.0;
        for _ in 0..STEPS {
            let before = inside(&p);
            let one = flow(&p);
            let two = flow(&moved(&p, &one, step / 2.0));
            let three = flow(&moved(&p, &two, step / 2.0));
            let four = flow(&moved(&p, &three, step));
            let all: Vec<f64> = (0..=last)
                .map(|n| (one[n] + 2.0 * two[n] + 2.0 * three[n] + four[n]) / 6.0)
                .collect();
            p = moved(&p, &all, step);
            area += (before + inside(&p)) / 2.0;
        }
        area / STEPS as f64
    };
    (0..12).map(twelfth).collect()
}

/// In three of four of these runs no customer comes: then there are none inside, and no stays.
#[test]
fn runs_in_which_nobody_comes_count() {
    let truth = inside_from_empty(0.1, 1.0, 3.0);
    let mean = truth.iter().sum::<f64>() / 12.0;
    assert!((mean - 0.0710).abs() < 5e-4, "{mean}");
    let runs = 1500;
    let all =
        Simulation::<Mm1>::configured(&queue(0.1, 1.0)).unwrap().end(3.0).replicate(runs).unwrap();
    let customers = all.spread("customers").unwrap();
    assert_eq!((customers.values.len(), customers.runs), (1500, 1500));
    let near = |mean: f64, half: f64, truth: f64| {
        assert!(
            (mean - truth).abs() < 2.0 * half && half < 0.3 * truth,
            "{mean} ± {half}, not {truth}"
        )
    };
    near(customers.mean, customers.ci95.unwrap(), mean);
    let series = &all.record.series["customers"];
    assert!(series.runs.iter().all(|with| *with == runs));
    // There are 96 slices of 1/32.
    for (twelfth, truth) in truth.iter().enumerate().skip(2) {
        let sum = |values: &[Option<f64>]| {
            values[8 * twelfth..8 * twelfth + 8].iter().flatten().sum::<f64>() / 8.0
        };
        near(sum(&series.values), sum(&series.ci95), *truth);
    }
    // Only customers who have left have a stay. A run without any has no mean, and the results say
    // how many runs have one.
    let stay = &all.record.results["mean_stay"];
    let with = stay["count"].as_u64().unwrap();
    assert!(stay["runs"] == 1500 && (100..800).contains(&with), "{stay}");
    assert_eq!(
        stay["observations"].as_u64(),
        Some(all.record.series["mean_stay"].counts.iter().sum())
    );
}

/// The series add up to what the run reports as a whole, and begin with an empty queue.
#[test]
fn series_show_the_queue_over_time() {
    let run = Simulation::<Mm1>::configured(&queue(0.8, 1.0))
        .unwrap()
        .end(20_000.0)
        .seed(3)
        .run()
        .unwrap();
    let results = &run.record.results;
    let series = &run.record.series;
    assert_eq!(series.keys().collect::<Vec<_>>(), ["customers", "mean_stay"]);
    let area = |(begin, end, value): (f64, f64, Option<f64>)| Some(value? * (end - begin));
    let inside = series["customers"].slices().filter_map(area).sum::<f64>() / 20_000.0;
    assert!((inside - estimate(results, "customers").0).abs() < 1e-9, "{inside} inside on average");
    let stays = &series["mean_stay"];
    assert_eq!(serde_json::json!(stays.counts.iter().sum::<u64>()), results["mean_stay"]["count"]);
    let total: f64 = stays
        .values
        .iter()
        .zip(&stays.counts)
        .filter_map(|(mean, count)| Some((*mean)? * *count as f64))
        .sum();
    let mean = total / stays.counts.iter().sum::<u64>() as f64;
    assert!((mean - estimate(results, "mean_stay").0).abs() < 1e-9, "a stay of {mean} on average");

    // From 0 to 1/128, no customer comes.
    let early =
        Simulation::<Mm1>::configured(&queue(0.8, 1.0)).unwrap().end(1.0).seed(3).run().unwrap();
    assert_eq!(
        (early.record.series["customers"].values[0], early.record.series["mean_stay"].values[0]),
        (Some(0.0), None)
    );
}

/// In a run that is short compared with its own correlation, intervals are far too narrow, and have
/// a warning. Intervals without a warning are reliable.
#[test]
fn intervals_are_right_or_have_a_warning() {
    // How many intervals for the customers inside have no warning, how many of these contain the
    // truth, and how many of all.
    let tried = |load: f64, end: f64, runs: u64| {
        let one = |seed: u64| {
            let run = Simulation::<Mm1>::configured(&queue(load, 1.0))
                .unwrap()
                .end(end)
                .warmup(0.1 * end)
                .seed(seed)
                .run()
                .unwrap();
            let (mean, half_width) = estimate(&run.record.results, "customers");
            let silent = run.record.results["customers"].get("ci95_note").is_none();
            (silent, (mean - load / (1.0 - load)).abs() < half_width)
        };
        let all: Vec<(bool, bool)> = (0..runs).map(one).collect();
        let silent = all.iter().filter(|(silent, _)| *silent).count();
        (
            silent,
            all.iter().filter(|(silent, covers)| *silent && *covers).count(),
            all.iter().filter(|(_, covers)| *covers).count(),
        )
    };
    let (silent, covering, _) = tried(0.5, 10_000.0, 300);
    assert!(silent >= 270, "at a load of 0.5, {silent} of 300 are without a warning");
    assert!(covering * 100 >= silent * 90, "{covering} of {silent} intervals contain the truth");
    let (silent, _, covering) = tried(0.95, 5_000.0, 100);
    assert!(silent <= 10, "at a load of 0.95, {silent} of 100 are without a warning");
    assert!(
        covering <= 70,
        "the warning is deserved: {covering} of 100 intervals contain the truth"
    );
}

/// The stay is exponential (first come, first served), so its percentiles are known too.
#[test]
fn stay_is_exponential() {
    let run =
        Simulation::<Mm1>::configured(&queue(0.5, 1.0)).unwrap().end(1e6).seed(4).run().unwrap();
    for (name, share) in [("p50", 0.5f64), ("p90", 0.9), ("p99", 0.99)] {
        let found = run.record.results["stay"][name].as_f64().unwrap();
        let theory = -2.0 * (1.0 - share).ln();
        assert!((found / theory - 1.0).abs() < 0.04, "{name}: {found}, in theory {theory}");
    }
}

/// The order of service changes who waits, not how much waiting there is.
#[test]
fn discipline_changes_the_spread_but_not_the_mean() {
    let run = |discipline| {
        let parameters = Mm1Parameters { discipline, ..queue(0.7, 1.0) };
        Simulation::<Mm1>::configured(&parameters)
            .unwrap()
            .end(400_000.0)
            .seed(5)
            .run()
            .unwrap()
            .record
            .results
    };
    let fifo = run(Discipline::Fifo);
    let lifo = run(Discipline::Lifo);
    near(&lifo, "mean_stay", 1.0 / 0.3);
    let spread = |results: &serde_json::Value| results["mean_stay"]["deviation"].as_f64().unwrap();
    assert!(spread(&lifo) > 1.5 * spread(&fifo), "{lifo} {fifo}");
}

#[test]
fn undo_passes_verification() {
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let parameters = Mm1Parameters { discipline, ..queue(0.9, 1.0) };
        let simulation = || Simulation::<Mm1>::configured(&parameters).unwrap().end(2_000.0);
        let run = simulation().run().unwrap();
        assert_eq!(simulation().verify().unwrap().digest, run.record.digest);
    }
}

#[test]
fn rates_are_checked() {
    let error = Simulation::<Mm1>::configured(&queue(0.0, 1.0)).err().unwrap().to_string();
    assert!(error.contains("arrival-rate") && error.contains("must lie in"), "{error}");
}
