use super::mean::MeanTally;
use super::time_mean::TimeMeanTally;
use crate::statistics::sums::estimate::{BATCHES, Estimate, QUARTERS, SumOf};
use crate::statistics::sums::exact_sum::ExactSum;
use crate::statistics::sums::horizon::Horizon;

const HORIZON: Horizon = Horizon::new(10.0, 42.0);

/// Where a quarter of a batch begins.
fn edge(quarter: usize) -> f64 {
    10.0 + 0.25 * quarter as f64
}

#[test]
fn mean_of_known_values() {
    let mut tally = MeanTally::default();
    (0..320).for_each(|i| tally.add(&HORIZON, 10.0 + 0.1 * f64::from(i), f64::from(i % 4)));
    let estimate = tally.estimate(&HORIZON);
    assert_eq!(
        (estimate.mean, estimate.count, estimate.min, estimate.max),
        (Some(1.5), 320, Some(0.0), Some(3.0))
    );
    assert!(
        (estimate.deviation.unwrap() - 1.25f64.sqrt() * (320.0f64 / 319.0).sqrt()).abs() < 1e-12
    );
    assert!(estimate.ci95.unwrap() < 0.2);
}

#[test]
fn deviation_survives_a_large_mean() {
    let mut tally = MeanTally::default();
    (0..1000).for_each(|i| tally.add(&HORIZON, 20.0, 1e9 + f64::from(i % 2)));
    let deviation = tally.estimate(&HORIZON).deviation.unwrap();
    assert!((deviation - 0.5 * (1000.0f64 / 999.0).sqrt()).abs() < 1e-12, "{deviation}");
}

#[test]
fn what_ends_with_the_warmup_is_not_seen() {
    let mut tally = TimeMeanTally::default();
    tally.add_single(&HORIZON, 0.0, 10.0, 7.0);
    tally.add_single(&HORIZON, 10.0, 42.0, 1.0);
    tally.add_single(&HORIZON, 42.0, 50.0, 9.0);
    let estimate = tally.estimate(&HORIZON);
    assert_eq!((estimate.mean, estimate.count), (Some(1.0), 1));
    assert_eq!(
        (estimate.max, estimate.sum_of),
        (None, Some(SumOf { levels: 0, min: 1.0, max: 1.0 }))
    );
}

#[test]
fn a_single_batch_gives_no_interval() {
    let mut tally = MeanTally::default();
    (0..100).for_each(|i| tally.add(&HORIZON, 10.1, f64::from(i)));
    assert_eq!(tally.estimate(&HORIZON).ci95, None);
    assert_eq!(MeanTally::default().estimate(&HORIZON).mean, None);
}

/// A value at the very end of a batch belongs to the next one; at the end of the run, to the last.
#[test]
fn a_value_on_the_edge_of_a_batch_belongs_to_the_later_one() {
    let mut tally = MeanTally::default();
    (0..=QUARTERS).for_each(|quarter| tally.add(&HORIZON, edge(quarter), 1.0));
    let counts: Vec<u64> =
        tally.quarters.of(&HORIZON).list.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [vec![1; QUARTERS - 1], vec![2]].concat());
    let mut tally = MeanTally::default();
    tally.add(&HORIZON, 10.5f64.next_down(), 3.0);
    tally.add(&HORIZON, 10.5, 4.0);
    let quarters = tally.quarters.of(&HORIZON).list;
    assert_eq!((quarters[1].0.value(), quarters[2].0.value()), (3.0, 4.0));
}

#[test]
fn a_span_between_edges_fills_the_batches_between_them() {
    let mut tally = TimeMeanTally::default();
    tally.add_single(&HORIZON, 12.0, 14.0, 3.0);
    tally.add_single(&HORIZON, 41.0, 42.0, 5.0);
    let areas: Vec<f64> = tally.quarters.of(&HORIZON).list.iter().map(ExactSum::value).collect();
    let mut expected = [0.0; QUARTERS];
    expected[8..16].fill(0.75);
    expected[124..].fill(1.25);
    assert_eq!(areas, expected);
}

/// There is no interval if fewer than half of the batches have observations; see
/// [`Estimate::ci95`].
#[test]
fn half_of_the_batches_are_enough_for_an_interval() {
    let seen_in = |batches: usize| {
        let mut tally = MeanTally::default();
        (0..batches).for_each(|batch| tally.add(&HORIZON, edge(4 * batch), batch as f64));
        tally.estimate(&HORIZON).ci95
    };
    assert_eq!(seen_in(BATCHES / 2 - 1), None);
    assert!(seen_in(BATCHES / 2).is_some_and(|half| half > 0.0), "{:?}", seen_in(BATCHES / 2));
}

#[test]
fn spans_are_cut_at_warmup_end_and_batches() {
    let mut tally = TimeMeanTally::default();
    tally.add_single(&HORIZON, 0.0, 26.0, 2.0);
    tally.add_single(&HORIZON, 26.0, 1e9, 1.0);
    let estimate = tally.estimate(&HORIZON);
    assert_eq!(estimate.mean, Some(1.5));
    tally.add_single(&HORIZON, 0.0, 9.0, 7.0);
    assert_eq!(tally.estimate(&HORIZON).mean, Some(1.5));
    let quarters = tally.quarters.of(&HORIZON).list;
    assert_eq!((quarters[0].value(), quarters[1].value()), (0.5, 0.5));
}

/// Intervals of independent values contain the truth about 95 times in 100.
#[test]
fn intervals_cover_the_truth() {
    use warpline_base::{LpId, random::Random};
    let covered = (0..1000u32).filter(|&run| {
        let mut tally = MeanTally::default();
        let mut random = Random::new(1, LpId(run), 0);
        (0..640)
            .for_each(|i| tally.add(&HORIZON, 10.0 + 0.05 * f64::from(i), random.exponential(1.0)));
        let estimate = tally.estimate(&HORIZON);
        (estimate.mean.unwrap() - 1.0).abs() < estimate.ci95.unwrap()
    });
    let covered = covered.count();
    assert!((925..=970).contains(&covered), "{covered} of 1000");
}
/// Values that are redrawn once every `lasts` values. A batch has 20 values.
fn walked(run: u32, lasts: u32) -> Estimate {
    use warpline_base::{LpId, random::Random};
    let mut tally = MeanTally::default();
    let mut random = Random::new(1, LpId(run), 0);
    let mut value = 0.0;
    (0..640).for_each(|i| {
        value = if i % lasts == 0 { random.exponential(1.0) } else { value };
        tally.add(&HORIZON, 10.0 + 0.05 * f64::from(i), value);
    });
    tally.estimate(&HORIZON)
}

/// Values that last for five batches make batches alike. The interval is then far too narrow, and
/// is marked as such.
#[test]
fn an_interval_from_correlated_batches_says_so() {
    let warned = |lasts: u32| (0..1000).filter(|&run| walked(run, lasts).correlated).count();
    assert!((30..=70).contains(&warned(1)), "independent values: {} of 1000", warned(1));
    assert!((30..=70).contains(&warned(5)), "four values to a batch: {} of 1000", warned(5));
    assert!(warned(40) > 900, "one value to two batches: {} of 1000", warned(40));
    assert!(warned(100) > 995, "one value to five batches: {} of 1000", warned(100));
    let covered =
        |run| (walked(run, 100).mean.unwrap() - 1.0).abs() < walked(run, 100).ci95.unwrap();
    assert!((0..1000).filter(|&run| covered(run)).count() < 750, "the warning is deserved");
}

/// Simulates this many runs of a queue with one server, each to `end` at this load. Returns how
/// many intervals for the mean wait are marked as too narrow, and how many contain the true mean.
fn queues(runs: u32, end: f64, load: f64) -> (usize, usize) {
    use warpline_base::{LpId, random::Random};
    let truth = load / (1.0 - load);
    let horizon = Horizon::new(0.0, end);
    let (mut warned, mut covered) = (0, 0);
    for run in 0..runs {
        let mut tally = MeanTally::default();
        let mut random = Random::new(2, LpId(run), 0);
        let mut time = 0.0;
        let mut wait = 0.0f64;
        while time < end {
            tally.add(&horizon, time, wait);
            let gap = random.exponential(1.0 / load);
            // D. V. Lindley's recursion.
            wait = (wait + random.exponential(1.0) - gap).max(0.0);
            time += gap;
        }
        let estimate = tally.estimate(&horizon);
        warned += usize::from(estimate.correlated);
        covered += usize::from((estimate.mean.unwrap() - truth).abs() < estimate.ci95.unwrap());
    }
    (warned, covered)
}

#[test]
fn short_runs_of_a_busy_queue_say_so_and_long_runs_of_a_calm_one_do_not() {
    for end in [1000.0, 3000.0, 10_000.0] {
        let (warned, covered) = queues(200, end, 0.95);
        assert!(
            warned >= 194 && covered <= 140,
            "to {end}: {warned} warned, {covered} covered of 200"
        );
    }
    let (warned, covered) = queues(200, 30_000.0, 0.5);
    assert!(warned <= 30 && covered >= 180, "{warned} warned, {covered} covered of 200");
}

#[test]
fn what_is_constant_but_for_rounding_is_not_correlated() {
    let mut tally = TimeMeanTally::default();
    (0..320).for_each(|i| {
        tally.add_single(&HORIZON, 10.0 + 0.1 * f64::from(i), 10.0 + 0.1 * f64::from(i + 1), 0.7)
    });
    let estimate = tally.estimate(&HORIZON);
    assert!(!estimate.correlated && estimate.ci95.unwrap() < 1e-12, "{estimate:?}");
    assert_eq!(estimate.to_json().get("ci95_note"), None);
}

#[test]
fn means_over_time_say_it_too() {
    let mut tally = TimeMeanTally::default();
    tally.add_single(&HORIZON, 10.0, 42.0, 1.0);
    tally.add_single(&HORIZON, 30.0, 42.0, 5.0);
    let estimate = tally.estimate(&HORIZON);
    assert!(estimate.correlated);
    assert!(estimate.to_json()["ci95_note"].as_str().unwrap().starts_with("probably too narrow"));
}
