//! Exponential and normal numbers by the ziggurat method with 256 layers of equal area.
//!
//! Source: Marsaglia, Tsang, "The ziggurat method for generating random variables", J. Stat.
//! Software 5 (2000); layer and fraction come from different bits of one word, as Doornik (2005)
//! asks.

use super::ziggurat_tables::{EXPONENTIAL, NORMAL};
use super::{Random, unit};

/// Where the tail of the exponential begins.
pub(super) const EXPONENTIAL_TAIL: f64 = 7.697_117_470_131_05;
/// Where the tails of the normal begin.
pub(super) const NORMAL_TAIL: f64 = 3.654_152_885_361_009;

#[inline]
pub(super) fn exponential(random: &mut Random) -> f64 {
    let word = random.next_u64();
    let layer = (word & 0xFF) as usize;
    let x = unit(word) * EXPONENTIAL[layer].0;
    if x < EXPONENTIAL[layer + 1].0 { x } else { exponential_edge(random, layer, x) }
}

/// The 1.1 % of draws that fall on a layer's edge or in the tail.
#[cold]
fn exponential_edge(random: &mut Random, mut layer: usize, mut x: f64) -> f64 {
    loop {
        if layer == 0 {
            // The distribution is memoryless: the tail is the whole, shifted.
            return EXPONENTIAL_TAIL - libm::log(1.0 - random.uniform());
        }
        let (top, foot) = (EXPONENTIAL[layer + 1].1, EXPONENTIAL[layer].1);
        if foot + (top - foot) * random.uniform() < libm::exp(-x) {
            return x;
        }
        let word = random.next_u64();
        layer = (word & 0xFF) as usize;
        x = unit(word) * EXPONENTIAL[layer].0;
        if x < EXPONENTIAL[layer + 1].0 {
            return x;
        }
    }
}

#[inline]
pub(super) fn normal(random: &mut Random) -> f64 {
    let word = random.next_u64();
    let layer = (word & 0xFF) as usize;
    let x = symmetric(word) * NORMAL[layer].0;
    if x.abs() < NORMAL[layer + 1].0 { x } else { normal_edge(random, layer, x) }
}

#[cold]
fn normal_edge(random: &mut Random, mut layer: usize, mut x: f64) -> f64 {
    loop {
        if layer == 0 {
            return normal_tail(random).copysign(x);
        }
        let (top, foot) = (NORMAL[layer + 1].1, NORMAL[layer].1);
        if foot + (top - foot) * random.uniform() < libm::exp(-0.5 * x * x) {
            return x;
        }
        let word = random.next_u64();
        layer = (word & 0xFF) as usize;
        x = symmetric(word) * NORMAL[layer].0;
        if x.abs() < NORMAL[layer + 1].0 {
            return x;
        }
    }
}

/// Marsaglia's tail method.
fn normal_tail(random: &mut Random) -> f64 {
    loop {
        let x = -libm::log(1.0 - random.uniform()) / NORMAL_TAIL;
        let y = -libm::log(1.0 - random.uniform());
        if y + y > x * x {
            return NORMAL_TAIL + x;
        }
    }
}

/// A number in `[-1, 1)`.
#[inline]
fn symmetric(word: u64) -> f64 {
    2.0 * unit(word) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(
        tail: f64,
        area: f64,
        density: fn(f64) -> f64,
        inverse: fn(f64) -> f64,
    ) -> Vec<(f64, f64)> {
        let mut edges = vec![area / density(tail), tail];
        for layer in 2..256 {
            edges.push(inverse(area / edges[layer - 1] + density(edges[layer - 1])));
        }
        edges.push(0.0);
        edges.into_iter().map(|x| (x, density(x))).collect()
    }

    /// The tables agree with their formulas: the layers have equal areas, the base layer's
    /// including the tail.
    #[test]
    fn tables_follow_from_the_densities() {
        let area = EXPONENTIAL_TAIL * libm::exp(-EXPONENTIAL_TAIL) + libm::exp(-EXPONENTIAL_TAIL);
        let exponential = table(EXPONENTIAL_TAIL, area, |x| libm::exp(-x), |y| -libm::log(y));
        assert_eq!(exponential, EXPONENTIAL);
        let tail = libm::sqrt(std::f64::consts::FRAC_PI_2)
            * libm::erfc(NORMAL_TAIL / std::f64::consts::SQRT_2);
        let area = NORMAL_TAIL * libm::exp(-0.5 * NORMAL_TAIL * NORMAL_TAIL) + tail;
        let normal = table(
            NORMAL_TAIL,
            area,
            |x| libm::exp(-0.5 * x * x),
            |y| libm::sqrt(-2.0 * libm::log(y)),
        );
        assert_eq!(normal, NORMAL);
        for table in [EXPONENTIAL, NORMAL] {
            assert!(table.windows(2).all(|pair| pair[0].0 > pair[1].0), "layers shrink");
            assert!(
                (table[255].1 + area_of_top(&table) - 1.0).abs() < 1e-9,
                "the top layer closes at density 1"
            );
        }
    }

    /// The height of the top layer, from the area of layer 1.
    fn area_of_top(table: &[(f64, f64); 257]) -> f64 {
        let area = table[1].0 * (table[2].1 - table[1].1);
        area / table[255].0
    }
}
