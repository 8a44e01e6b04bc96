//! What is made of series: traces, empirical distributions, Poisson processes.

use warpline_series::{Empirical, Poisson, Reader, Series, Trace};

use crate::random;

fn series(numbers: &[f64]) -> Series {
    Series::new("numbers", numbers.to_vec()).unwrap()
}

#[test]
fn a_trace_gives_its_arrivals_once() {
    let trace = Trace::from_times(&series(&[0.0, 1.5, 1.5])).unwrap();
    let times: Vec<f64> =
        (0..9).map_while(|n| trace.arrival(n)).map(|arrival| arrival.time).collect();
    assert_eq!((times, trace.arrival(u64::MAX)), (vec![0.0, 1.5, 1.5], None));
    assert_eq!(trace.arrival(1).unwrap().delay_from(1.0), 0.5);
    assert_eq!(trace.arrival(1).unwrap().delay_from(1.5f64.next_up()), 0.0);
}

#[test]
fn gaps_add_up_and_may_go_on_for_ever() {
    let sizes = series(&[7.0, 8.0]);
    let trace = Trace::from_gaps(&series(&[2.0, 0.5])).unwrap().with_values(&sizes).unwrap();
    let trace = trace.repeated().unwrap();
    let all: Vec<_> = (0..5).filter_map(|n| trace.arrival(n)).collect();
    assert_eq!(
        all.iter().map(|arrival| arrival.time).collect::<Vec<_>>(),
        [2.0, 2.5, 4.5, 5.0, 7.0]
    );
    assert_eq!(all.iter().filter_map(|arrival| arrival.value).sum::<f64>(), 37.0);
    assert_eq!(all[4].row, 0);
    // No error adds up over repetitions.
    assert_eq!(trace.arrival(2_000_000_001).unwrap().time, 2.5e9 + 2.5);
}

/// With plain sums, many of these repetitions would begin before the last arrival.
#[test]
fn rounding_puts_no_repetition_before_the_one_that_it_follows() {
    let trace = Trace::from_times(&series(&[0.0, 0.1])).unwrap().repeated().unwrap();
    let times: Vec<f64> = (0..20_000).filter_map(|n| trace.arrival(n)).map(|a| a.time).collect();
    assert!(times.is_sorted());
    let plain_sums = (0..10_000u32).map(f64::from).map(|lap| lap * 0.1 + 0.1);
    let later = plain_sums.zip(times.iter().skip(2).step_by(2)).filter(|(sum, next)| sum > next);
    assert!(later.count() > 1000, "the test can fail");
}

#[test]
fn a_clock_begins_with_its_first_time() {
    let trace = Trace::from_clock(&series(&[1_700_000_000.5, 1_700_000_002.0])).unwrap();
    assert_eq!((trace.arrival(0).unwrap().time, trace.last_time()), (0.0, 1.5));
    assert_eq!(Trace::from_clock(&series(&[-3.0, -1.0])).unwrap().last_time(), 2.0);
}

#[test]
fn quantiles_are_those_of_the_distribution_function() {
    let numbers = series(&[4.0, 1.0, 2.0]);
    let discrete = Empirical::discrete(&numbers);
    let found = [0.0, 0.33, 0.34, 0.66, 0.67, 1.0].map(|u| discrete.quantile(u));
    assert_eq!(found, [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
    let interpolated = Empirical::interpolated(&numbers);
    let found = [0.0, 0.25, 0.5, 0.75, 1.0].map(|u| interpolated.quantile(u));
    assert_eq!(found, [1.0, 1.5, 2.0, 3.0, 4.0]);
    let alone = series(&[5.0]);
    assert_eq!(Empirical::interpolated(&alone).quantile(0.7), 5.0);
    assert_eq!(Empirical::discrete(&alone).quantile(0.7), 5.0);
}

/// How many of `runs` samples of `size` numbers are further from their distribution than the 5 %
/// point of Kolmogorov's limit, 1.3581 / √size (Stephens: and a little less for finite sizes).
fn far(
    runs: u64,
    size: usize,
    draw: impl Fn(&mut warpline_base::random::Random) -> f64,
    share: impl Fn(f64) -> f64,
) -> usize {
    let is_far = |seed: &u64| {
        let mut random = random(*seed);
        let mut drawn: Vec<f64> = (0..size).map(|_| draw(&mut random)).collect();
        drawn.sort_by(f64::total_cmp);
        let count = size as f64;
        let distance = drawn.iter().enumerate().map(|(below, &x)| {
            let share = share(x);
            (share - below as f64 / count).max((below + 1) as f64 / count - share)
        });
        let root = count.sqrt();
        distance.fold(0.0, f64::max) > 1.3581 / (root + 0.12 + 0.11 / root)
    };
    (0..runs).filter(is_far).count()
}

/// Of 1000 samples, 5 % are as far away as theory says: 50 ± 3 standard deviations of 6.9.
#[test]
fn interpolated_numbers_have_the_distance_that_theory_says() {
    let measured: Vec<f64> = (0..50).map(|i| f64::from(i * i)).collect();
    let empirical = Empirical::interpolated(&series(&measured));
    let share = |x: f64| {
        let above = measured.partition_point(|&number| number <= x).clamp(1, 49);
        let (low, high) = (measured[above - 1], measured[above]);
        ((above - 1) as f64 + (x - low) / (high - low)) / 49.0
    };
    let far = far(1000, 400, |random| empirical.draw(random), share);
    assert!((29..=71).contains(&far), "{far} of 1000");
}

/// Each number is drawn as often as the others: χ² with 49 degrees of freedom, in 1000 samples,
/// exceeds its 95 % point 66.34 in 5 % of them.
#[test]
fn discrete_numbers_are_drawn_equally_often() {
    let measured: Vec<f64> = (0..50).map(f64::from).collect();
    let empirical = Empirical::discrete(&series(&measured));
    let is_far = |seed: &u64| {
        let (mut random, mut counts) = (random(*seed), [0.0f64; 50]);
        (0..1000).for_each(|_| counts[empirical.draw(&mut random) as usize] += 1.0);
        counts.iter().map(|count| (count - 20.0) * (count - 20.0) / 20.0).sum::<f64>() > 66.34
    };
    let far = (0..1000).filter(is_far).count();
    assert!((29..=71).contains(&far), "{far} of 1000");
}

/// A day with two empty hours, at its end and within, over many days: each hour's arrivals are
/// Poisson, so their mean has a known deviation, and their variance is their mean.
#[test]
fn thinning_gives_each_hour_the_arrivals_that_it_should_have() {
    const DAYS: usize = 2000;
    let csv = "calls [1/h]\n5\n20\n0\n80\n1\n0\n";
    let [rates] = Reader::new().read("calls.csv", csv.as_bytes(), [""]).unwrap();
    let calls = Poisson::from_rates(&rates, 3600.0).unwrap().repeated();
    assert!((calls.expected() - 106.0).abs() < 1e-9);
    let mut counts = vec![[0u32; 6]; DAYS];
    let (mut time, mut random) = (0.0, random(3));
    while let Some(next) =
        calls.next_after(time, &mut random).filter(|next| *next < DAYS as f64 * 6.0 * 3600.0)
    {
        assert!(next > time);
        time = next;
        let hour = (time / 3600.0) as usize;
        counts[hour / 6][hour % 6] += 1;
    }
    for (hour, expected) in [5.0, 20.0, 0.0, 80.0, 1.0, 0.0].into_iter().enumerate() {
        let of_days = || counts.iter().map(|day| f64::from(day[hour]));
        let mean = of_days().sum::<f64>() / DAYS as f64;
        let variance =
            of_days().map(|count| (count - mean) * (count - mean)).sum::<f64>() / (DAYS - 1) as f64;
        let half = 3.3 * f64::sqrt(expected / DAYS as f64); // 99.9 %
        assert!((mean - expected).abs() <= half, "hour {hour}: {mean}, not {expected} ± {half}");
        // The variance of a variance of Poisson numbers: (2 λ² + λ) / n.
        let half = 3.3 * f64::sqrt((2.0 * expected * expected + expected) / DAYS as f64);
        assert!((variance - expected).abs() <= half, "hour {hour}: variance {variance}");
    }
}

/// Given how many there are, arrivals of an hour are spread evenly over it.
#[test]
fn arrivals_are_even_within_a_piece() {
    let calls =
        Poisson::from_pieces(&series(&[0.0, 2.0, 5.0]), &series(&[9.0, 0.0, 3.0]), 6.0).unwrap();
    assert_eq!(
        [0.0, 1.9, 2.0, 5.5, 6.0].map(|time| calls.rate_at(time)),
        [9.0, 9.0, 0.0, 3.0, 0.0]
    );
    assert_eq!((calls.period(), calls.expected()), (6.0, 21.0));
    let last_hours = |random: &mut _| loop {
        if let Some(time) = calls.next_after(5.0, random) {
            return time - 5.0;
        }
    };
    // The first of the arrivals from 5 on, given that there is one before 6.
    let share = |x: f64| (1.0 - (-3.0 * x).exp()) / (1.0 - (-3.0f64).exp());
    let far = far(1000, 200, last_hours, share);
    assert!((29..=71).contains(&far), "{far} of 1000");
}

#[test]
fn processes_without_arrivals_end_and_do_not_hang() {
    let never = Poisson::from_rates(&series(&[0.0, 0.0]), 1.0).unwrap();
    assert_eq!(never.clone().repeated().next_after(0.0, &mut random(1)), None);
    assert_eq!(never.next_after(0.0, &mut random(1)), None);
    // Far from 0, times have few digits.
    let rare = Poisson::from_rates(&series(&[1.0, 0.0, 0.0]), 0.1).unwrap().repeated();
    let (mut time, mut random) = (1e15, random(1));
    for _ in 0..100 {
        let next = rare.next_after(time, &mut random).unwrap();
        assert!(next >= time);
        time = next;
    }
}

#[test]
fn draws_are_the_same_for_the_same_stream() {
    let calls = Poisson::from_rates(&series(&[1.0, 2.0]), 1.0).unwrap().repeated();
    let services = Empirical::interpolated(&series(&[1.0, 2.0, 5.0]));
    let draw = || {
        let mut random = random(9);
        (calls.next_after(3.0, &mut random), services.draw(&mut random))
    };
    assert_eq!(draw(), draw());
}
