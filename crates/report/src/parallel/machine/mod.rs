//! A run on a modelled machine: how it would go there, in machine time.

mod distribution;
mod losses;
#[cfg(test)]
mod losses_tests;
mod scaling;
#[cfg(test)]
mod scaling_tests;
mod sensitivity;
mod time_lines;

use warpline_record::{MachineRecord, ParallelRecord};

pub use self::losses::{LOSSES, Loss, losses};
pub use self::scaling::{Step, explanation};
use super::charts::card;
use super::shares::{counted, percent};
use crate::format;

/// What the machine adds to the section; empty without one.
pub(super) fn cards(parallel: &ParallelRecord) -> String {
    let Some(machine) = &parallel.machine else { return String::new() };
    let words = card("whole words", "In machine time", &words(machine), "");
    [words, time_lines::card(machine), distribution::card(machine), sensitivity::card(machine)]
        .concat()
}

/// How the run would go, in a few sentences.
fn words(machine: &MachineRecord) -> String {
    let MachineRecord { name, pes, nodes, seconds, event_rate, efficiency, .. } = machine;
    let shares = machine.shares.list();
    let shares: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(name, share)| format!("{name} {}", percent(*share)))
        .collect();
    format!(
        "On {name}, {} on {} would take {} and commit {}. {} of the time of all PEs would go into \
         events that commit. In all: {}.",
        counted(*pes, "PE"),
        counted(*nodes, "node"),
        format::quantity(*seconds, "s"),
        format::quantity(*event_rate, "events/s"),
        percent(*efficiency),
        shares.join(", ")
    )
}
