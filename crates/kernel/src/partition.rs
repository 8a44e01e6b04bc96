use std::ops::Range;

use warpline_base::LpId;

/// Which PE has which LPs: blocks of consecutive ids, of nearly equal size.
#[derive(Clone, Copy, Debug)]
pub struct Partition {
    lps: u32,
    pes: u32,
    /// PEs per LP, as a fraction of 2³²: multiplying is faster than dividing.
    share: u64,
}

impl Partition {
    /// Shares `lps` LPs out over `pes` PEs.
    ///
    /// # Panics
    /// If there are fewer LPs than PEs, or no PE.
    pub fn new(lps: u32, pes: u32) -> Self {
        assert!(pes >= 1 && lps >= pes, "{lps} LPs cannot be shared out over {pes} PEs");
        Partition { lps, pes, share: (u64::from(pes) << 32) / u64::from(lps) }
    }

    /// The PE of an LP.
    #[inline]
    pub fn pe(&self, lp: LpId) -> u32 {
        // Less than `pes`, as `lp` is less than `lps` and the share was rounded down.
        ((u64::from(lp.0) * self.share) >> 32) as u32
    }

    /// The LPs of a PE.
    pub fn lps(&self, pe: u32) -> Range<u32> {
        let first = |pe: u32| if pe == self.pes { self.lps } else { (u64::from(pe) << 32).div_ceil(self.share) as u32 };
        first(pe)..first(pe + 1)
    }

    /// How many PEs there are.
    pub fn pes(&self) -> u32 {
        self.pes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lp_has_one_pe_and_shares_are_even() {
        for (lps, pes) in [(1, 1), (8192, 2), (10, 3), (7, 7), (1_000_003, 64), (u32::MAX, 1), (u32::MAX, 7), (100, 99)] {
            let partition = Partition::new(lps, pes);
            let mut next = 0;
            for pe in 0..pes {
                let range = partition.lps(pe);
                assert_eq!(range.start, next);
                next = range.end;
                let size = range.end - range.start;
                let even = lps / pes;
                assert!(size >= even.saturating_sub(1) && size <= even.saturating_add(2), "{lps} LPs, {pes} PEs: PE {pe} has {size}");
                for lp in [range.start, range.start + (size - 1) / 2, range.end - 1] {
                    assert_eq!(partition.pe(LpId(lp)), pe, "{lps} LPs, {pes} PEs, LP {lp}");
                }
            }
            assert_eq!(next, lps);
        }
    }
}
