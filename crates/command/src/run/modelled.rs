//! How a run went on its modelled machine, for people.

use warpline_record::{MachineRecord, MachineSensitivity, ParallelRecord, Spread};

use crate::output::format;

/// Names and values.
pub(super) fn facts(parallel: &ParallelRecord) -> Vec<[String; 2]> {
    let Some(machine) = &parallel.machine else { return Vec::new() };
    let MachineRecord { name, pes, nodes, seconds, event_rate, efficiency, .. } = machine;
    let count = |number: u64, one: &str, many: &str| format::counted(number as usize, one, many);
    let shares: Vec<String> = machine
        .shares
        .list()
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(name, share)| format!("{name} {}", format::percent(*share)))
        .collect();
    let whole =
        |spread: &Spread| format!("{} to {}, median {}", spread.min, spread.max, spread.median);
    let percent = |Spread { min, median, max }: &Spread| {
        let [min, median, max] = [min, median, max].map(|share| format::percent(*share));
        format!("{min} to {max}, median {median}")
    };
    let fact = |name: &str, value: String| [name.to_owned(), value];
    let registers = (parallel.register_reads > 0).then(|| {
        let reads = count(parallel.register_reads, "reading", "readings");
        fact("  registers", format!("{reads} of LBTS, {} written", parallel.register_writes))
    });
    let mailboxes = (machine.mailbox_messages > 0).then(|| {
        let MachineRecord { mailbox_messages, mailbox_waits, mailbox_failures, .. } = machine;
        let messages = count(*mailbox_messages, "message", "messages");
        fact(
            "  mailboxes",
            format!("{messages}, {mailbox_waits} waited for room, {mailbox_failures} in vain"),
        )
    });
    let mut facts = vec![
        fact(
            "machine",
            format!("{name}: {} on {}", count(*pes, "PE", "PEs"), count(*nodes, "node", "nodes")),
        ),
        fact(
            "machine time",
            format!(
                "{}, {} committed, efficiency {}",
                format::duration(*seconds),
                format::event_rate(*event_rate),
                format::percent(*efficiency)
            ),
        ),
        fact("  of all PEs", shares.join(", ")),
        fact("  computing, by PE", percent(&machine.computing)),
        fact("  waiting, by PE", percent(&machine.waiting)),
        fact("  committed, by PE", whole(&machine.committed_events)),
        fact(
            "  messages",
            format!(
                "{} within nodes, {} between nodes, {} for GVT and bounds",
                machine.near_messages, machine.far_messages, machine.gvt_messages
            ),
        ),
        fact(
            "  GVT",
            format!(
                "{}, of {} in all",
                count(parallel.gvt_epochs, "computation", "computations"),
                count(parallel.gvt_trials, "round", "rounds")
            ),
        ),
    ];
    facts.extend(registers.into_iter().chain(mailboxes));
    facts.extend(sensitivity(machine));
    facts
}

/// Rates as shares of the rate, and efficiencies, with figures at half and at twice.
fn sensitivity(machine: &MachineRecord) -> Vec<[String; 2]> {
    let how = |scaled: &MachineSensitivity| {
        let rate = format::percent(scaled.event_rate / machine.event_rate);
        let efficiency = format::percent(scaled.efficiency);
        format!("× {}: {rate} of the rate, efficiency {efficiency}", scaled.factor)
    };
    let mut facts: Vec<[String; 2]> = Vec::new();
    for scaled in &machine.sensitivity {
        let name = format!("  if {}", scaled.figures);
        match facts.last_mut().filter(|[before, _]| *before == name) {
            Some([_, before]) => *before += &format!("; {}", how(scaled)),
            None => facts.push([name, how(scaled)]),
        }
    }
    facts
}
