//! What the record says of a run on a modelled machine.

use warpline_machine::{Machine, Time};
use warpline_record::{MachineRecord, MachineShares, Spread};
use warpline_transport::MailboxUse;

use super::core::Core;

/// The record of a machine whose PEs have committed so many events each.
pub(super) fn record(
    machine: &Machine,
    mailboxes: MailboxUse,
    cores: &[Core],
    committed: &[u64],
) -> MachineRecord {
    let last = cores.iter().map(Core::free).max().unwrap_or_default();
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
    let busy = |core: &Core| (core.spent.all() + core.interrupted).seconds();
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
        waiting: Spread::of(
            cores.iter().map(|core| (1.0 - ratio(busy(core), seconds)).max(0.0)).collect(),
        ),
    }
}
