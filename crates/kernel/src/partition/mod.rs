//! Which PE has which LPs.
//!
//! A model may declare how much work an LP is (`Model::weight`), and groups of LPs that belong on
//! one PE (`Model::group`). A PE has a block of consecutive ids, so the PE of an LP is found by a
//! multiplication, or in a small table where blocks differ in size. LPs that send each other many
//! events should therefore be close in number, which is up to the model: `network` numbers its
//! nodes region by region, in the order of E. Cuthill and J. McKee ("Reducing the bandwidth of
//! sparse symmetric matrices", Proc. 24th ACM National Conference, 1969).

mod boundaries;
pub(crate) mod delays;
mod groups;
mod pair_delays;
#[cfg(test)]
mod test_lookahead;

use std::ops::Range;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_model::engine::Lookahead;

use self::boundaries::{Places, boundaries, shortest_across};
pub use self::groups::{Groups, LpGroup, ScatteredGroup};
pub(crate) use self::pair_delays::DelaysHere;

/// Which PE has which LPs: blocks of consecutive ids, of equal size to within one LP, or of nearly
/// equal weight.
#[derive(Clone, Debug)]
pub struct Partition {
    lps: u32,
    pes: u32,
    /// PEs per LP in units of 2⁻⁶⁴, a little less than exactly: multiplying is faster than
    /// dividing.
    share: u64,
    /// `Some` if blocks differ in size.
    blocks: Option<Arc<Blocks>>,
}

/// Blocks of different sizes.
#[derive(Debug)]
struct Blocks {
    /// The first LP of each PE, and finally the number of LPs.
    starts: Vec<u32>,
    /// For every run of 2^`shift` LPs, the PE of the first one.
    hints: Vec<u32>,
    shift: u32,
}

/// About how many hints there are: the table should fit the nearest cache.
const HINTS: u32 = 4096;

impl Partition {
    /// Divides `lps` LPs among `pes` PEs, evenly to within one LP.
    ///
    /// # Panics
    /// If there are fewer LPs than PEs, or no PE.
    pub fn new(lps: u32, pes: u32) -> Self {
        assert!(pes >= 1 && lps >= pes, "{lps} LPs cannot be shared out over {pes} PEs");
        Partition {
            lps,
            pes,
            share: (((u128::from(pes) << 64) - 1) / u128::from(lps)) as u64,
            blocks: None,
        }
    }

    /// Divides `lps` LPs among `pes` PEs so that each PE gets about the same weight, and at least
    /// one LP. Where the lookahead of LPs differs, a boundary may be moved some way to where the
    /// links between PEs are longer.
    ///
    /// No boundary divides a group as long as there are enough groups and other LPs for all PEs.
    /// With more PEs, a boundary is moved some way to where it divides none.
    ///
    /// # Errors
    /// The first LP whose weight is not a finite number, zero or more.
    ///
    /// # Panics
    /// If there are fewer LPs than PEs, or no PE.
    pub fn weighted(
        lps: u32,
        pes: u32,
        lookahead: &Lookahead,
        groups: &Groups,
        weight: impl Fn(LpId) -> f64,
    ) -> Result<Self, (LpId, f64)> {
        let even = Self::new(lps, pes);
        let total = total_weight(lps, &weight)?;
        if pes == 1 {
            return Ok(even);
        }
        if lookahead.is_uniform() && groups.is_empty() {
            let Some(total) = total else { return Ok(even) };
            return Ok(even.with_blocks(starts_by_weight(lps, pes, total, weight)));
        }
        let mut sum = 0.0;
        let add = |lp| {
            sum += if total.is_some() { weight(LpId(lp)) } else { 1.0 };
            sum
        };
        let before: Vec<f64> = [0.0].into_iter().chain((0..lps).map(add)).collect();
        let across = if lookahead.is_uniform() {
            vec![lookahead.least(); lps as usize]
        } else {
            shortest_across(lookahead, lps)
        };
        Ok(even.with_blocks(starts_of_blocks(pes, before, across, groups)))
    }

    /// The same, with blocks that start at these LPs.
    fn with_blocks(self, mut starts: Vec<u32>) -> Self {
        if (0..).zip(&starts).all(|(pe, start)| self.lps(pe).start == *start) {
            return self;
        }
        starts.push(self.lps);
        let shift = (self.lps / HINTS).max(1).ilog2();
        let pe = |lp: u32| starts.partition_point(|&start| start <= lp) as u32 - 1;
        let hints = (0..self.lps).step_by(1 << shift).map(pe).collect();
        Partition { blocks: Some(Arc::new(Blocks { starts, hints, shift })), ..self }
    }

    /// The PE of an LP.
    #[inline]
    pub fn pe(&self, lp: LpId) -> u32 {
        match &self.blocks {
            // Block k begins at LP ⌊k·lps/pes⌋, so an LP's is the last k below (lp + 1)·pes/lps.
            // That number is whole, or at least 1/lps above a whole one. The product is less by
            // more than 0 and by at most 2⁻³², so rounding it down gives k.
            None => (((u128::from(lp.0) + 1) * u128::from(self.share)) >> 64) as u32,
            Some(blocks) => blocks.pe(lp),
        }
    }

    /// The LPs of a PE.
    pub fn lps(&self, pe: u32) -> Range<u32> {
        if let Some(blocks) = &self.blocks {
            return blocks.starts[pe as usize]..blocks.starts[pe as usize + 1];
        }
        let first = |pe: u32| (u64::from(pe) * u64::from(self.lps) / u64::from(self.pes)) as u32;
        first(pe)..first(pe + 1)
    }

    /// How many PEs there are.
    pub fn pes(&self) -> u32 {
        self.pes
    }
}

/// The weight of all LPs; `None` if weights do not matter, as they are all alike or too large to be
/// added up.
///
/// # Errors
/// The first LP whose weight is not a finite number, zero or more.
fn total_weight(lps: u32, weight: &impl Fn(LpId) -> f64) -> Result<Option<f64>, (LpId, f64)> {
    let first = weight(LpId(0));
    let mut total = 0.0;
    let mut differ = false;
    for lp in (0..lps).map(LpId) {
        let weight = weight(lp);
        if !(0.0..f64::INFINITY).contains(&weight) {
            return Err((lp, weight));
        }
        total += weight;
        differ |= weight != first;
    }
    Ok(Some(total).filter(|total| differ && *total < f64::INFINITY))
}

/// The first LPs of `pes` blocks, where weights alone decide.
fn starts_by_weight(lps: u32, pes: u32, total: f64, weight: impl Fn(LpId) -> f64) -> Vec<u32> {
    let mut starts = vec![0];
    let mut sum = 0.0;
    for lp in 0..lps {
        let block = starts.len() as u32;
        // An LP goes to the PE that most of its weight falls to; enough LPs must be left for the
        // remaining PEs, and no block is empty.
        let full = sum + weight(LpId(lp)) / 2.0 >= total * f64::from(block) / f64::from(pes);
        let scarce = lps - lp == pes - block;
        if block < pes && lp > starts[starts.len() - 1] && (full || scarce) {
            starts.push(lp);
        }
        sum += weight(LpId(lp));
    }
    starts
}

/// The first LPs of `pes` blocks, where links or groups matter besides weights. For `before` and
/// `across`, see [`Places`].
fn starts_of_blocks(pes: u32, before: Vec<f64>, across: Vec<f64>, groups: &Groups) -> Vec<u32> {
    let lps = across.len() as u32;
    let whole = if groups.is_empty() { Vec::new() } else { groups.starts(lps) };
    if whole.len() < pes as usize {
        return boundaries(
            pes,
            &Places {
                before: &before,
                across: &across,
                divides: &|lp| groups.divided_at(lp).is_some(),
            },
        );
    }
    // Groups, and LPs outside of them, take the place of LPs.
    let across: Vec<f64> = whole.iter().map(|lp| across[*lp as usize]).collect();
    let before: Vec<f64> = whole.iter().chain([&lps]).map(|lp| before[*lp as usize]).collect();
    let starts = boundaries(pes, &Places { before: &before, across: &across, divides: &|_| false });
    starts.into_iter().map(|start| whole[start as usize]).collect()
}

impl Blocks {
    #[inline]
    fn pe(&self, lp: LpId) -> u32 {
        let mut pe = self.hints[(lp.0 >> self.shift) as usize];
        while lp.0 >= self.starts[pe as usize + 1] {
            pe += 1;
        }
        pe
    }
}

#[cfg(test)]
mod tests;
