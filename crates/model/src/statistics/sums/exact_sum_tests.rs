use super::super::magnitude::power_of_two;
use super::*;
use proptest::prelude::*;

fn sum(values: &[f64]) -> f64 {
    let mut sum = ExactSum::default();
    values.iter().for_each(|&x| sum.add(x));
    sum.value()
}

#[test]
fn cancellation_loses_nothing() {
    assert_eq!(sum(&[1e300, 1.0, -1e300]), 1.0);
    assert_eq!(sum(&[1e16, 1.0, 1.0]), 1e16 + 2.0);
    assert_eq!(sum(&[-1e-300, 1e-300, -3.5]), -3.5);
    assert_eq!(sum(&[f64::MIN_POSITIVE / 4.0; 8]), f64::MIN_POSITIVE * 2.0);
    assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(sum(&[0.1; 10]), 1.0);
    assert_eq!(sum(&[]), 0.0);
}

/// The sum is never -0.0, so neither the order of adding nor the sign of cancelled values
/// shows.
#[test]
fn a_sum_of_nothing_is_positive_zero() {
    for zeros in [
        &[][..],
        &[-0.0],
        &[-0.0, 0.0],
        &[0.0, -0.0],
        &[-1.5, 1.5],
        &[1.5, -1.5],
        &[-1.5, -0.0, 1.5],
    ] {
        assert_eq!(sum(zeros).to_bits(), 0, "{zeros:?}");
    }
    let mut product = ExactSum::default();
    product.add_product(-0.0, 7.0);
    assert_eq!(product.value().to_bits(), 0);
}

#[test]
fn negative_sums_stay_small() {
    let mut total = ExactSum::default();
    let mut one = ExactSum::default();
    one.add(-1.0);
    (0..1000).for_each(|_| total.merge(&one));
    assert_eq!(total.value(), -1000.0);
    assert!(total.chunks.len() <= 4, "{} chunks", total.chunks.len());
}

#[test]
fn products_are_exact() {
    let mut sum = ExactSum::default();
    sum.add_product(1e8 + 1.0, 1e8 + 1.0);
    sum.add(-1e16);
    sum.add(-2e8);
    assert_eq!(sum.value(), 1.0);
    let mut sum = ExactSum::default();
    sum.add_product(1e200, 1e200);
    sum.add_product(5e-324, 5e-324);
    assert_eq!(sum.value(), f64::INFINITY);
    sum.add_product(-1e200, 1e200);
    assert_eq!((sum.value(), sum.scaled()), (0.0, (1.0, -2148)));
}

/// Means are rounded once, so they lie between the least and the greatest value, whatever the
/// magnitude.
#[test]
fn means_are_rounded_once() {
    let mean = |values: &[f64]| {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum.over(values.len() as u64)
    };
    for value in [0.1, 1e308, -1e308, f64::MAX, 5e-324, 1.0 / 3.0, -7e-310] {
        for count in [1, 2, 3, 7, 1000] {
            assert_eq!(mean(&vec![value; count]), value, "{count} times {value:e}");
        }
    }
    assert_eq!((mean(&[1.0, 2.0, 4.0]), mean(&[f64::MAX, f64::MIN, 3.0])), (7.0 / 3.0, 1.0));
    assert_eq!(mean(&[5e-324, 0.0]), 0.0, "half of the least number, to even");
    let mut third = ExactSum::default();
    third.add(1e308);
    (0..2).for_each(|_| third.add(1e308));
    assert_eq!(
        (third.over_number(3.0), third.over_number(1.5), third.over_number(1e-308)),
        (1e308, f64::INFINITY, f64::INFINITY)
    );
    assert_eq!(third.over_number(1e308), 3.0);
}

/// A level held all the time is its own mean, however long the time is.
#[test]
fn distances_are_not_rounded_in_quotients() {
    for (from, to) in [(0.3, 10.0), (0.1, 1e16), (1e-300, 0.7), (1.0, 1.0f64.next_up())] {
        for level in [12.0, 0.1, -1e300, 3e-320] {
            let mut sum = ExactSum::default();
            sum.add_distance(from, to, level);
            assert_eq!(sum.over_distance(from, to), level, "{level:e} from {from} to {to}");
        }
    }
}

#[test]
fn distances_are_not_rounded() {
    let mut sum = ExactSum::default();
    sum.add_distance(0.1, 1e16, 3.0);
    sum.add_product(-1e16, 3.0);
    assert_eq!(sum.value(), -0.1 * 3.0);
}

#[test]
fn squares_are_products() {
    for value in [
        0.0,
        -1.5,
        1e8 + 1.0,
        3e-130,
        1e140,
        1e200,
        1e-170,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        f64::MIN,
    ] {
        for near in
            [value, value * 0.7, value.next_up().min(f64::MAX), value.next_down().max(f64::MIN)]
        {
            let [mut squares, mut products] = [ExactSum::default(), ExactSum::default()];
            for factor in [near, -near, near] {
                squares.add_square(factor);
                products.add_product(factor, factor);
            }
            assert_eq!(squares.value().to_bits(), products.value().to_bits(), "{near:e}");
            products.add_product(-near, near);
            products.add_product(-near, near);
            squares.add_product(-near, near);
            squares.add_product(-near, near);
            assert_eq!(squares.value().to_bits(), products.value().to_bits(), "{near:e} but one");
        }
    }
}

#[test]
fn many_additions_carry() {
    let mut total = ExactSum { waiting: (1 << 29) - 3, ..ExactSum::default() };
    (0..10).for_each(|_| total.add(-0.75));
    assert_eq!(total.value(), -7.5);
}

fn any_finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite() && x.abs() < 1e307),
        -1e3f64..1e3,
        Just(0.0),
        (0u64..99).prop_map(f64::from_bits)
    ]
}

proptest! {
    /// Compares with integers: dyadic numbers of one scale sum exactly in `i128`.
    #[test]
    fn equals_integer_arithmetic(numbers in prop::collection::vec(-(1i64 << 52)..(1i64 << 52), 0..200), exponent in -900i32..900) {
        let values: Vec<f64> = numbers.iter().map(|&n| n as f64 * power_of_two(exponent)).collect();
        let exact: i128 = numbers.iter().map(|&n| i128::from(n)).sum();
        prop_assert_eq!(sum(&values), exact as f64 * power_of_two(exponent));
    }

    #[test]
    fn order_and_grouping_do_not_matter(mut values in prop::collection::vec(any_finite(), 0..60), cut in 0usize..60) {
        let whole = sum(&values);
        let (mut left, mut right) = (ExactSum::default(), ExactSum::default());
        for (i, &x) in values.iter().enumerate() {
            if i < cut { left.add(x) } else { right.add(x) }
        }
        right.merge(&left);
        prop_assert_eq!(right.value().to_bits(), whole.to_bits());
        values.reverse();
        prop_assert_eq!(sum(&values).to_bits(), whole.to_bits());
    }

    #[test]
    fn squares_add_up_without_rounding(values in prop::collection::vec(any_finite(), 0..40)) {
        let [mut squares, mut products] = [ExactSum::default(), ExactSum::default()];
        values.iter().for_each(|&value| squares.add_square(value));
        values.iter().for_each(|&value| products.add_product(value, value));
        prop_assert_eq!(squares.value().to_bits(), products.value().to_bits());
    }

    #[test]
    fn two_terms_round_like_the_processor(a in any_finite(), b in any_finite()) {
        prop_assert_eq!(sum(&[a, b]), a + b);
    }
}
