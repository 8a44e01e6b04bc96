//! Curves of series, the model's statistics over virtual time.

use crate::format;
use warpline_record::{LinesView, RunRecord, Series, SeriesKind, View};

/// A picture of every series.
pub(crate) fn views(record: &RunRecord) -> impl Iterator<Item = View> {
    record.series.iter().map(|(name, series)| View::Lines(view(name, series, &record.time_unit)))
}

fn view(name: &str, series: &Series, time_unit: &str) -> LinesView {
    let words = name.replace('_', " ");
    let slice = format::quantity(series.width(), time_unit);
    let y = match series.kind {
        SeriesKind::Count => format!("{} in each {slice}", format::with_unit(&words, &series.unit)),
        SeriesKind::Mean | SeriesKind::Level => {
            format!("{}, mean over each {slice}", format::with_unit(&words, &series.unit))
        }
    };
    let title = match series.meaning.as_str() {
        "" => format!("{} over time", capitalised(&words)),
        meaning => format!("{} over time: {meaning}", capitalised(&words)),
    };
    LinesView {
        title,
        x: format::with_unit("model time", time_unit),
        y,
        lines: lines(&words, series),
    }
}

/// The curve; for several runs, with the bounds of its interval.
fn lines(name: &str, series: &Series) -> Vec<(String, Vec<(f64, f64)>)> {
    if series.ci95.iter().all(Option::is_none) {
        return vec![(name.to_owned(), points(series, series.shown()))];
    }
    let bound = |sign: f64| -> Vec<Option<f64>> {
        series
            .shown()
            .iter()
            .zip(&series.ci95)
            .map(|(value, half)| value.zip(*half).map(|(value, half)| value + sign * half))
            .collect()
    };
    vec![
        ("mean of the runs".to_owned(), points(series, series.shown())),
        ("mean + 95 % interval".to_owned(), points(series, &bound(1.0))),
        ("mean − 95 % interval".to_owned(), points(series, &bound(-1.0))),
    ]
}

/// A point for each slice, in its middle. A value without neighbours spans its slice, as a curve
/// would not show it otherwise. A missing value is a gap.
fn points(series: &Series, values: &[Option<f64>]) -> Vec<(f64, f64)> {
    // A value that is not finite counts as missing, as it is lost when the record is read back.
    let value =
        |slice: usize| values.get(slice).copied().flatten().filter(|value| value.is_finite());
    let slices = series.slices().take(values.len()).enumerate();
    let points = slices.flat_map(|(slice, (begin, end, _))| {
        let middle = begin + (end - begin) / 2.0;
        let beside = || slice.checked_sub(1).and_then(value).or(value(slice + 1)).is_some();
        match value(slice) {
            None => vec![(middle, f64::NAN)],
            Some(value) if beside() => vec![(middle, value)],
            Some(value) => vec![(begin, value), (end, value)],
        }
    });
    points.collect()
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(kind: SeriesKind, values: &[Option<f64>]) -> Series {
        let edges = (0..=values.len()).map(|edge| edge as f64 * 2.0).collect();
        Series { kind, unit: "people".into(), edges, values: values.to_vec(), ..Series::default() }
    }

    /// Points as text: a gap is NaN, which never equals itself.
    fn shown(points: &[(f64, f64)]) -> String {
        format!("{points:?}")
    }

    #[test]
    fn units_stand_on_both_axes() {
        let counted = view("people_served", &series(SeriesKind::Count, &[Some(1.0)]), "h");
        assert_eq!(
            (counted.x.as_str(), counted.y.as_str()),
            ("model time (h)", "people served (people) in each 2\u{a0}h")
        );
        assert_eq!(counted.title, "People served over time");
        let held = Series {
            meaning: "who <wait>".into(),
            unit: String::new(),
            ..series(SeriesKind::Level, &[Some(1.0)])
        };
        let held = view("queue", &held, "");
        assert_eq!((held.x.as_str(), held.y.as_str()), ("model time", "queue, mean over each 2"));
        assert_eq!(held.title, "Queue over time: who <wait>");
    }

    #[test]
    fn slices_without_a_value_are_gaps() {
        let values = [Some(1.0), Some(2.0), None, Some(3.0), None];
        let lines = view("queue", &series(SeriesKind::Mean, &values), "s").lines;
        assert_eq!(lines.len(), 1);
        assert_eq!(
            shown(&lines[0].1),
            "[(1.0, 1.0), (3.0, 2.0), (5.0, NaN), (6.0, 3.0), (8.0, 3.0), (9.0, NaN)]"
        );
    }

    #[test]
    fn several_runs_have_an_interval() {
        let several = Series {
            ci95: vec![Some(0.5), None],
            ..series(SeriesKind::Mean, &[Some(1.0), Some(4.0)])
        };
        let lines = view("queue", &several, "s").lines;
        let expected = [
            "[(1.0, 1.0), (3.0, 4.0)]",
            "[(0.0, 1.5), (2.0, 1.5), (3.0, NaN)]",
            "[(0.0, 0.5), (2.0, 0.5), (3.0, NaN)]",
        ];
        assert_eq!(lines.iter().map(|(_, points)| shown(points)).collect::<Vec<_>>(), expected);
    }
}
