//! The network of a program of ranks, from its parameters.

use warpline::ranks::{Target, Wire};

/// The network that parameters describe: of the machine with this name, or else flat, with its
/// latency and overhead in microseconds and its bandwidth in Gb/s.
///
/// # Errors
/// If there is no such machine, or it has fewer cores than there are ranks.
pub(super) fn target(
    machine: &str,
    [latency, overhead, bandwidth]: [f64; 3],
    ranks: u32,
) -> Result<Target, String> {
    if machine.is_empty() {
        let wire = Wire::new(latency * 1e-6, bandwidth * 1e9 / 8.0);
        return Ok(Target::flat(Wire { overhead: overhead * 1e-6, ..wire }));
    }
    let target = Target::open(machine).map_err(|why| format!("`target`: {why}"))?;
    match target.ranks_most() {
        Some(most) if most < u64::from(ranks) => {
            Err(format!("`target`: `{machine}` has {most} cores, too few for {ranks} ranks"))
        }
        _ => Ok(target),
    }
}

/// Remarks on parameters of a flat network that a machine makes useless.
pub(super) fn notes(machine: &str) -> Vec<(&'static str, String)> {
    if machine.is_empty() {
        return Vec::new();
    }
    let note = |name| (name, format!("has no effect: the network is that of `{machine}`"));
    ["latency", "overhead", "bandwidth"].map(note).into()
}
