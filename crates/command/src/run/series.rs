//! The series of a run for people: a line each, with a picture of characters.

use warpline_record::{RunRecord, Series, SeriesKind};

use crate::output::format;

/// The characters of a picture, from low to high.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The most characters of a picture.
const MOST: usize = 32;

/// The series of a run under their heading; nothing if there are none.
pub(crate) fn text(record: &RunRecord) -> String {
    if record.series.is_empty() {
        return String::new();
    }
    let line = |(name, series): (&String, &Series)| {
        [name.clone(), picture(series), figures(series, &record.time_unit)]
    };
    let lines: Vec<[String; 3]> = record.series.iter().map(line).collect();
    format!("over virtual time\n{}", format::columns(&lines, 2))
}

/// Least, greatest and last value, the length of a slice, and the meaning.
fn figures(series: &Series, time_unit: &str) -> String {
    let values: Vec<f64> = series.shown().iter().filter_map(|value| *value).collect();
    let slice = format::time(series.width(), time_unit);
    let Some(&last) = values.last() else { return format!("none in slices of {slice}") };
    let least = values.iter().copied().fold(last, f64::min);
    let most = values.iter().copied().fold(last, f64::max);
    let [least, most, last] = [least, most, last].map(format::number);
    let unit = if series.unit.is_empty() { String::new() } else { format!(" {}", series.unit) };
    let each = if series.kind == SeriesKind::Count { "counted" } else { "mean" };
    let meaning =
        if series.meaning.is_empty() { String::new() } else { format!(" – {}", series.meaning) };
    let runs = runs(series);
    format!("{least} to {most}, last {last}{unit}, {each} in slices of {slice}{runs}{meaning}")
}

/// Of several runs, how many have a value in each slice, unless all have one everywhere.
fn runs(series: &Series) -> String {
    match (series.runs.iter().min(), series.runs.iter().max()) {
        (Some(least), Some(most)) if least < most => format!(", of {least} to {most} runs"),
        _ => String::new(),
    }
}

/// The series as a row of characters, as high as its values are above 0, or above the least if that
/// is negative. Where there is no value, there is a space.
fn picture(series: &Series) -> String {
    let shown = series.shown();
    let count = shown.len();
    let places = count.min(MOST);
    let mean = |place: usize| {
        let values = &shown[place * count / places..(place + 1) * count / places];
        let known = values.iter().flatten().count() as f64;
        // Divided before adding, so that the sum of finite numbers is finite.
        let mean = values.iter().flatten().map(|value| value / known).sum();
        (known > 0.0).then_some(mean)
    };
    let means: Vec<Option<f64>> = (0..places).map(mean).collect();
    let low = means.iter().flatten().copied().fold(0.0, f64::min);
    let high = means.iter().flatten().copied().fold(0.0, f64::max);
    // Halved before subtracting, so that the difference of the greatest numbers is finite.
    let share = |mean: f64| (mean / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    let height =
        |mean: f64| HEIGHTS[((share(mean) * HEIGHTS.len() as f64) as usize).min(HEIGHTS.len() - 1)];
    means.into_iter().map(|mean| mean.map_or(' ', height)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn series(kind: SeriesKind, unit: &str, values: &[Option<f64>]) -> Series {
        let edges = (0..=values.len()).map(|edge| edge as f64 * 0.5).collect();
        Series { kind, unit: unit.into(), edges, values: values.to_vec(), ..Series::default() }
    }

    #[test]
    fn a_series_is_one_line() {
        let busy = Series {
            meaning: "people inside".into(),
            ..series(SeriesKind::Level, "people", &[Some(0.0), None, Some(8.0), Some(4.0)])
        };
        let all = [
            ("busy", busy),
            ("heat", series(SeriesKind::Mean, "", &[Some(-4.0), Some(4.0)])),
            ("none", series(SeriesKind::Mean, "s", &[None, None])),
            ("zero", series(SeriesKind::Count, "", &[Some(0.0); 2])),
        ];
        let all = all.map(|(name, series)| (name.to_owned(), series));
        let record = RunRecord { series: all.into(), ..sample::sequential(1e6) };
        let expected = [
            "over virtual time",
            "  busy  ▁ █▅  0 to 8, last 4 people, mean in slices of 0.5 s – people inside",
            "  heat  ▁█    -4 to 4, last 4, mean in slices of 0.5 s",
            "  none        none in slices of 0.5 s",
            "  zero  ▁▁    0 to 0, last 0, counted in slices of 0.5 s",
        ];
        assert_eq!(text(&record).lines().collect::<Vec<_>>(), expected);
        assert_eq!(text(&sample::sequential(1e6)), "");
    }

    #[test]
    fn a_long_series_is_pooled() {
        let rising: Vec<Option<f64>> =
            (0..100).map(|value| (value % 10 != 9).then_some(f64::from(value))).collect();
        let picture = picture(&series(SeriesKind::Count, "", &rising));
        assert_eq!(picture.chars().count(), MOST);
        assert!(
            picture.starts_with('▁') && picture.ends_with('█') && picture.chars().is_sorted(),
            "{picture}"
        );
    }
}
