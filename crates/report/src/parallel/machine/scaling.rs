//! What limits a model on more and more PEs of a modelled machine, in words.

use super::super::shares::percent;
use super::losses::{LOSSES, Loss};
use crate::format;

/// A limit that takes less than this at the most PEs is not worth a sentence.
const SMALL: f64 = 0.05;

/// The run on one number of PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How many PEs.
    pub pes: u64,
    /// The share of all PEs' time that goes into events that commit.
    pub efficiency: f64,
    /// What the rest goes into, in the order of [`losses`](super::losses).
    pub losses: [Loss; LOSSES],
}

impl Step {
    /// The cause that takes most, by its place.
    fn greatest(&self) -> usize {
        let of = |place: usize| self.losses[place].share;
        // Of equal ones, the first.
        (0..LOSSES).rev().max_by(|one, other| of(*one).total_cmp(&of(*other))).unwrap_or_default()
    }
}

/// Which limit is the greatest, from how many PEs on, why, and which one grows most. The steps come
/// by number of PEs. Empty without any.
pub fn explanation(steps: &[Step]) -> String {
    let [Some(first), Some(last)] = [steps.first(), steps.last()] else { return String::new() };
    let greatest = last.greatest();
    let limit = &last.losses[greatest];
    let pes = format::integer(last.pes);
    let efficiency = percent(last.efficiency);
    if limit.share < SMALL {
        return format!("Nothing stands in the way: efficiency is {efficiency} on {pes} PEs.");
    }
    let taken = percent(limit.share);
    let why = &limit.why;
    if steps.len() == 1 {
        let name = within(limit.name);
        return format!("On {pes} PEs, most is lost to {name}: {taken} of their time, as {why}.");
    }
    let since = steps.iter().rev().take_while(|step| step.greatest() == greatest).last();
    let since = since.unwrap_or(last).pes;
    let from = match since {
        since if since == last.pes => format!("On {pes} PEs"),
        since if since == first.pes => format!("On all of {} to {pes} PEs", format::integer(since)),
        since => format!("From {} PEs on", format::integer(since)),
    };
    let before = percent(first.losses[greatest].share);
    let least = format::integer(first.pes);
    format!(
        "{from}, most is lost to {}: {taken} of all PEs' time on {pes} PEs, {before} on {least}, \
         as {why}.{}",
        within(limit.name),
        growing(first, last, greatest)
    )
}

/// The limit that grows most, if it is another one than the greatest.
fn growing(first: &Step, last: &Step, greatest: usize) -> String {
    let growth = |place: usize| last.losses[place].share - first.losses[place].share;
    let most = (0..LOSSES).rev().max_by(|one, other| growth(*one).total_cmp(&growth(*other)));
    let Some(most) = most.filter(|most| *most != greatest && growth(*most) >= SMALL) else {
        return String::new();
    };
    let [before, after] = [first, last].map(|step| percent(step.losses[most].share));
    let Loss { name, why, .. } = &last.losses[most];
    let name = within(name);
    format!(" The loss that grows most is {name}, from {before} to {after}, as {why}.")
}

/// A name within a sentence.
fn within(name: &str) -> String {
    if name.starts_with("GVT") { name.to_owned() } else { name.to_lowercase() }
}
