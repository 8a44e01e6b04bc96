/// How many PEs of a group report to one PE. A group of at most one more than this is centralised,
/// as the nodes of Perumalla, Park and Tipparaju are (§2.6); the PEs of a larger one form a tree.
const FAN_IN: u32 = 8;

/// How PEs take part in a reduction. PEs that are close to each other, because they take turns in
/// one thread or share an address space, form a group of consecutive numbers. Within a group,
/// shares go up a tree to its first PE, the leader. Leaders exchange sums in a butterfly: in stage
/// s, the leader of group i with that of group i XOR 2^s, until all know the sum of all. Groups
/// beyond the largest power of two report to the leader of a group within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    pes: u32,
    group: u32,
    calls: bool,
}

impl Hierarchy {
    /// Groups of this many PEs; the last may be smaller.
    ///
    /// # Panics
    /// If either number is 0.
    pub fn new(pes: u32, group: u32) -> Self {
        assert!(pes > 0 && group > 0, "{pes} PEs in groups of {group}");
        Hierarchy { pes, group: group.min(pes), calls: true }
    }

    /// The same, but no PE joins a computation before it needs GVT itself: without the jump start.
    /// All PEs must come to need it sooner or later, as they do where GVT drives the run.
    ///
    /// ```
    /// use warpline_kernel::gvt::Hierarchy;
    /// let hierarchy = Hierarchy::new(8, 4);
    /// assert_ne!(hierarchy.without_jump_start(), hierarchy);
    /// ```
    #[must_use]
    pub fn without_jump_start(self) -> Self {
        Hierarchy { calls: false, ..self }
    }

    /// Whether a PE that begins a computation has its neighbours begin, too.
    pub(super) fn calls(&self) -> bool {
        self.calls
    }

    pub(super) fn pes(&self) -> u32 {
        self.pes
    }

    /// How many groups take part in the butterfly.
    fn exchanging(&self) -> u32 {
        1 << self.pes.div_ceil(self.group).ilog2()
    }

    /// The PE to which PE `me` reports; `None` if PE `me` takes part in the butterfly.
    pub(super) fn parent(&self, me: u32) -> Option<u32> {
        let group = me / self.group;
        let place = me % self.group;
        if place > 0 {
            return Some(group * self.group + (place - 1) / FAN_IN);
        }
        group.checked_sub(self.exchanging()).map(|other| other * self.group)
    }

    /// The PEs that report to PE `me`.
    pub(super) fn children(&self, me: u32) -> Vec<u32> {
        let group = me / self.group;
        let place = me % self.group;
        let end = (group * self.group).saturating_add(self.group).min(self.pes);
        let first =
            (group * self.group).saturating_add(place.saturating_mul(FAN_IN)).saturating_add(1);
        let within = first..first.saturating_add(FAN_IN).min(end);
        let other = (u64::from(group) + u64::from(self.exchanging())) * u64::from(self.group);
        let beyond = (place == 0 && group < self.exchanging() && other < u64::from(self.pes))
            .then_some(other as u32);
        within.chain(beyond).collect()
    }

    /// The PEs with which PE `me` exchanges sums, stage by stage.
    pub(super) fn partners(&self, me: u32) -> Vec<u32> {
        if self.parent(me).is_some() {
            return Vec::new();
        }
        let stages = self.exchanging().ilog2();
        (0..stages).map(|stage| ((me / self.group) ^ (1 << stage)) * self.group).collect()
    }

    /// All PEs with which PE `me` exchanges control messages.
    pub fn neighbours(&self, me: u32) -> Vec<u32> {
        self.children(me).into_iter().chain(self.partners(me)).chain(self.parent(me)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn hierarchies() -> impl Iterator<Item = Hierarchy> {
        (1..=40).flat_map(|pes| (1..=pes + 1).map(move |group| Hierarchy::new(pes, group))).chain([
            Hierarchy::new(1024, 512),
            Hierarchy::new(1024, 1),
            Hierarchy::new(1000, 16),
        ])
    }

    /// A parent knows its children, and partners know each other as such in the same stage.
    #[test]
    fn both_ends_of_a_line_know_of_each_other() {
        for hierarchy in hierarchies() {
            for me in 0..hierarchy.pes {
                for child in hierarchy.children(me) {
                    assert_eq!(hierarchy.parent(child), Some(me), "{hierarchy:?}");
                }
                if let Some(parent) = hierarchy.parent(me) {
                    assert!(
                        parent < me && hierarchy.children(parent).contains(&me),
                        "{hierarchy:?}: PE {me} reports to {parent}"
                    );
                }
                for (stage, &partner) in hierarchy.partners(me).iter().enumerate() {
                    assert!(
                        partner < hierarchy.pes && hierarchy.partners(partner)[stage] == me,
                        "{hierarchy:?}: {me} and {partner}"
                    );
                }
            }
        }
    }

    /// After all stages, each leader of the butterfly has the share of every PE, once.
    #[test]
    fn every_share_arrives_once() {
        fn gather(hierarchy: &Hierarchy, pe: u32) -> Vec<u32> {
            let below =
                hierarchy.children(pe).into_iter().flat_map(|child| gather(hierarchy, child));
            std::iter::once(pe).chain(below).collect()
        }
        for hierarchy in hierarchies() {
            let mut sums: Vec<Vec<u32>> =
                (0..hierarchy.pes).map(|pe| gather(&hierarchy, pe)).collect();
            let leaders: Vec<u32> =
                (0..hierarchy.pes).filter(|&pe| hierarchy.parent(pe).is_none()).collect();
            for stage in 0..hierarchy.exchanging().ilog2() as usize {
                let before = sums.clone();
                for &leader in &leaders {
                    let partner = hierarchy.partners(leader)[stage];
                    sums[leader as usize].extend(&before[partner as usize]);
                }
            }
            for leader in leaders {
                let sum = &sums[leader as usize];
                let different: BTreeSet<u32> = sum.iter().copied().collect();
                assert_eq!(
                    (sum.len(), different.len()),
                    (hierarchy.pes as usize, hierarchy.pes as usize),
                    "{hierarchy:?}"
                );
            }
        }
    }

    #[test]
    fn a_small_group_is_centralised_and_a_pair_is_a_butterfly() {
        assert_eq!(Hierarchy::new(9, 9).children(0), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            (Hierarchy::new(2, 1).partners(0), Hierarchy::new(2, 1).parent(1)),
            (vec![1], None)
        );
        assert_eq!(Hierarchy::new(16, 4).partners(4), [0, 12]);
        assert_eq!(
            (Hierarchy::new(12, 4).parent(8), Hierarchy::new(12, 4).children(0)),
            (Some(0), vec![1, 2, 3, 8])
        );
    }
}
