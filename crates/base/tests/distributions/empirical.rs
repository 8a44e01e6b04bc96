use warpline_base::random::{Continuous, Discrete, PointsError, WeightsError};

use crate::fit::{follows, follows_probabilities, has_moments, sample};

#[test]
fn discrete_follows_its_weights() {
    let sizes = Discrete::new([(64.0, 5.5), (100.0, 0.0), (576.0, 2.5), (1500.0, 2.0)]).unwrap();
    let drawn = sample(170, |random| *random.discrete(&sizes));
    let counts = [64.0, 576.0, 1500.0].map(|size| drawn.iter().filter(|&&x| x == size).count());
    assert_eq!(counts.iter().sum::<usize>(), drawn.len(), "what has no weight is never drawn");
    follows_probabilities("discrete", &counts, &[0.55, 0.25, 0.2]);
    let (mean, square) = (
        0.55 * 64.0 + 0.25 * 576.0 + 0.2 * 1500.0,
        0.55 * 64.0 * 64.0 + 0.25 * 576.0 * 576.0 + 0.2 * 1500.0 * 1500.0,
    );
    has_moments("discrete", &drawn, mean, square - mean * mean);
    assert_eq!(sizes.values(), [64.0, 100.0, 576.0, 1500.0]);
}

#[test]
fn discrete_checks_its_weights() {
    assert_eq!(
        Discrete::new([("a", 1.0), ("b", -1.0)]).unwrap_err(),
        WeightsError::Weight { index: 1, value: -1.0 }
    );
    assert_eq!(Discrete::<u8>::new([]).unwrap_err(), WeightsError::Sum(0.0));
    assert_eq!(Discrete::new(vec![(1, 0.0)]).unwrap_err(), WeightsError::Sum(0.0));
}

/// With shares of 200, and values on both sides of 0.
#[test]
fn continuous_follows_its_points() {
    let points =
        Continuous::new(&[(-2.0, 0.0), (1.0, 120.0), (1.5, 120.0), (4.0, 150.0), (24.0, 200.0)])
            .unwrap();
    let drawn = sample(171, |random| random.continuous(&points));
    let cdf = |x: f64| match x {
        ..1.0 => 0.2 * (x + 2.0),
        1.0..1.5 => 0.6,
        1.5..4.0 => 0.6 + 0.06 * (x - 1.5),
        _ => 0.75 + 0.0125 * (x - 4.0),
    };
    follows("continuous", &drawn, cdf);
    assert!(drawn.iter().all(|x| (-2.0..=1.0).contains(x) || (1.5..=24.0).contains(x)));
    // Each piece has the mean and the mean square of a uniform number.
    let pieces = [(0.6, -2.0, 1.0), (0.15, 1.5, 4.0), (0.25, 4.0, 24.0)];
    let mean: f64 = pieces.iter().map(|(p, low, high)| p * (low + high) / 2.0).sum();
    let square: f64 =
        pieces.iter().map(|(p, low, high)| p * (low * low + low * high + high * high) / 3.0).sum();
    has_moments("continuous", &drawn, mean, square - mean * mean);
}

/// A first share above 0, and two points with one value.
#[test]
fn continuous_may_give_single_values_a_probability() {
    let points = Continuous::new(&[(0.0, 0.1), (5.0, 0.4), (5.0, 0.6), (6.0, 1.0)]).unwrap();
    let drawn = sample(172, |random| random.continuous(&points));
    let count = |has: fn(f64) -> bool| drawn.iter().filter(|&&x| has(x)).count();
    let counts = [
        count(|x| x == 0.0),
        count(|x| 0.0 < x && x < 5.0),
        count(|x| x == 5.0),
        count(|x| 5.0 < x && x <= 6.0),
    ];
    follows_probabilities("continuous", &counts, &[0.1, 0.3, 0.2, 0.4]);
    let single = Continuous::new(&[(7.0, 3.0)]).unwrap();
    assert!(sample(173, |random| random.continuous(&single)).iter().all(|&x| x == 7.0));
}

#[test]
fn points_are_checked() {
    let why = |points: &[(f64, f64)]| Continuous::new(points).unwrap_err();
    assert_eq!(why(&[]), PointsError::Empty);
    assert_eq!(why(&[(1.0, 0.0), (2.0, 0.0)]), PointsError::Empty);
    assert_eq!(why(&[(1.0, 0.0), (0.5, 1.0)]), PointsError::Value { index: 1, value: 0.5 });
    assert_eq!(
        why(&[(f64::NEG_INFINITY, 0.0), (0.5, 1.0)]),
        PointsError::Value { index: 0, value: f64::NEG_INFINITY }
    );
    assert_eq!(
        why(&[(0.0, 0.0), (f64::INFINITY, 1.0)]),
        PointsError::Value { index: 1, value: f64::INFINITY }
    );
    assert_eq!(why(&[(-1e308, 0.0), (1e308, 1.0)]), PointsError::Value { index: 1, value: 1e308 });
    assert!(matches!(why(&[(0.0, 0.0), (f64::NAN, 1.0)]), PointsError::Value { index: 1, .. }));
    assert_eq!(why(&[(0.0, -0.5), (1.0, 1.0)]), PointsError::Share { index: 0, value: -0.5 });
    assert_eq!(
        why(&[(0.0, 0.0), (1.0, 0.6), (2.0, 0.5)]),
        PointsError::Share { index: 2, value: 0.5 }
    );
    assert_eq!(
        why(&[(0.0, 0.0), (1.0, f64::INFINITY)]),
        PointsError::Share { index: 1, value: f64::INFINITY }
    );
    assert!(matches!(why(&[(0.0, f64::NAN)]), PointsError::Share { index: 0, .. }));
    let text = why(&[(1.0, 0.0), (0.5, 1.0)]).to_string();
    assert_eq!(
        text,
        "the value of point 1 is 0.5: values must be finite, and none less than the one before"
    );
}
