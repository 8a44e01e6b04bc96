//! Figures of a source beside those of this machine.

use warpline::command::{Measured, StudyFigure};

/// A figure of the source beside that of this machine.
pub(super) fn figure(what: &str, source: &str, here: Option<String>) -> StudyFigure {
    StudyFigure { what: what.to_owned(), source: source.to_owned(), here }
}

/// How many times as fast one variant was as another, over the conditions whose names contain
/// `words`.
pub(super) fn gains(
    measured: &Measured,
    words: &str,
    variant: usize,
    other: usize,
) -> Option<String> {
    let all: Vec<f64> = (0..measured.conditions.len())
        .filter(|condition| measured.conditions[*condition].contains(words))
        .filter_map(|condition| measured.gain(condition, variant, other))
        .collect();
    span(&all)
}

/// How many times as fast a variant was as one of several others, over all conditions. `pick`
/// chooses between two ratios: the lesser is the ratio to the fastest, the greater that to the
/// slowest.
pub(super) fn gains_over(
    measured: &Measured,
    variant: usize,
    others: &[usize],
    pick: fn(f64, f64) -> f64,
) -> Option<String> {
    let of = |condition| {
        others.iter().filter_map(|other| measured.gain(condition, variant, *other)).reduce(pick)
    };
    span(&(0..measured.conditions.len()).filter_map(of).collect::<Vec<f64>>())
}

/// The range of some ratios.
fn span(all: &[f64]) -> Option<String> {
    let least = all.iter().copied().reduce(f64::min)?;
    let most = all.iter().copied().reduce(f64::max)?;
    Some(if all.len() == 1 {
        format!("{most:.2} times")
    } else {
        format!("{least:.2} to {most:.2} times")
    })
}
