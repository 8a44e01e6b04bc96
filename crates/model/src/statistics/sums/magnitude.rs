//! Numbers of any length, and how they are rounded.

/// The weight of the lowest chunk is 2^-`BELOW`: a whole number of chunks, at most the last bit of
/// any product, 2^-2148.
pub(super) const BELOW: u32 = 68 * 32;
/// The last bit of the least positive number is 2^-`LAST_BIT`.
pub(super) const LAST_BIT: u32 = 1074;

/// Sign and digits of a number: chunk `i`, of 32 bits, weighs 2^(32 i + lowest).
#[derive(Debug)]
pub(super) struct Magnitude {
    pub(super) negative: bool,
    pub(super) chunks: Vec<u64>,
    pub(super) lowest: i32,
    /// Whether there are 1 bits below all digits.
    pub(super) rest: bool,
}

impl Magnitude {
    /// The place of a chunk among those of sums.
    pub(super) fn place(&self, index: usize) -> u32 {
        ((self.lowest + BELOW as i32) / 32) as u32 + index as u32
    }

    /// The exponent of the leading bit.
    pub(super) fn exponent(&self) -> i32 {
        let first = self.chunks.iter().rposition(|&chunk| chunk != 0);
        first.map_or(-(BELOW as i32), |top| {
            self.lowest + 32 * top as i32 + self.chunks[top].ilog2() as i32
        })
    }

    /// This number divided by `divisor` times 2^`exponent`.
    pub(super) fn over(mut self, divisor: u64, exponent: i32) -> Magnitude {
        // The divisor has two chunks. Three more chunks give more digits than an `f64` has.
        const MORE: usize = 5;
        self.chunks.splice(0..0, [0; MORE]);
        let mut rest = 0u128;
        for chunk in self.chunks.iter_mut().rev() {
            let part = rest << 32 | u128::from(*chunk);
            *chunk = (part / u128::from(divisor)) as u64;
            rest = part % u128::from(divisor);
        }
        Magnitude {
            lowest: self.lowest - 32 * MORE as i32 - exponent,
            rest: self.rest || rest != 0,
            ..self
        }
    }

    /// The number, rounded to the nearest `f64`.
    pub(super) fn round(&self) -> f64 {
        let Some(top) = self.chunks.iter().rposition(|&chunk| chunk != 0) else { return 0.0 };
        // The top three chunks hold at least 65 bits. Everything below only breaks ties.
        let bottom = top.saturating_sub(2);
        let head = self.chunks[bottom..=top]
            .iter()
            .rev()
            .fold(0u128, |head, &chunk| head << 32 | u128::from(chunk));
        let rest = self.rest || self.chunks[..bottom].iter().any(|&chunk| chunk != 0);
        let magnitude = scale(head, rest, self.lowest + 32 * bottom as i32);
        // The result is never -0.0.
        if self.negative { 0.0 - magnitude } else { magnitude }
    }
}

/// `head * 2^exponent`, rounded to nearest, ties to even. `rest`: whether there are 1 bits below.
fn scale(head: u128, rest: bool, exponent: i32) -> f64 {
    let bits = 128 - head.leading_zeros() as i32;
    // The bits that do not fit a mantissa of 53, or that lie below the smallest subnormal.
    let excess = (bits - 53).max(-(LAST_BIT as i32) - exponent).max(0);
    if excess > bits {
        return 0.0;
    }
    let (kept, cut) = match excess {
        0 => (head, 0),
        128 => (0, head),
        excess => (head >> excess, head & ((1u128 << excess) - 1)),
    };
    let half = if excess == 0 { 0 } else { 1u128 << (excess - 1) };
    let up = excess > 0 && (cut > half || cut == half && (rest || kept & 1 == 1));
    power((kept + u128::from(up)) as f64, exponent + excess)
}

/// `value` times 2^exponent. Only the result may be subnormal or infinite, and a subnormal one must
/// be exact.
pub(super) fn power(mut value: f64, mut exponent: i32) -> f64 {
    // In several steps, as 2^exponent alone may be below the smallest normal number or above the
    // largest.
    while exponent > 1000 && value.is_finite() {
        value *= power_of_two(1000);
        exponent -= 1000;
    }
    while exponent < -1000 && value != 0.0 {
        value *= power_of_two(-1000);
        exponent += 1000;
    }
    value * power_of_two(exponent.clamp(-1000, 1000))
}

/// 2^exponent for exponents of normal numbers.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
