//! What the paper measures: F, λ, ρ and α of its three modes.

use warpline::command::Measured;

use crate::studies::figures::{matching, range, ratios};

/// The places of the variants: two-sided and synchronous, two-sided and asynchronous, one-sided.
pub(super) const SYNCHRONOUS: usize = 0;
pub(super) const ASYNCHRONOUS: [usize; 2] = [1, 2];

/// F: how many times as fast the better asynchronous variant is.
pub(super) fn best_gain(measured: &Measured, condition: usize) -> Option<f64> {
    let gain = |variant: usize| measured.gain(condition, variant, SYNCHRONOUS);
    ASYNCHRONOUS.into_iter().filter_map(gain).reduce(f64::max)
}

/// F under all conditions whose names contain these words.
pub(super) fn best_gains(measured: &Measured, words: &[&str]) -> Option<String> {
    ratios(measured, words, |condition| best_gain(measured, condition))
}

/// F under each of these conditions, by their numbers of cores, with which their names begin.
pub(super) fn best_gains_by_cores(measured: &Measured, words: &[&str]) -> Option<String> {
    let of = |condition: usize| {
        let (cores, _) = measured.conditions[condition].split_once(' ')?;
        Some(format!("{:.2} on {cores}", best_gain(measured, condition)?))
    };
    let all: Vec<String> = matching(measured, words).filter_map(of).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// λ of each variant.
fn epochs(measured: &Measured, condition: usize) -> Option<[f64; 3]> {
    let of = |variant: usize| *measured.gvt_epochs.get(condition)?.get(variant)?;
    let [first, second] = ASYNCHRONOUS.map(of);
    Some([of(SYNCHRONOUS)?, first?, second?])
}

/// λ of the synchronous variant over the mean of the others.
pub(super) fn epochs_over(measured: &Measured, words: &[&str]) -> Option<String> {
    ratios(measured, words, |condition| {
        let [synchronous, first, second] = epochs(measured, condition)?;
        Some(synchronous / f64::midpoint(first, second))
    })
}

/// The mean λ of the asynchronous variants over that of the synchronous one.
pub(super) fn epochs_under(measured: &Measured, words: &[&str]) -> Option<String> {
    ratios(measured, words, |condition| {
        let [synchronous, first, second] = epochs(measured, condition)?;
        Some(f64::midpoint(first, second) / synchronous)
    })
}

/// The most λ of any variant over the least.
pub(super) fn epochs_apart(measured: &Measured, words: &[&str]) -> Option<String> {
    ratios(measured, words, |condition| {
        let all = epochs(measured, condition)?;
        let most = all.into_iter().reduce(f64::max)?;
        Some(most / all.into_iter().reduce(f64::min)?)
    })
}

/// α of some variants, the least and the most, in optimistic runs.
pub(super) fn rollbacks(measured: &Measured, variants: &[usize]) -> Option<String> {
    let [least, most] = range(measured, &measured.rollbacks, &["optimistic"], variants)?;
    Some(format!("{least:.1} to {most:.1}"))
}
