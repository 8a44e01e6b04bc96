//! The least delays between PEs that differ from pair to pair.
//!
//! Few PEs have a table of all pairs. Among many, the table would take more memory than the model,
//! and most of it would say the same: so it has a row for what a PE sends anywhere, and a list of
//! the PEs that each PE has links from.

use std::collections::BTreeMap;
use std::ops::Range;

/// With more PEs than this, only pairs that have links are kept.
const TABLE_MOST: u32 = 64;

/// The least delays between pairs of PEs.
#[derive(Debug)]
pub(super) struct PairDelays {
    /// By receiver, and for each by sender; or one row for all receivers.
    table: Vec<f64>,
    pes: usize,
    /// Links with lesser delays than in the table, by receiver: senders and delays.
    links: Vec<(u32, f64)>,
    /// Where the links to each receiver begin, and the last end; empty if there are none.
    starts: Vec<usize>,
    /// The least between any two different PEs.
    least: f64,
    are_equal: bool,
}

/// The least delays to one PE.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelaysHere<'d> {
    /// By sender.
    pub(crate) from_each: &'d [f64],
    /// Senders whose delays are less than that, with these delays.
    pub(crate) links: &'d [(u32, f64)],
}

impl DelaysHere<'_> {
    /// The least delay from any PE but this one, which is `me`.
    pub(crate) fn least(&self, me: u32) -> f64 {
        let from_each = (0..).zip(self.from_each).filter(|(from, _)| *from != me);
        let delays = from_each.map(|(_, delay)| *delay);
        delays.chain(self.links.iter().map(|(_, delay)| *delay)).fold(f64::INFINITY, f64::min)
    }
}

/// Links between pairs of PEs, with their least delays, while they are found.
pub(super) struct Links {
    pes: u32,
    /// By sender: the least delay to any other PE.
    anywhere: Vec<f64>,
    /// By receiver and sender.
    between: BTreeMap<(u32, u32), f64>,
}

impl Links {
    /// No links between so many PEs.
    pub(super) fn none(pes: u32) -> Self {
        Links { pes, anywhere: vec![f64::INFINITY; pes as usize], between: BTreeMap::new() }
    }

    /// A link from one PE to another. Those within a PE do not matter.
    pub(super) fn add(&mut self, from: u32, to: u32, delay: f64) {
        if from != to {
            let least = self.between.entry((to, from)).or_insert(f64::INFINITY);
            *least = least.min(delay);
        }
    }

    /// Links from one PE to all others.
    pub(super) fn add_to_all(&mut self, from: u32, delay: f64) {
        let least = &mut self.anywhere[from as usize];
        *least = least.min(delay);
    }

    /// The delays that they make.
    pub(super) fn delays(mut self) -> PairDelays {
        let Links { pes, anywhere, between } = &mut self;
        between.retain(|(_, from), delay| *delay < anywhere[*from as usize]);
        let pes = *pes as usize;
        let least = if pes == 1 { &[][..] } else { anywhere };
        let all = || between.values().chain(least);
        let least = all().copied().fold(f64::INFINITY, f64::min);
        let mut delays = PairDelays {
            table: Vec::new(),
            pes,
            links: Vec::new(),
            starts: Vec::new(),
            least,
            are_equal: false,
        };
        delays.are_equal = self.are_equal(least);
        if pes <= TABLE_MOST as usize {
            delays.table = self.anywhere.repeat(pes);
            for ((to, from), delay) in self.between {
                delays.table[to as usize * pes + from as usize] = delay;
            }
        } else {
            delays.table = self.anywhere;
            delays.links.reserve_exact(self.between.len());
            for ((to, from), delay) in self.between {
                let begun = delays.starts.len();
                delays.starts.resize(begun.max(to as usize + 1), delays.links.len());
                delays.links.push((from, delay));
            }
            delays.starts.resize(pes + 1, delays.links.len());
        }
        delays
    }

    /// Whether the delays between all pairs are this one, the least.
    fn are_equal(&self, least: f64) -> bool {
        let mut shorter = vec![0; self.pes as usize];
        for ((_, from), delay) in &self.between {
            if *delay != least {
                return false;
            }
            shorter[*from as usize] += 1;
        }
        let mut each = self.anywhere.iter().zip(shorter);
        each.all(|(anywhere, links)| *anywhere == least || links == self.pes - 1)
    }
}

impl PairDelays {
    /// The same delay between any two of so many PEs.
    pub(super) fn uniform(pes: u32, delay: f64) -> Self {
        let pes = pes as usize;
        PairDelays {
            table: vec![delay; pes],
            pes,
            links: Vec::new(),
            starts: Vec::new(),
            least: delay,
            are_equal: true,
        }
    }

    fn has_one_row(&self) -> bool {
        self.table.len() == self.pes
    }

    fn links_of(&self, to: u32) -> Range<usize> {
        let to = to as usize;
        if self.starts.is_empty() { 0..0 } else { self.starts[to]..self.starts[to + 1] }
    }

    /// The least delays to PE `to`.
    #[inline]
    pub(super) fn to(&self, to: u32) -> DelaysHere<'_> {
        let first = if self.has_one_row() { 0 } else { to as usize * self.pes };
        DelaysHere {
            from_each: &self.table[first..first + self.pes],
            links: &self.links[self.links_of(to)],
        }
    }

    pub(super) fn between(&self, from: u32, to: u32) -> f64 {
        let DelaysHere { from_each, links } = self.to(to);
        let link = links.binary_search_by_key(&from, |(sender, _)| *sender);
        link.map_or(from_each[from as usize], |place| links[place].1)
    }

    pub(super) fn least(&self) -> f64 {
        self.least
    }

    pub(super) fn are_equal(&self) -> bool {
        self.are_equal
    }
}
