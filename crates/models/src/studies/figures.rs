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

/// The range of figures of some variants, over the conditions whose names contain all `words`.
pub(super) fn range(
    measured: &Measured,
    figures: &[Vec<Option<f64>>],
    words: &[&str],
    variants: &[usize],
) -> Option<[f64; 2]> {
    let all: Vec<f64> = matching(measured, words)
        .flat_map(|condition| variants.iter().map(move |variant| (condition, *variant)))
        .filter_map(|(condition, variant)| *figures.get(condition)?.get(variant)?)
        .collect();
    Some([all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?])
}

/// The range of ratios, over the conditions whose names contain all `words`.
pub(super) fn ratios(
    measured: &Measured,
    words: &[&str],
    ratio: impl Fn(usize) -> Option<f64>,
) -> Option<String> {
    span(&matching(measured, words).filter_map(ratio).collect::<Vec<f64>>())
}

/// The conditions whose names contain all `words`.
pub(super) fn matching(measured: &Measured, words: &[&str]) -> impl Iterator<Item = usize> {
    (0..measured.conditions.len())
        .filter(|&condition| words.iter().all(|word| measured.conditions[condition].contains(word)))
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
