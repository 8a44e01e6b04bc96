use serde::{Deserialize, Serialize};
use warpline_memory::{MakeRoom, prefetch};

use super::magnitude::{BELOW, LAST_BIT, Magnitude};
use crate::statistics::STATISTICS;

/// A sum of `f64` values without rounding, so the order of adding does not matter.
///
/// A fixed-point number, wide enough for the values added: signed chunks, each 32 bits above the
/// previous one, with room for pending carries. After Neal, "Fast exact summation using small and
/// large superaccumulators", arXiv 1505.05571. There is also room for products of two values: no
/// square is too large or too small.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExactSum {
    /// Chunk `i` weighs 2^(32 (first + i) - [`BELOW`]).
    chunks: Vec<i64>,
    first: u32,
    /// The number of additions since carries were last propagated.
    waiting: u32,
}

const LOW: u64 = u32::MAX as u64;
/// Carries are propagated after this many additions.
const MOST_WAITING: u32 = 1 << 29;
/// A number as an integer, and its shift in bits from the last bit of the least positive number.
#[inline]
fn parts(value: f64) -> (u64, u32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as u32;
    let fraction = bits & ((1 << 52) - 1);
    // Subnormals have exponent 0 but weigh as exponent 1, without the hidden bit.
    if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) }
}

/// The distance from one number to another, and its rounding error: mostly 0, because `from` is
/// seldom far below `to` (D. Knuth's exact sum of two numbers).
#[inline]
fn distance(from: f64, to: f64) -> (f64, f64) {
    let distance = to - from;
    let back = distance - to;
    (distance, (to - (distance - back)) - (from + back))
}

impl ExactSum {
    /// Adds a value, which must be finite.
    #[inline]
    pub fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let (mantissa, shift) = parts(value);
        // A zero would take room down to the least number.
        if mantissa != 0 {
            let shift = shift + (BELOW - LAST_BIT);
            let wide = (u128::from(mantissa) << (shift % 32)) as i128;
            self.add_wide(shift / 32, if value.is_sign_negative() { -wide } else { wide });
            self.count_addition();
        }
    }

    /// Adds 2^(32 chunk - [`BELOW`]) times a number of less than 95 bits.
    #[inline(always)]
    fn add_wide(&mut self, chunk: u32, wide: i128) {
        let parts =
            [(wide as u64 & LOW) as i64, ((wide >> 32) as u64 & LOW) as i64, (wide >> 64) as i64];
        self.chunks_from::<3>(chunk).iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }

    /// This chunk and the following ones, `COUNT` in all.
    #[inline(always)]
    fn chunks_from<const COUNT: usize>(&mut self, chunk: u32) -> &mut [i64; COUNT] {
        let at = chunk.wrapping_sub(self.first) as usize;
        let is_there = self.chunks.get(at..).is_some_and(|chunks| chunks.len() >= COUNT);
        let at = if is_there { at } else { self.widened(chunk, chunk + COUNT as u32 - 1) };
        self.chunks[at..].first_chunk_mut().unwrap_or_else(|| unreachable!("there is room now"))
    }

    #[inline(always)]
    fn count_addition(&mut self) {
        self.waiting += 1;
        if self.waiting == MOST_WAITING {
            self.carry();
        }
    }

    /// Prefetches the chunks, which are seldom more than a cache line.
    #[inline]
    pub(in crate::statistics) fn fetch(&self) {
        self.chunks.first().into_iter().for_each(prefetch);
    }

    /// Adds the product of two values, which must be finite, without rounding it.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        debug_assert!(a.is_finite() && b.is_finite());
        let (mantissa, shift) = parts(a);
        let (other, more) = parts(b);
        if mantissa != 0 && other != 0 {
            // Most factors are small whole numbers. Without their trailing zeros, the product is
            // short.
            let zeros = other.trailing_zeros();
            let shift = shift + more + zeros + (BELOW - 2 * LAST_BIT);
            let negative = a.is_sign_negative() != b.is_sign_negative();
            match mantissa.checked_mul(other >> zeros) {
                Some(product) => {
                    let wide = (u128::from(product) << (shift % 32)) as i128;
                    self.add_wide(shift / 32, if negative { -wide } else { wide });
                }
                None => self.add_long(
                    u128::from(mantissa) * u128::from(other >> zeros),
                    shift,
                    negative,
                ),
            }
            self.count_addition();
        }
    }

    /// Adds the square of a value, which must be finite, without rounding it.
    #[inline]
    pub fn add_square(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let (mantissa, shift) = parts(value);
        if mantissa != 0 {
            self.add_long(
                u128::from(mantissa) * u128::from(mantissa),
                2 * shift + (BELOW - 2 * LAST_BIT),
                false,
            );
            self.count_addition();
        }
    }

    /// Adds or, if `negative`, subtracts 2^(shift - [`BELOW`]) times a number of at most 106 bits.
    #[inline]
    fn add_long(&mut self, long: u128, shift: u32, negative: bool) {
        let [low, high] =
            [long & u128::from(u64::MAX), long >> 64].map(|half| half << (shift % 32));
        let parts =
            [low as u64 & LOW, (low >> 32) as u64 & LOW, (low >> 64) as u64 + (high as u64 & LOW)];
        let parts = [parts[0], parts[1], parts[2], (high >> 32) as u64 & LOW, (high >> 64) as u64]
            .map(u64::cast_signed);
        let sums = self.chunks_from::<5>(shift / 32).iter_mut().zip(parts);
        if negative {
            sums.for_each(|(sum, part)| *sum -= part)
        } else {
            sums.for_each(|(sum, part)| *sum += part)
        }
    }

    /// Adds `factor` times the distance from one value to another, without rounding either.
    #[inline]
    pub(in crate::statistics) fn add_distance(&mut self, from: f64, to: f64, factor: f64) {
        let (distance, rest) = distance(from, to);
        self.add_product(distance, factor);
        if rest != 0.0 {
            self.add_product(rest, factor);
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        let Some(last) = (other.chunks.len() as u32).checked_sub(1) else { return };
        if self.waiting + other.waiting + 1 >= MOST_WAITING {
            self.carry();
            if other.waiting + 1 >= MOST_WAITING / 2 {
                let mut carried = other.clone();
                carried.carry();
                return self.merge(&carried);
            }
        }
        self.widen(other.first, other.first + last);
        let at = (other.first - self.first) as usize;
        self.chunks[at..].iter_mut().zip(&other.chunks).for_each(|(sum, part)| *sum += part);
        self.waiting += other.waiting + 1;
    }

    /// The sum, rounded once to the nearest `f64`.
    pub fn value(&self) -> f64 {
        self.magnitude().round()
    }

    /// The sum divided by a whole number, which must not be 0, rounded once. So the mean of `count`
    /// values lies between the least and the greatest.
    pub fn over(&self, count: u64) -> f64 {
        self.magnitude().over(count, 0).round()
    }

    /// The sum divided by a number, which must be positive and finite, rounded once.
    pub fn over_number(&self, number: f64) -> f64 {
        let (mantissa, shift) = parts(number);
        self.magnitude().over(mantissa, shift as i32 - LAST_BIT as i32).round()
    }

    /// The sum divided by the distance from one number to a larger one.
    pub(in crate::statistics) fn over_distance(&self, from: f64, to: f64) -> f64 {
        let (distance, rest) = distance(from, to);
        let quotient = self.over_number(distance);
        if rest == 0.0 || !quotient.is_finite() {
            return quotient;
        }
        // The remainder, for the distance without rounding, corrects the quotient.
        let mut left = self.clone();
        left.add_product(-quotient, distance);
        left.add_product(-quotient, rest);
        quotient + left.over_number(distance)
    }

    /// The sum as a number from 1 to 2 and a power of 2; 0 and the lowest power if the sum is 0.
    pub(in crate::statistics) fn scaled(&self) -> (f64, i32) {
        let mut magnitude = self.magnitude();
        let exponent = magnitude.exponent();
        magnitude.lowest -= exponent;
        (magnitude.round(), exponent)
    }

    /// The sum divided by 2^exponent, rounded once.
    pub(in crate::statistics) fn scaled_by(&self, exponent: i32) -> f64 {
        let mut magnitude = self.magnitude();
        magnitude.lowest -= exponent;
        magnitude.round()
    }

    /// For this sum of `count` values, and the sum of their `squares`: `count * squares - sum²`,
    /// exactly. This is `count` times the sum of the squared distances from the mean.
    pub(in crate::statistics) fn squared_distances(
        &self,
        squares: &ExactSum,
        count: u64,
    ) -> ExactSum {
        let total = self.magnitude();
        let squares = squares.magnitude();
        let mut all = ExactSum::default();
        let factors = [(0, count & LOW), (1, count >> 32)];
        for (index, chunk) in squares.chunks.iter().enumerate() {
            for (up, factor) in factors {
                all.add_wide(squares.place(index) + up, i128::from(*chunk) * i128::from(factor));
            }
        }
        for (index, chunk) in total.chunks.iter().enumerate().filter(|(_, chunk)| **chunk != 0) {
            for (other, more) in total.chunks.iter().enumerate().filter(|(_, chunk)| **chunk != 0) {
                let place = total.place(index) + total.place(other) - BELOW / 32;
                all.add_wide(place, -(i128::from(*chunk) * i128::from(*more)));
            }
        }
        all
    }

    /// Sign and digits.
    fn magnitude(&self) -> Magnitude {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.chunks.last().is_some_and(|&top| top < 0);
        if negative {
            sum.chunks.iter_mut().for_each(|chunk| *chunk = -*chunk);
            sum.carry();
        }
        let chunks = sum.chunks.iter().map(|&chunk| chunk as u64).collect();
        Magnitude { negative, chunks, lowest: 32 * sum.first as i32 - BELOW as i32, rest: false }
    }

    /// Makes room for chunks `low..=high`, and returns where the first of them is.
    #[cold]
    #[inline(never)]
    fn widened(&mut self, low: u32, high: u32) -> usize {
        self.widen(low, high);
        (low - self.first) as usize
    }

    /// Makes room for chunks `low..=high`.
    #[cold]
    fn widen(&mut self, low: u32, high: u32) {
        if self.chunks.is_empty() {
            self.first = low;
        }
        let more = self.first.saturating_sub(low)
            + (high + 1).saturating_sub(self.first + self.chunks.len() as u32);
        self.chunks.make_room(more as usize, STATISTICS);
        if low < self.first {
            let missing = (self.first - low) as usize;
            self.chunks.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = low;
        }
        let needed = (high - self.first) as usize + 1;
        if self.chunks.len() < needed {
            self.chunks.resize(needed, 0);
        }
    }

    /// Propagates carries, so that all chunks but the top one lie in `0..2^32`, and the top one,
    /// which has the sign, in `-2^32..2^32`.
    fn carry(&mut self) {
        self.waiting = 0;
        let mut carry = 0;
        let top = self.chunks.len().saturating_sub(1);
        for (index, chunk) in self.chunks.iter_mut().enumerate() {
            let sum = *chunk + carry;
            let small = sum.unsigned_abs() <= LOW;
            (*chunk, carry) =
                if index == top && small { (sum, 0) } else { (sum & LOW as i64, sum >> 32) };
        }
        if carry != 0 {
            self.chunks.push(carry);
        }
        while self.chunks.len() > 3 && self.chunks.last() == Some(&0) {
            self.chunks.pop();
        }
    }
}

#[cfg(test)]
mod tests {
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
                assert_eq!(
                    squares.value().to_bits(),
                    products.value().to_bits(),
                    "{near:e} but one"
                );
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
}
