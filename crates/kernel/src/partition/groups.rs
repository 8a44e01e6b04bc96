//! Groups of LPs that a model wants on one PE.

use std::ops::Range;

use warpline_base::LpId;

/// The groups of LPs that a model declares: each is a range of consecutive LPs, and no two overlap.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Those of more than one LP, in the order of their LPs.
    ranges: Vec<LpGroup>,
}

/// LPs that a model wants on one PE.
#[derive(Clone, Debug, PartialEq)]
pub struct LpGroup {
    /// The number that the model gives it.
    pub number: u32,
    /// Its LPs.
    pub lps: Range<u32>,
}

/// A group whose LPs are not consecutive.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatteredGroup {
    /// The number of the group.
    pub number: u32,
    /// Its last LP before a gap.
    pub before: LpId,
    /// Its first LP after the gap.
    pub after: LpId,
}

impl Groups {
    /// The groups of a model of `lps` LPs, of which `group` returns the group of one LP, if it is
    /// in any.
    ///
    /// # Errors
    /// The first group, by its number, whose LPs are not consecutive.
    pub fn of(lps: u32, group: impl Fn(LpId) -> Option<u32>) -> Result<Self, ScatteredGroup> {
        let mut ranges: Vec<LpGroup> = Vec::new();
        for lp in 0..lps {
            let Some(number) = group(LpId(lp)) else { continue };
            match ranges.last_mut() {
                Some(last) if last.number == number && last.lps.end == lp => last.lps.end += 1,
                _ => ranges.push(LpGroup { number, lps: lp..lp + 1 }),
            }
        }
        let mut by_number: Vec<&LpGroup> = ranges.iter().collect();
        by_number.sort_by_key(|group| (group.number, group.lps.start));
        if let Some(pair) = by_number.windows(2).find(|pair| pair[0].number == pair[1].number) {
            let number = pair[0].number;
            let before = LpId(pair[0].lps.end - 1);
            let after = LpId(pair[1].lps.start);
            return Err(ScatteredGroup { number, before, after });
        }
        ranges.retain(|group| group.lps.len() > 1);
        Ok(Groups { ranges })
    }

    /// Whether no LP belongs with another.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The group that a boundary before `lp` divides.
    pub fn divided_at(&self, lp: u32) -> Option<&LpGroup> {
        let group =
            self.ranges[..self.ranges.partition_point(|group| group.lps.start < lp)].last()?;
        group.lps.contains(&lp).then_some(group)
    }

    /// The first LP of each group, and all LPs outside of groups.
    pub(super) fn starts(&self, lps: u32) -> Vec<u32> {
        let mut starts = Vec::new();
        let mut next = 0;
        for LpGroup { lps, .. } in &self.ranges {
            starts.extend(next..lps.start + 1);
            next = lps.end;
        }
        starts.extend(next..lps);
        starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_range_of_consecutive_lps() {
        let numbers = [None, Some(7), Some(7), Some(7), Some(2), None, None, Some(9), Some(9)];
        let groups = Groups::of(9, |lp| numbers[lp.index()]).expect("no group has gaps");
        assert_eq!(
            groups.ranges,
            [LpGroup { number: 7, lps: 1..4 }, LpGroup { number: 9, lps: 7..9 }]
        );
        assert_eq!(groups.starts(9), [0, 1, 4, 5, 6, 7]);
        let divided: Vec<Option<u32>> =
            (0..9).map(|lp| groups.divided_at(lp).map(|group| group.number)).collect();
        assert_eq!(divided, [None, None, Some(7), Some(7), None, None, None, None, Some(9)]);
        assert!(Groups::of(9, |_| None).expect("there are none").is_empty());
        assert!(Groups::of(9, |lp| Some(lp.0)).expect("each has one LP").is_empty());
    }

    #[test]
    fn scattered_groups_are_refused() {
        let scattered = |numbers: &[u32]| {
            Groups::of(numbers.len() as u32, |lp| Some(numbers[lp.index()])).map(|_| ())
        };
        assert_eq!(
            scattered(&[1, 1, 0, 0, 1]),
            Err(ScatteredGroup { number: 1, before: LpId(1), after: LpId(4) })
        );
        assert_eq!(
            scattered(&[5, 3, 5, 3]),
            Err(ScatteredGroup { number: 3, before: LpId(1), after: LpId(3) })
        );
        assert_eq!(scattered(&[4, 4, 1, 1, 0]), Ok(()));
    }
}
