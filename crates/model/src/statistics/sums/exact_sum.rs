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
            self.add_short(mantissa, shift + (BELOW - LAST_BIT), value.is_sign_negative());
            self.count_addition();
        }
    }

    /// Adds or, if `negative`, subtracts 2^(shift - [`BELOW`]) times a number.
    #[inline(always)]
    fn add_short(&mut self, short: u64, shift: u32, negative: bool) {
        let up = shift % 32;
        let down = 32 - up;
        let parts = [short << up & LOW, short >> down & LOW, short >> 32 >> down];
        let sums = self.chunks_from::<3>(shift / 32).iter_mut().zip(parts.map(u64::cast_signed));
        // Most statistics see numbers of one sign, so that the branch costs less than a negation.
        if negative {
            sums.for_each(|(sum, part)| *sum -= part)
        } else {
            sums.for_each(|(sum, part)| *sum += part)
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
                Some(product) => self.add_short(product, shift, negative),
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
        // Shares of time, such as those that links transmit, have no other factor.
        if factor == 1.0 {
            self.add(distance);
        } else {
            self.add_product(distance, factor);
        }
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
#[path = "exact_sum_tests.rs"]
mod tests;
