//! The longest chains of events that end with the last event of an LP, or with an event that sent a
//! pending one. At the end of the run they show which LPs the critical path went through.
//!
//! Each link points to the one before it, so chains that share their beginning form a forest. A
//! link is reclaimed when no chain needs it any more. Even so, the number of links would grow with
//! the length of the path, because every chain goes back to the start of the run. But a stretch
//! without branches only needs its sums by LP. When there are too many links, each such stretch is
//! [compacted](Chains::compact) to one link per LP, and if that is not enough, to its most costly
//! LPs and one link for all others.

use std::cmp::Reverse;
use std::num::NonZeroU32;

use warpline_base::LpId;
use warpline_memory::{Exhausted, MakeRoom};

use super::findings::LpWork;

/// What the memory is for, in error messages.
pub(super) const CAUSES: &str = "the chains of events that may become the critical path";

/// The last link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainEnd(NonZeroU32);

impl ChainEnd {
    /// The link with this index, which is below 2³² - 1.
    fn at(index: usize) -> Self {
        ChainEnd(NonZeroU32::MIN.saturating_add(index as u32))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// One or several consecutive events of a chain, usually of one LP.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: Option<ChainEnd>,
    /// The number of links, LPs and pending events that refer to it. It is free at 0.
    holders: u32,
    part: Part,
}

/// A part of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Part {
    /// The LP; `None` for several LPs whose shares are no longer known.
    lp: Option<LpId>,
    pub(super) events: u64,
    /// How many of its events had to wait for a message rather than for their LP.
    pub(super) messages: u64,
    cost: u64,
}

impl Part {
    fn add(&mut self, other: &Part) {
        self.events += other.events;
        self.messages += other.messages;
        self.cost += other.cost;
    }
}

/// Chains that share their beginnings.
pub(super) struct Chains {
    links: Vec<Link>,
    free: Vec<u32>,
    /// The number of links in use at which they are compacted.
    compact_at: usize,
    /// The least value of `compact_at`.
    least: usize,
    /// If more than half of this many links remain, the shares of LPs are dropped.
    most: usize,
}

impl Default for Chains {
    fn default() -> Self {
        // At most 160 MB.
        Chains::bounded(1 << 16, 1 << 22)
    }
}

impl Chains {
    pub(super) fn bounded(least: usize, most: usize) -> Self {
        Chains { links: Vec::new(), free: Vec::new(), compact_at: least, least, most }
    }

    fn len(&self) -> usize {
        self.links.len() - self.free.len()
    }

    /// Makes room for one more link.
    pub(super) fn make_room(&mut self) {
        if self.free.is_empty() {
            if self.len() >= self.compact_at {
                self.compact();
            }
            if self.links.len() >= u32::MAX as usize - 1 {
                Exhausted::Numbers.unwind();
            }
            self.links.make_room(1, CAUSES);
        }
    }

    fn set_free(&mut self, end: ChainEnd) {
        self.free.make_room(1, CAUSES);
        self.free.push(end.0.get() - 1);
    }

    /// Extends the chain of the previous event of `lp` by an event there. Releases both chains.
    pub(super) fn follow_own(
        &mut self,
        own: Option<ChainEnd>,
        sender: Option<ChainEnd>,
        lp: LpId,
        cost: u64,
    ) -> ChainEnd {
        self.release(sender);
        let part = Part { lp: Some(lp), events: 1, messages: 0, cost };
        if let Some(own) = own {
            let link = &mut self.links[own.index()];
            if link.holders == 1 && link.part.lp == Some(lp) {
                link.part.add(&part);
                return own;
            }
        }
        self.insert(own, part)
    }

    /// Extends the chain of the sending event by an event of `lp`. Releases both chains.
    pub(super) fn follow_message(
        &mut self,
        own: Option<ChainEnd>,
        sender: Option<ChainEnd>,
        lp: LpId,
        cost: u64,
    ) -> ChainEnd {
        self.release(own);
        self.insert(sender, Part { lp: Some(lp), events: 1, messages: 1, cost })
    }

    fn insert(&mut self, before: Option<ChainEnd>, part: Part) -> ChainEnd {
        let link = Link { before, holders: 1, part };
        if let Some(index) = self.free.pop() {
            self.links[index as usize] = link;
            return ChainEnd::at(index as usize);
        }
        self.links.push(link);
        ChainEnd::at(self.links.len() - 1)
    }

    /// Adds a holder of this chain.
    pub(super) fn hold(&mut self, end: ChainEnd) {
        self.links[end.index()].holders += 1;
    }

    /// Releases a chain and reclaims the links without other holders.
    pub(super) fn release(&mut self, mut end: Option<ChainEnd>) {
        while let Some(this) = end {
            let link = &mut self.links[this.index()];
            link.holders -= 1;
            if link.holders > 0 {
                return;
            }
            end = link.before.take();
            self.set_free(this);
        }
    }

    /// The links of a chain, last first.
    fn links_from(&self, end: Option<ChainEnd>) -> impl Iterator<Item = (ChainEnd, &Link)> {
        let link = |end: ChainEnd| (end, &self.links[end.index()]);
        std::iter::successors(end.map(link), move |(_, last)| last.before.map(link))
    }

    /// The sum of a chain, and the LPs in it, most costly first. Dropped shares are missing from
    /// the list of LPs.
    pub(super) fn summary(&self, end: Option<ChainEnd>) -> (Part, Vec<LpWork>) {
        let mut all = Part::default();
        let mut parts = self.links_from(end).map(|(_, link)| link.part).collect::<Vec<_>>();
        parts.iter().for_each(|part| all.add(part));
        add_up_by_lp(&mut parts);
        parts.sort_by_key(|part| (Reverse(part.cost), part.lp));
        (
            all,
            parts
                .iter()
                .filter_map(|part| part.lp.map(|lp| LpWork { lp, work: part.cost }))
                .collect(),
        )
    }

    /// Rewrites every stretch without branches as at most one link per LP.
    fn compact(&mut self) {
        let mut inner = vec![false; self.links.len()];
        for before in
            self.links.iter().filter(|link| link.holders > 0).filter_map(|link| link.before)
        {
            // Its only holder is the link that follows it.
            inner[before.index()] = self.links[before.index()].holders == 1;
        }
        let last_links: Vec<usize> = (0..self.links.len())
            .filter(|&index| self.links[index].holders > 0 && !inner[index])
            .collect();
        for kept in [usize::MAX, 64, 16, 4, 1] {
            last_links.iter().for_each(|&last| self.compact_stretch(last, &inner, kept));
            if self.len() <= self.most / 2 {
                break;
            }
        }
        self.compact_at = (2 * self.len()).max(self.least);
    }

    /// Rewrites the stretch that ends with link `last`, so that at most `kept` LPs keep their
    /// shares.
    fn compact_stretch(&mut self, last: usize, inner: &[bool], kept: usize) {
        let stretch: Vec<ChainEnd> = self
            .links_from(Some(ChainEnd::at(last)))
            .enumerate()
            .map_while(|(place, (end, _))| (place == 0 || inner[end.index()]).then_some(end))
            .collect();
        let mut parts: Vec<Part> = stretch.iter().map(|end| self.links[end.index()].part).collect();
        let own = parts[0].lp;
        let first = self.links[stretch[stretch.len() - 1].index()].before;
        add_up_by_lp(&mut parts);
        parts.sort_by_key(|part| (part.lp.is_none(), Reverse(part.cost), part.lp));
        let split = parts.iter().filter(|part| part.lp.is_some()).count().min(kept);
        if split < parts.len() {
            let mut others = Part::default();
            parts.drain(split..).for_each(|part| others.add(&part));
            parts.push(others);
        }
        // The last link keeps its LP, so that later events of that LP can be added to it.
        parts.sort_by_key(|part| part.lp != own);
        for (place, end) in stretch.iter().enumerate() {
            let before = if place + 1 < parts.len() { Some(stretch[place + 1]) } else { first };
            match parts.get(place) {
                Some(&part) => {
                    let link = &mut self.links[end.index()];
                    link.before = before;
                    link.part = part;
                }
                None => {
                    self.links[end.index()].holders = 0;
                    self.set_free(*end);
                }
            }
        }
    }
}

/// Adds up parts of the same LP.
fn add_up_by_lp(parts: &mut Vec<Part>) {
    parts.sort_by_key(|part| part.lp);
    parts.dedup_by(|next, sum| {
        let same = next.lp == sum.lp;
        if same {
            sum.add(next);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LPS: usize = 4;

    /// An event: its LP, whether it follows its message, its cost, how many events it sends, and to
    /// whom.
    type Happens = (usize, bool, u64, usize, usize);

    /// The sum of a chain by LP, kept beside the forest.
    type Sums = [u64; LPS];

    /// Plays a random history with chains in a forest, and with whole sums for every holder.
    fn play(history: &[Happens], mut chains: Chains) -> (Chains, Vec<(Option<ChainEnd>, Sums)>) {
        let mut lps = vec![(None::<ChainEnd>, Sums::default()); LPS];
        let mut pending = vec![Vec::<(Option<ChainEnd>, Sums)>::new(); LPS];
        for &(lp, by_message, cost, sends, to) in history {
            let (sender, sent) = pending[lp].pop().unwrap_or_default();
            let (own, sums) = lps[lp];
            chains.make_room();
            let id = LpId(lp as u32);
            let (end, mut sums) = if by_message {
                (chains.follow_message(own, sender, id, cost), sent)
            } else {
                (chains.follow_own(own, sender, id, cost), sums)
            };
            sums[lp] += cost;
            lps[lp] = (Some(end), sums);
            for number in 0..sends {
                chains.hold(end);
                pending[(to + number) % LPS].push((Some(end), sums));
            }
        }
        let held = lps.into_iter().chain(pending.into_iter().flatten()).collect();
        (chains, held)
    }

    fn happens() -> impl Strategy<Value = Happens> {
        (0..LPS, any::<bool>(), 1u64..9, 0usize..3, 0..LPS)
    }

    fn sums(chains: &Chains, end: Option<ChainEnd>) -> (Sums, u64) {
        let (all, by_lp) = chains.summary(end);
        let mut sums = Sums::default();
        by_lp.iter().for_each(|part| sums[part.lp.index()] += part.work);
        (sums, all.cost)
    }

    proptest! {
        #[test]
        fn chains_keep_their_sums_however_often_they_are_compacted(history in prop::collection::vec(happens(), 0..200), least in 1usize..40) {
            let (chains, held) = play(&history, Chains::bounded(least, usize::MAX));
            for (end, expected) in held {
                prop_assert_eq!(sums(&chains, end), (expected, expected.iter().sum()));
            }
        }

        /// A bound on links costs shares, but no sums.
        #[test]
        fn dropped_shares_still_count_in_the_sum(history in prop::collection::vec(happens(), 0..200), most in 1usize..20) {
            let (chains, held) = play(&history, Chains::bounded(1, most));
            for (end, expected) in held {
                let (known, all) = sums(&chains, end);
                prop_assert_eq!(all, expected.iter().sum::<u64>());
                prop_assert!(known.iter().zip(expected).all(|(known, expected)| *known <= expected));
            }
        }

        #[test]
        fn every_link_is_held_or_free(history in prop::collection::vec(happens(), 0..200), least in 1usize..40) {
            let (mut chains, held) = play(&history, Chains::bounded(least, 30));
            held.iter().for_each(|(end, _)| chains.release(*end));
            prop_assert_eq!(chains.len(), 0);
        }
    }

    /// Two LPs that send each other the same ball: without compaction, a link per event.
    #[test]
    fn memory_does_not_grow_with_the_path() {
        let mut chains = Chains::bounded(100, 1000);
        let mut lps = [None; 2];
        let mut sender = None;
        for event in 0..100_000 {
            let lp = event % 2;
            chains.make_room();
            let end = chains.follow_message(lps[lp], sender, LpId(lp as u32), 1);
            chains.hold(end);
            lps[lp] = Some(end);
            sender = Some(end);
        }
        assert!(chains.links.len() <= 201, "{}", chains.links.len());
        assert_eq!(sums(&chains, sender), ([50_000, 50_000, 0, 0], 100_000));
    }

    /// The same with so many LPs that not all shares can be kept.
    #[test]
    fn memory_does_not_grow_with_the_lps_on_the_path() {
        let mut chains = Chains::bounded(100, 1000);
        let mut sender = None;
        for event in 0..50_000 {
            chains.make_room();
            let lp = LpId(if event % 2 == 0 { 100_000 } else { event });
            sender = Some(chains.follow_message(None, sender, lp, 1));
        }
        assert!(chains.links.len() <= 1200, "{}", chains.links.len());
        let (all, by_lp) = chains.summary(sender);
        assert_eq!((all.cost, all.events, all.messages), (50_000, 50_000, 50_000));
        assert_eq!(
            by_lp[0],
            LpWork { lp: LpId(100_000), work: 25_000 },
            "the most costly LP is not forgotten"
        );
    }
}
