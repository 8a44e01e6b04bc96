use serde::{Deserialize, Deserializer, Serialize};

use crate::null::number;

/// A statistic over virtual time: one value for each slice of the run.
///
/// Slice `i` goes from `edges[i]` up to, but not including, `edges[i + 1]`. The last slice includes
/// the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    /// The kind of its values.
    pub kind: SeriesKind,
    /// The unit of the statistic; empty for a pure number.
    pub unit: String,
    /// What the statistic means.
    pub meaning: String,
    /// The edges of the slices in model time, one more than there are slices. They go from 0 to the
    /// end of the run, or to the requested end if the model sets the number of slices. All slices
    /// are equally long, but the last may be shorter.
    #[serde(deserialize_with = "numbers")]
    pub edges: Vec<f64>,
    /// The value of each slice; `None` for a mean where nothing was observed, and for slices that
    /// the run did not reach. For several runs: the mean over those that have a value.
    pub values: Vec<Option<f64>>,
    /// The count in each slice, or the number of values behind its mean; empty for levels. For
    /// several runs: the total over all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<u64>,
    /// For several runs: half the width of the 95 % confidence interval of each value; `None` for
    /// slices in which fewer than two runs have a value. Empty for a single run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ci95: Vec<Option<f64>>,
    /// For several runs: how many have a value in each slice. Empty for a single run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<u32>,
}

/// The kind of the values of a [`Series`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// The count in a slice.
    #[default]
    Count,
    /// The mean of the values observed in a slice.
    Mean,
    /// The mean over time of a level, in a slice.
    Level,
}

impl Series {
    /// The slices: where each begins, where it ends, and its value.
    ///
    /// ```
    /// use warpline_record::Series;
    /// let series = Series { edges: vec![0.0, 2.5, 5.0], values: vec![Some(7.0), None], ..Series::default() };
    /// assert_eq!(series.slices().collect::<Vec<_>>(), [(0.0, 2.5, Some(7.0)), (2.5, 5.0, None)]);
    /// ```
    pub fn slices(&self) -> impl Iterator<Item = (f64, f64, Option<f64>)> {
        self.edges.windows(2).zip(&self.values).map(|(edges, value)| (edges[0], edges[1], *value))
    }

    /// The length of a slice in model time.
    pub fn width(&self) -> f64 {
        self.edges.get(1).map_or(0.0, |second| second - self.edges[0])
    }

    /// The values to show. For a count, a shorter last slice is left out, because it would look
    /// like a decline.
    pub fn shown(&self) -> &[Option<f64>] {
        let count = self.values.len();
        let is_short = |last: &[f64]| last[1] - last[0] < 0.999 * self.width();
        match self.edges.get(count.saturating_sub(1)..=count) {
            Some(last) if self.kind == SeriesKind::Count && count > 1 && is_short(last) => {
                &self.values[..count - 1]
            }
            _ => &self.values,
        }
    }
}

/// Reads numbers that may be `null`.
fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    #[derive(Deserialize)]
    struct Number(#[serde(deserialize_with = "number")] f64);
    Ok(Vec::<Number>::deserialize(from)?.into_iter().map(|Number(number)| number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_in_a_shorter_slice_is_not_shown() {
        let mut series = Series {
            edges: vec![0.0, 0.5, 1.0, 1.25],
            values: vec![Some(4.0), Some(4.0), Some(2.0)],
            ..Series::default()
        };
        assert_eq!(series.shown(), [Some(4.0), Some(4.0)]);
        series.edges[3] = 1.5;
        assert_eq!(series.shown().len(), 3);
        let level = Series {
            kind: SeriesKind::Level,
            edges: vec![0.0, 0.5, 0.75],
            values: vec![Some(4.0); 2],
            ..Series::default()
        };
        assert_eq!(level.shown().len(), 2);
        let single =
            Series { edges: vec![0.0, 0.75], values: vec![Some(4.0)], ..Series::default() };
        assert_eq!((single.shown().len(), Series::default().shown().len()), (1, 0));
    }

    #[test]
    fn a_series_reads_back_as_it_was() {
        let whole = Series {
            kind: SeriesKind::Mean,
            unit: "s".into(),
            meaning: "delay".into(),
            edges: vec![0.0, 0.5, 1.0],
            values: vec![Some(0.25), None],
            counts: vec![3, 0],
            ci95: vec![Some(0.125), None],
            runs: vec![2, 0],
        };
        let level = Series {
            kind: SeriesKind::Level,
            counts: Vec::new(),
            ci95: Vec::new(),
            runs: Vec::new(),
            ..whole.clone()
        };
        for series in [whole, level.clone()] {
            assert_eq!(
                serde_json::from_str::<Series>(&serde_json::to_string(&series).unwrap()).unwrap(),
                series
            );
        }
        let text = serde_json::to_string(&level).unwrap();
        let expected = r#"{"kind":"level","unit":"s","meaning":"delay","edges":[0.0,0.5,1.0],"values":[0.25,null]}"#;
        assert_eq!(text, expected);
    }
}
