//! What the record says of a run on a modelled machine.

use warpline_kernel::Counts;
use warpline_machine::{Machine, Time};
use warpline_record::{Distribution, MachineRecord, MachineShares, Spread, quantiles};
use warpline_transport::MailboxUse;

use super::core::Core;
use super::shown;

/// The record of a machine whose PEs have counted this, and have each lost so much to GVT itself.
pub(super) fn record(
    machine: &Machine,
    mailboxes: MailboxUse,
    cores: &mut [Core],
    counts: &[&Counts],
    gvt_latency: Option<Time>,
) -> MachineRecord {
    let committed: Vec<u64> = counts.iter().map(|counts| counts.committed).collect();
    let last = cores.iter().map(Core::free).max().unwrap_or_default();
    let time_lines = Some(shown::record(cores, last));
    let cores = &*cores;
    let seconds = last.seconds();
    let all = seconds * cores.len() as f64;
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let share = |of: &dyn Fn(&Core) -> Time| {
        ratio(cores.iter().map(|core| of(core).seconds()).sum::<f64>(), all)
    };
    let events: u64 = committed.iter().sum();
    let computing = share(&|core| core.spent.computing);
    let messages = share(&|core| core.spent.messages);
    let gvt = share(&|core| core.spent.gvt);
    let undo = share(&|core| core.spent.undo);
    let noise = share(&|core| core.interrupted);
    let waiting = |core: &Core| (1.0 - ratio(core.busy().seconds(), seconds)).max(0.0);
    let sum = |of: fn(&Core) -> u64| cores.iter().map(of).sum();
    MachineRecord {
        name: machine.name.clone(),
        about: machine.about.clone(),
        pes: cores.len() as u64,
        nodes: machine.nodes(cores.len() as u32).into(),
        seconds,
        event_rate: ratio(events as f64, seconds),
        efficiency: ratio(events as f64 * machine.costs.event.seconds(), all),
        shares: MachineShares {
            computing,
            messages,
            gvt,
            undo,
            waiting: (1.0 - computing - messages - gvt - undo - noise).max(0.0),
            noise,
        },
        near_messages: sum(|core| core.near_messages),
        far_messages: sum(|core| core.far_messages),
        gvt_messages: sum(|core| core.gvt_messages),
        mailbox_messages: mailboxes.messages,
        mailbox_waits: mailboxes.waits,
        mailbox_failures: mailboxes.failures,
        mailbox_wait_seconds: cores.iter().map(|core| core.waited_for_room).sum::<Time>().seconds(),
        committed_events: Spread::of(committed.iter().map(|events| *events as f64).collect()),
        computing: Spread::of(
            cores.iter().map(|core| ratio(core.spent.computing.seconds(), seconds)).collect(),
        ),
        waiting: Spread::of(cores.iter().map(waiting).collect()),
        gvt_latency: gvt_latency.map(|each| ratio(each.seconds(), seconds)),
        least_delay: None,
        distribution: distribution(cores, counts, seconds),
        time_lines,
        sensitivity: Vec::new(),
    }
}

/// How time and events are distributed over PEs.
fn distribution(cores: &[Core], counts: &[&Counts], seconds: f64) -> Distribution {
    let share = |time: Time| if seconds > 0.0 { time.seconds() / seconds } else { 0.0 };
    let of =
        |part: fn(&Core) -> Time| quantiles(cores.iter().map(|core| share(part(core))).collect());
    let count = |part: fn(&Counts) -> u64| {
        quantiles(counts.iter().map(|counts| part(counts) as f64).collect())
    };
    Distribution {
        computing: of(|core| core.spent.computing),
        messages: of(|core| core.spent.messages),
        gvt: of(|core| core.spent.gvt),
        undo: of(|core| core.spent.undo),
        waiting: quantiles(cores.iter().map(|core| (1.0 - share(core.busy())).max(0.0)).collect()),
        committed_events: count(|counts| counts.committed),
        rollbacks: count(|counts| counts.primary + counts.secondary),
        // Books are closed later.
        buffers: Vec::new(),
    }
}
