use serde::{Deserialize, Serialize};
use warpline_memory::{MakeRoom, prefetch};

use super::STATISTICS;

/// A sum of `f64` values without any rounding, so that the order of adding does not matter.
///
/// A fixed-point number wide enough for what was added: signed chunks, each 32 bits above the previous one, with room for pending carries.
/// After Neal, "Fast exact summation using small and large superaccumulators", arXiv 1505.05571.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExactSum {
    /// Chunk `i` weighs 2^(32 (first + i) - 1074).
    chunks: Vec<i64>,
    first: u32,
    /// Additions since carries were last propagated.
    waiting: u32,
}

const LOW: u64 = u32::MAX as u64;

impl ExactSum {
    /// Adds a value, which must be finite.
    #[inline]
    pub fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7FF) as u32;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormals have exponent 0 but weigh as exponent 1, without the hidden bit.
        let (mantissa, shift) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let wide = (u128::from(mantissa) << (shift % 32)) as i128;
        self.add_wide(shift / 32, if value.is_sign_negative() { -wide } else { wide });
        self.count_addition();
    }

    /// Adds 2^(32 chunk - 1074) times a number of less than 95 bits.
    #[inline(always)]
    fn add_wide(&mut self, chunk: u32, wide: i128) {
        let parts = [(wide as u64 & LOW) as i64, ((wide >> 32) as u64 & LOW) as i64, (wide >> 64) as i64];
        let at = chunk.wrapping_sub(self.first) as usize;
        let there = self.chunks.get_mut(at..).and_then(|chunks| chunks.first_chunk_mut::<3>());
        let sums = match there {
            Some(sums) => sums,
            None => self.widened(chunk),
        };
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }

    #[inline(always)]
    fn count_addition(&mut self) {
        self.waiting += 1;
        if self.waiting == 1 << 29 {
            self.carry();
        }
    }

    /// Fetches the chunks; there are seldom more than a cache line of them.
    #[inline]
    pub(super) fn fetch(&self) {
        self.chunks.first().into_iter().for_each(prefetch);
    }

    /// Adds the product of two numbers without rounding it. A product beyond the largest number counts as that.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let high = (a * b).clamp(f64::MIN, f64::MAX);
        self.add(high);
        // The rounding error: a fused multiply-add is exact by definition, on every platform.
        let low = a.mul_add(b, -high);
        if low.is_finite() {
            self.add(low);
        }
    }

    /// Adds the square of a value, without rounding it. A square beyond the largest number counts as that.
    #[inline]
    pub fn add_square(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7FF) as u32;
        // Where neither the square nor its last bit leaves the range of numbers, it is a product of integers.
        if !(600..1500).contains(&exponent) {
            return self.add_product(value, value);
        }
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        let (square, shift) = (mantissa * mantissa, 2 * (exponent - 1) - 1074);
        let [low, high] = [square & u128::from(u64::MAX), square >> 64].map(|half| (half << (shift % 32)) as i128);
        self.add_wide(shift / 32, low);
        self.add_wide(shift / 32 + 2, high);
        self.count_addition();
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        if let Some(last) = (other.chunks.len() as u32).checked_sub(1) {
            self.widen(other.first, other.first + last);
            let at = (other.first - self.first) as usize;
            for (sum, part) in self.chunks[at..].iter_mut().zip(&other.chunks) {
                *sum += part;
            }
        }
    }

    /// The sum, rounded once to the nearest `f64`.
    pub fn value(&self) -> f64 {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.chunks.last().is_some_and(|&top| top < 0);
        if negative {
            sum.chunks.iter_mut().for_each(|chunk| *chunk = -*chunk);
            sum.carry();
        }
        let Some(top) = sum.chunks.iter().rposition(|&chunk| chunk != 0) else { return 0.0 };
        // The top three chunks hold at least 65 bits; whatever lies below only breaks ties.
        let bottom = top.saturating_sub(2);
        let head = sum.chunks[bottom..=top].iter().rev().fold(0u128, |head, &chunk| head << 32 | chunk as u128);
        let sticky = sum.chunks[..bottom].iter().any(|&chunk| chunk != 0);
        let magnitude = scale(head, sticky, 32 * (sum.first as i32 + bottom as i32) - 1074);
        if negative { -magnitude } else { magnitude }
    }

    /// Three chunks from this one on, which are not all there yet.
    #[cold]
    #[inline(never)]
    fn widened(&mut self, chunk: u32) -> &mut [i64; 3] {
        self.widen(chunk, chunk + 2);
        let at = (chunk - self.first) as usize;
        self.chunks[at..].first_chunk_mut().unwrap_or_else(|| unreachable!("there is room now"))
    }

    /// Makes room for chunks `low..=high`.
    #[cold]
    fn widen(&mut self, low: u32, high: u32) {
        if self.chunks.is_empty() {
            self.first = low;
        }
        let more = self.first.saturating_sub(low) + (high + 1).saturating_sub(self.first + self.chunks.len() as u32);
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

    /// Propagates carries, so that all chunks but the top one lie in `0..2^32`, and the top one, which has the sign, in `-2^32..2^32`.
    fn carry(&mut self) {
        self.waiting = 0;
        let mut carry = 0;
        let top = self.chunks.len().saturating_sub(1);
        for (index, chunk) in self.chunks.iter_mut().enumerate() {
            let sum = *chunk + carry;
            let small = sum.unsigned_abs() <= LOW;
            (*chunk, carry) = if index == top && small { (sum, 0) } else { (sum & LOW as i64, sum >> 32) };
        }
        if carry != 0 {
            self.chunks.push(carry);
        }
        while self.chunks.len() > 3 && self.chunks.last() == Some(&0) {
            self.chunks.pop();
        }
    }
}

/// `head * 2^exponent`, rounded to nearest even; `sticky` says whether there are ones below.
fn scale(head: u128, sticky: bool, exponent: i32) -> f64 {
    let bits = 128 - head.leading_zeros() as i32;
    // The bits that do not fit a mantissa of 53, or that lie below the smallest subnormal.
    let excess = (bits - 53).max(-1074 - exponent).max(0);
    let (kept, rest) = if excess == 0 { (head, 0) } else { (head >> excess, head & ((1u128 << excess) - 1)) };
    let half = if excess == 0 { 0 } else { 1u128 << (excess - 1) };
    let up = excess > 0 && (rest > half || rest == half && (sticky || kept & 1 == 1));
    let mantissa = (kept + u128::from(up)) as f64;
    let exponent = exponent + excess;
    // In two steps, as 2^exponent alone may be below the smallest normal number or above the largest.
    let half_way = exponent / 2;
    mantissa * power_of_two(half_way) * power_of_two(exponent - half_way)
}

/// 2^exponent for exponents of normal numbers.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
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

    /// There is one zero, so that neither the order of adding nor the sign of what cancelled out shows.
    #[test]
    fn a_sum_of_nothing_is_positive_zero() {
        for zeros in [&[][..], &[-0.0], &[-0.0, 0.0], &[0.0, -0.0], &[-1.5, 1.5], &[1.5, -1.5], &[-1.5, -0.0, 1.5]] {
            assert_eq!(sum(zeros).to_bits(), 0, "{zeros:?}");
        }
        let mut product = ExactSum::default();
        product.add_product(-0.0, 7.0);
        assert_eq!(product.value().to_bits(), 0);
    }

    #[test]
    fn negative_sums_stay_small() {
        let (mut total, mut one) = (ExactSum::default(), ExactSum::default());
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
        sum.add_product(1e200, 1e200);
        assert_eq!(sum.value(), f64::MAX);
    }

    #[test]
    fn squares_are_products() {
        for value in [0.0, -1.5, 1e8 + 1.0, 3e-130, 1e140, 1e200, 1e-170, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN] {
            for near in [value, value * 0.7, value.next_up().min(f64::MAX), value.next_down().max(f64::MIN)] {
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
        /// Against integers: dyadic numbers of one scale sum exactly in `i128`.
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
