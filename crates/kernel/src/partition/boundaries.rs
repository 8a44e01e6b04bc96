//! Where blocks of LPs should begin so that links between PEs are long: the longer they are, the
//! further PEs can go independently.

use warpline_base::LpId;
use warpline_model::engine::{Lookahead, Reach};

/// How far a boundary may be moved for the sake of links, as a share of a PE's weight.
const SLACK: f64 = 0.1;
/// The boundary closest to equal weights is preferred unless the shortest link across it is this
/// many times shorter than it could be.
const WORTH: f64 = 2.0;

/// For every LP, the least lookahead of what crosses a boundary before it, in either direction.
pub(super) fn shortest_across(lookahead: &Lookahead, lps: u32) -> Vec<f64> {
    // What may go to any LP crosses every boundary.
    let mut anywhere = f64::INFINITY;
    let mut links = Vec::new();
    for from in 0..lps {
        match lookahead.reach(LpId(from)) {
            Reach::Any(delay) => anywhere = anywhere.min(delay),
            Reach::Links { to, lookahead } => {
                links.extend(
                    to.iter()
                        .zip(lookahead)
                        .map(|(to, delay)| (*delay, from.min(to.0) + 1, from.max(to.0))),
                );
            }
        }
    }
    let mut across = vec![anywhere; lps as usize];
    links.retain(|(delay, ..)| *delay < anywhere);
    links.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // The shortest links come first, and no boundary is visited twice.
    let mut unseen = Unseen((0..=lps).collect());
    for (delay, first, last) in links {
        let mut boundary = unseen.from(first);
        while boundary <= last {
            across[boundary as usize] = delay;
            unseen.0[boundary as usize] = boundary + 1;
            boundary = unseen.from(boundary + 1);
        }
    }
    across
}

/// A union-find. Each number points to itself if it has not been seen, or else to a later one; all
/// between them have been seen.
struct Unseen(Vec<u32>);

impl Unseen {
    /// The first that has not been seen, from `number` on.
    fn from(&mut self, mut number: u32) -> u32 {
        while self.0[number as usize] != number {
            let next = self.0[self.0[number as usize] as usize];
            self.0[number as usize] = next;
            number = next;
        }
        number
    }
}

/// Where blocks may begin: LPs, or groups of them that stay whole. Both are called LPs here.
pub(super) struct Places<'a> {
    /// The weight of all LPs before each one, and finally of all.
    pub(super) before: &'a [f64],
    /// The least lookahead of what crosses a boundary before each LP, as by [`shortest_across`].
    pub(super) across: &'a [f64],
    /// Whether a boundary before an LP divides a group.
    pub(super) divides: &'a dyn Fn(u32) -> bool,
}

impl Places<'_> {
    /// The LPs among these before which a boundary does least harm: it divides no group, if
    /// possible, and no link across it is much shorter than it could be.
    fn best(&self, near: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
        let whole: Vec<u32> = near.clone().filter(|lp| !(self.divides)(*lp)).collect();
        let mut best = if whole.is_empty() { near.collect() } else { whole };
        let across = |lp: &u32| self.across[*lp as usize];
        let longest = best.iter().map(across).fold(0.0, f64::max);
        best.retain(|lp| across(lp) >= longest / WORTH);
        best
    }
}

/// The first LPs of `pes` blocks of about equal weight.
pub(super) fn boundaries(pes: u32, places: &Places<'_>) -> Vec<u32> {
    let before = places.before;
    let lps = places.across.len() as u32;
    let total = before[lps as usize];
    let share = total / f64::from(pes);
    let mut starts = vec![0];
    for block in 1..pes {
        let ideal = total * (f64::from(block) / f64::from(pes));
        // No block is empty, and enough LPs are left for those that follow.
        let first = starts[starts.len() - 1] + 1;
        let last = lps - (pes - block);
        let at_least = |weight: f64| before.partition_point(|sum| *sum < weight) as u32;
        let beyond = before.partition_point(|sum| *sum <= ideal + SLACK * share) as u32;
        let near = at_least(ideal - SLACK * share).max(first)..beyond.min(last + 1);
        let away = |lp: &u32| (before[*lp as usize] - ideal).abs();
        let nearest =
            |lps: &mut dyn Iterator<Item = u32>| lps.min_by(|a, b| away(a).total_cmp(&away(b)));
        let after = at_least(ideal);
        let start = nearest(&mut places.best(near).into_iter());
        let start = start.or_else(|| {
            nearest(
                &mut [after.saturating_sub(1), after]
                    .into_iter()
                    .filter(|lp| (first..=last).contains(lp)),
            )
        });
        starts.push(start.unwrap_or(after.clamp(first, last)));
    }
    starts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::partition::test_lookahead::{Declared, lookahead};
    use crate::{Groups, Partition};

    /// What LPs of a random model declare: one in four may send anywhere.
    fn declared() -> impl Strategy<Value = Vec<Result<f64, Vec<(u32, f64)>>>> {
        let delay = || (0u32..6).prop_map(f64::from);
        (2usize..24).prop_flat_map(move |lps| {
            let links = prop::collection::vec((0..lps as u32, delay()), 0..4);
            prop::collection::vec(prop_oneof![1 => delay().prop_map(|delay| Ok(delay + 3.0)), 12 => links.prop_map(Err)], lps)
        })
    }

    fn lookahead_of(declared: &[Result<f64, Vec<(u32, f64)>>]) -> Lookahead {
        let all: Vec<Declared<'_>> = declared
            .iter()
            .map(|lp| lp.as_ref().map(|delay| *delay).map_err(|links| &links[..]))
            .collect();
        lookahead(&all)
    }

    /// The least delay of anything that crosses the boundary before LP `at`, by comparing every
    /// pair of LPs.
    fn least_across(lookahead: &Lookahead, lps: u32, at: u32) -> f64 {
        let pairs =
            (0..at).flat_map(|low| (at..lps).flat_map(move |high| [(low, high), (high, low)]));
        pairs
            .filter_map(|(from, to)| lookahead.between(LpId(from), LpId(to)))
            .fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn the_shortest_link_across_is_found(declared in declared()) {
            let lookahead = lookahead_of(&declared);
            let lps = declared.len() as u32;
            let across = shortest_across(&lookahead, lps);
            for at in 1..lps {
                prop_assert_eq!(across[at as usize], least_across(&lookahead, lps, at), "before LP \
                    {}", at);
            }
        }

        /// The shortest link across a boundary is at least half as long as it could be within
        /// reach, and no closer boundary has that property.
        #[test]
        fn boundaries_avoid_short_links(
            across in prop::collection::vec((0u32..8).prop_map(f64::from), 2..200), pes in 2u32..6, heavy in prop::collection::vec(0u32..4, 200),
        ) {
            let lps = across.len() as u32;
            let pes = pes.min(lps);
            let mut before = vec![0.0];
            heavy.iter().take(across.len()).for_each(|weight| before.push(before[before.len() - 1] + f64::from(1 + weight)));
            let starts = boundaries(pes, &Places { before: &before, across: &across, divides: &|_| false });
            prop_assert!(starts.len() == pes as usize && starts[0] == 0 && starts.is_sorted_by(|a, b| a < b) && starts[starts.len() - 1] < lps);
            let share = before[across.len()] / f64::from(pes);
            for (block, &start) in (0u32..).zip(&starts).skip(1) {
                let away = |lp: u32| (before[lp as usize] - share * f64::from(block)).abs();
                // Rounding may decide where the slack ends, but only there.
                let slack = SLACK * share;
                if (1..lps).any(|lp| (away(lp) - slack).abs() < 1e-9 * share) {
                    continue;
                }
                let possible = starts[block as usize - 1] + 1..=lps - (pes - block);
                let near: Vec<u32> = possible.clone().filter(|lp| away(*lp) < slack).collect();
                for &other in &near {
                    prop_assert!(away(start) < slack, "{} could be had instead of {}", other, start);
                    let (link, longer) = (across[start as usize], across[other as usize]);
                    prop_assert!(2.0 * link >= longer, "{} has {} across, and {} has {}", start, link, other, longer);
                    let best = near.iter().map(|lp| across[*lp as usize]).fold(0.0, f64::max);
                    prop_assert!(2.0 * longer < best || away(other) >= away(start) - 1e-9 * share, "{} \
                        is nearer than {}", other, start);
                }
                // If none is within reach, the closest is taken.
                for other in possible {
                    prop_assert!(away(start) < slack || away(other) >= away(start) - 1e-9 * share, "{} \
                        is nearer", other);
                }
            }
        }
    }

    /// Groups of ten LPs with short links within and long ones between them: groups stay whole as
    /// far as weights allow.
    #[test]
    fn groups_stay_whole() {
        let links = |lp: u32| {
            vec![
                ((lp + 1) % 200, if lp % 10 == 9 { 4.0 } else { 0.5 }),
                ((lp + 199) % 200, if lp.is_multiple_of(10) { 5.0 } else { 0.25 }),
            ]
        };
        let lookahead = lookahead_of(&(0..200).map(|lp| Err(links(lp))).collect::<Vec<_>>());
        let starts = |pes, weight: fn(LpId) -> f64| {
            let partition = Partition::weighted(200, pes, &lookahead, &Groups::default(), weight)
                .expect("they are weights");
            (0..pes).map(|pe| partition.lps(pe).start).collect::<Vec<_>>()
        };
        assert_eq!(starts(3, |_| 1.0), [0, 70, 130]);
        // Weights that cannot be balanced are ignored.
        assert_eq!(
            (starts(3, |_| 0.0), starts(3, |_| f64::MAX)),
            (vec![0, 70, 130], vec![0, 70, 130])
        );
        // The middle of all weight is within LP 141.
        assert_eq!(starts(2, |lp| f64::from(lp.0)), [0, 140]);
        // A tenth of a share does not reach the next group.
        assert_eq!(starts(8, |_| 1.0)[..3], [0, 25, 50]);
        assert_eq!(starts(200, |_| 1.0), (0..200).collect::<Vec<_>>());
    }
}
