//! Series across runs: slice by slice.

use std::collections::BTreeMap;

use warpline_record::{Replication, Series};

use super::estimates::Spread;

/// The series of several runs of one model, which have the same slices: in each slice the mean over
/// the runs that have a value there, with its interval, and the counts of all runs together.
pub(super) fn across(runs: &[Replication]) -> BTreeMap<String, Series> {
    let Some(first) = runs.first() else { return BTreeMap::new() };
    first
        .series
        .iter()
        .map(|(name, series)| {
            (name.clone(), together(series, runs.iter().filter_map(|run| run.series.get(name))))
        })
        .collect()
}

/// One series for all of these, the first of which is `first`.
fn together<'s>(first: &Series, all: impl Iterator<Item = &'s Series> + Clone) -> Series {
    let spread = |slice: usize| {
        let values: Vec<Option<f64>> =
            all.clone().map(|series| series.values.get(slice).copied().flatten()).collect();
        Spread::of_known(&values)
    };
    let spreads: Vec<Option<Spread>> = (0..first.values.len()).map(spread).collect();
    let count = |slice: usize| {
        all.clone()
            .filter_map(|series| series.counts.get(slice))
            .fold(0, |sum: u64, count| sum.saturating_add(*count))
    };
    Series {
        values: spreads.iter().map(|spread| spread.as_ref().map(|spread| spread.mean)).collect(),
        ci95: spreads.iter().map(|spread| spread.as_ref()?.ci95).collect(),
        counts: (0..first.counts.len()).map(count).collect(),
        runs: spreads
            .iter()
            .map(|spread| spread.as_ref().map_or(0, |spread| spread.values.len() as u32))
            .collect(),
        ..first.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(values: [Option<f64>; 3], counts: [u64; 3]) -> Replication {
        let series = Series {
            unit: "s".into(),
            edges: vec![0.0, 1.0, 2.0, 3.0],
            values: values.to_vec(),
            counts: counts.to_vec(),
            ..Series::default()
        };
        Replication {
            series: BTreeMap::from([("wait".to_owned(), series)]).into(),
            ..Replication::default()
        }
    }

    #[test]
    fn slices_are_estimated_one_by_one() {
        let runs =
            [run([Some(1.0), None, Some(5.0)], [4, 0, 1]), run([Some(3.0), None, None], [6, 0, 0])];
        let wait = &across(&runs)["wait"];
        assert_eq!(
            (&wait.values[..], &wait.counts[..]),
            (&[Some(2.0), None, Some(5.0)][..], &[10, 0, 1][..])
        );
        // Student's t with one degree of freedom is 12.706 at 97.5 %; the deviation of 1 and 3 is
        // the root of 2.
        assert!((wait.ci95[0].unwrap() - 12.706).abs() < 1e-3, "{:?}", wait.ci95);
        assert_eq!((wait.ci95[1], wait.ci95[2]), (None, None), "nothing, and one value alone");
        assert_eq!(wait.runs, [2, 0, 1]);
        assert_eq!((wait.unit.as_str(), &wait.edges), ("s", &runs[0].series["wait"].edges));
        assert_eq!(across(&[]), BTreeMap::new());
    }
}
