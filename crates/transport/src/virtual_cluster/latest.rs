//! When the latest message between two PEs arrives.

use std::collections::HashMap;

/// With more PEs than this, only pairs with something in transit are kept.
const TABLE_MOST: usize = 64;
/// The fewest pairs that are looked through for those with nothing in transit any more.
const SWEPT_LEAST: usize = 1 << 12;

/// By pair: the latest arrival among the messages sent so far.
#[derive(Debug)]
pub(super) enum Latest {
    Table {
        pes: usize,
        arrivals: Vec<u64>,
    },
    Pairs {
        arrivals: HashMap<(u32, u32), u64>,
        /// How many there are when they are next looked through.
        sweep_at: usize,
    },
}

impl Latest {
    pub(super) fn new(pes: usize) -> Self {
        if pes <= TABLE_MOST {
            Latest::Table { pes, arrivals: vec![0; pes * pes] }
        } else {
            Latest::Pairs { arrivals: HashMap::new(), sweep_at: SWEPT_LEAST }
        }
    }

    /// Notes an arrival after the step `now`.
    pub(super) fn note(&mut self, from: u32, to: u32, arrival: u64, now: u64) {
        match self {
            Latest::Table { pes, arrivals } => {
                let latest = &mut arrivals[to as usize * *pes + from as usize];
                *latest = arrival.max(*latest);
            }
            Latest::Pairs { arrivals, sweep_at } => {
                let latest = arrivals.entry((from, to)).or_default();
                *latest = arrival.max(*latest);
                if arrivals.len() >= *sweep_at {
                    // Whatever is sent from now on arrives now or later.
                    arrivals.retain(|_, latest| *latest > now);
                    *sweep_at = SWEPT_LEAST.max(2 * arrivals.len());
                }
            }
        }
    }

    /// The latest arrival, or a step that is over.
    pub(super) fn of(&self, from: u32, to: u32) -> u64 {
        match self {
            Latest::Table { pes, arrivals } => arrivals[to as usize * pes + from as usize],
            Latest::Pairs { arrivals, .. } => {
                arrivals.get(&(from, to)).copied().unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_with_nothing_in_transit_are_forgotten() {
        let mut latest = Latest::new(1000);
        latest.note(1, 2, 10, 0);
        latest.note(1, 2, 5, 0);
        assert_eq!([latest.of(1, 2), latest.of(2, 1)], [10, 0]);
        for step in 0..10 * SWEPT_LEAST as u64 {
            latest.note((step % 1000) as u32, (step / 1000) as u32, step + 3, step);
        }
        let Latest::Pairs { arrivals, .. } = &latest else { panic!("1000 PEs have no table") };
        assert!(arrivals.len() <= SWEPT_LEAST);
    }
}
