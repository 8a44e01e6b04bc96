use super::*;
use proptest::prelude::*;

fn histogram(values: &[f64]) -> HistogramTally {
    let mut tally = HistogramTally::default();
    values.iter().for_each(|&x| tally.add(x));
    tally
}

#[test]
fn empty_histogram_has_no_percentiles() {
    let tally = histogram(&[]);
    assert_eq!((tally.quantile(0.5), tally.mean(), tally.count()), (None, None, 0));
    assert!(tally.bars(10).is_empty());
}

/// If exactly `k` of the values count as below, the quantile is the `k`-th value, not the next.
#[test]
fn a_quantile_on_a_whole_count_is_that_value() {
    let values = [-8.0, -1.0, 0.0, 1e-9, 1.0, 2.0, 1e3, 1e6];
    let tally = histogram(&values);
    for (k, value) in (1..=values.len()).zip(values) {
        let quantile = tally.quantile(k as f64 / values.len() as f64).unwrap();
        assert!(
            (quantile - value).abs() <= 0.016 * value.abs(),
            "{k} of {}: {quantile} for {value}",
            values.len()
        );
    }
    assert_eq!((tally.quantile(0.0), tally.quantile(1.0)), (Some(-8.0), Some(1e6)));
    assert_eq!((tally.quantile(-1.0), tally.quantile(2.0)), (Some(-8.0), Some(1e6)));
}

/// What is kept depends only on the values, so equal runs keep the same. The results do not
/// depend on how values are kept.
#[test]
fn few_values_are_kept_as_they_are() {
    let values: Vec<f64> = (0..2 * FEW).map(|n| (n as f64 * 7.0 % 11.0 - 3.0) / 3.0).collect();
    for count in [0, 1, 3, FEW - 1, FEW, FEW + 1, 2 * FEW] {
        let all = histogram(&values[..count]);
        let ranged = values[..count].iter().copied().collect::<Ranged>();
        assert_eq!(matches!(all.form, Form::Few(_)), count <= FEW, "{count} values");
        let mut backwards = HistogramTally::default();
        for half in [&values[count / 2..count], &values[..count / 2]] {
            backwards.merge(&histogram(half));
        }
        if count <= FEW {
            assert_eq!(format!("{backwards:?}"), format!("{all:?}"), "{count} values");
        }
        for tally in [&all, &backwards] {
            assert_eq!(
                (tally.count(), tally.mean(), tally.min(), tally.max()),
                (ranged.count(), ranged.mean(), ranged.extremes.min(), ranged.extremes.max())
            );
            assert_eq!(
                tally.quantiles([0.0, 0.3, 0.5, 1.0]),
                [0.0, 0.3, 0.5, 1.0].map(|q| ranged.quantile(q))
            );
            assert_eq!(tally.ranges().collect::<Vec<_>>(), ranged.ranges().collect::<Vec<_>>());
        }
    }
    assert!(size_of::<HistogramTally>() <= 24, "a model may have millions");
}

/// At most as many bars as requested, at least half as many if there are enough ranges, and no
/// value is lost.
#[test]
fn bars_are_as_many_as_asked_for_at_most() {
    let tally = histogram(&[-2.0, -1.0, 0.0, 1.0, 1.5, 2.0]);
    let ranges: Vec<Bar> = tally.ranges().collect();
    for most in 0..=2 * ranges.len() {
        let bars = tally.bars(most);
        let (fewest, most) = (most.clamp(1, ranges.len()).div_ceil(2), most.max(1));
        assert!(
            (fewest..=most).contains(&bars.len()),
            "{} bars of {} ranges, {most} asked for",
            bars.len(),
            ranges.len()
        );
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 6);
        assert_eq!(
            (bars[0].low, bars[bars.len() - 1].high),
            (ranges[0].low, ranges[ranges.len() - 1].high)
        );
    }
}

proptest! {
    #[test]
    fn percentiles_are_within_a_range(mut values in prop::collection::vec(prop_oneof![-1e3f64..1e3, 1e-9f64..1e-8, Just(0.0)], 1..300), q in 0.0f64..=1.0) {
        let tally = histogram(&values);
        values.sort_by(f64::total_cmp);
        let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
        let (estimate, exact) = (tally.quantile(q).unwrap(), values[rank - 1]);
        prop_assert!((estimate - exact).abs() <= 0.016 * exact.abs() + 1e-300, "{} for {}", estimate, exact);
        prop_assert_eq!(tally.bars(7).iter().map(|bar| bar.count).sum::<u64>(), values.len() as u64);
    }

    #[test]
    fn merging_is_counting_all(a in prop::collection::vec(-10.0f64..10.0, 0..50), b in prop::collection::vec(0.0f64..1e6, 0..50)) {
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        let all = histogram(&[a, b].concat());
        prop_assert_eq!(merged.ranges().filter(|bar| bar.count > 0).collect::<Vec<_>>(), all.ranges().filter(|bar| bar.count > 0).collect::<Vec<_>>());
        prop_assert_eq!(merged.mean(), all.mean());
    }
}
