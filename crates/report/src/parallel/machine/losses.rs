//! What keeps a run on a modelled machine from being as fast as its cores: the time of all PEs that
//! does not go into events that commit, by its cause.
//!
//! All of it comes from counts and machine time, so it is exact on every host. The parts and the
//! efficiency add up to 1.

use warpline_record::{MachineRecord, ParallelRecord, RunRecord};

use super::super::shares::{mean, percent, share};
use crate::format;

/// How many causes there are.
pub const LOSSES: usize = 5;

/// Time of all PEs that does not go into events that commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Its name for programs, such as `gvt_latency`.
    pub key: &'static str,
    /// What it goes into, as a sentence begins.
    pub name: &'static str,
    /// The share of all PEs' time, from 0 to 1.
    pub share: f64,
    /// What that comes from, by the figures of the run: a clause that may follow `as`.
    pub why: String,
    /// What to try. Names between backticks are those of settings.
    pub remedy: &'static str,
}

/// What the time of all PEs goes into beside events that commit, by cause, always in the same order;
/// `None` if the run was not on a modelled machine, or if no time passed there.
pub fn losses(record: &RunRecord) -> Option<[Loss; LOSSES]> {
    let parallel = record.parallel.as_ref()?;
    let machine = parallel.machine.as_ref().filter(|machine| machine.seconds > 0.0)?;
    let shares = &machine.shares;
    let undone = share(parallel.rolled_back_events as f64, parallel.processed_events as f64)
        .unwrap_or_default();
    let wasted = (shares.computing * undone).min((shares.computing - machine.efficiency).max(0.0));
    // Cores that are slow take longer for the same events. States that are restored take events
    // that are executed again.
    let longer = (shares.computing - machine.efficiency - wasted).max(0.0);
    let (repeated, slow) = if undone > 0.0 { (longer, 0.0) } else { (0.0, longer) };
    // At least what dealing with it takes, at most all that is not other work.
    let latency = machine.gvt_latency.unwrap_or_default().max(shares.gvt);
    let latency = latency.min(shares.gvt + shares.waiting);
    Some([
        Loss {
            key: "gvt_latency",
            name: "GVT's latency",
            share: latency,
            why: gvt(record, parallel, machine, latency),
            remedy: "More lookahead, more LPs on a PE or another `gvt` would help.",
        },
        Loss {
            key: "uneven_load",
            // Without computations that are common to all, its causes cannot be told apart.
            name: if machine.gvt_latency.is_some() { "Uneven load" } else { "Waiting" },
            share: shares.gvt + shares.waiting - latency,
            why: uneven(machine),
            remedy: "More LPs on a PE even the load out; so do longer windows between one GVT and \
                     the next.",
        },
        Loss {
            key: "messages",
            name: "Messages",
            share: shares.messages,
            why: messages(record, machine),
            remedy: "LPs that talk to each other should be on the same PE.",
        },
        Loss {
            key: "undone_work",
            name: "Undone work",
            share: shares.undo + wasted + repeated,
            why: format!("{} of the executed events are undone", percent(undone)),
            remedy: "A shorter `window`, or conservative LPs, would undo less.",
        },
        Loss {
            key: "noise",
            name: "Noise",
            share: shares.noise + slow,
            why: format!(
                "the system has a core for {} of the time, and slow cores take {} longer",
                percent(shares.noise),
                percent(slow)
            ),
            remedy: "It is a property of the machine; the others wait for those that it hits.",
        },
    ])
}

/// Between one GVT and the next: how many events, and how long it takes.
fn gvt(
    record: &RunRecord,
    parallel: &ParallelRecord,
    machine: &MachineRecord,
    latency: f64,
) -> String {
    let lookahead = machine.least_delay.map_or_else(String::new, |least| {
        let unit = &record.time_unit;
        format!(" with a lookahead of {}", format::quantity(least, unit).trim_end())
    });
    if parallel.gvt_epochs == 0 {
        return "GVT is never found".to_owned();
    }
    let epochs = parallel.gvt_epochs as f64;
    let events = record.committed_events as f64 / epochs / machine.pes.max(1) as f64;
    let takes = format::quantity(latency * machine.seconds / epochs, "s");
    format!(
        "a PE commits {} events between one GVT and the next{lookahead}, and each GVT takes \
         {takes} of its time",
        mean(events)
    )
}

fn uneven(machine: &MachineRecord) -> String {
    let events = &machine.committed_events;
    let pes = machine.pes.max(1) as f64;
    // From the rate, as the median says nothing of the mean.
    let average = machine.event_rate * machine.seconds / pes;
    let waiting = &machine.waiting;
    format!(
        "the PE with most events has {} times the average, and PEs wait for {} to {} of the time",
        format::number(events.max / average.max(f64::MIN_POSITIVE), 3, format::Zeros::Strip),
        percent(waiting.min),
        percent(waiting.max)
    )
}

fn messages(record: &RunRecord, machine: &MachineRecord) -> String {
    let all = machine.near_messages + machine.far_messages;
    let far = share(machine.far_messages as f64, all as f64).unwrap_or_default();
    format!(
        "PEs send {} messages for each committed event, {} of them to other nodes",
        mean(all as f64 / record.committed_events.max(1) as f64),
        percent(far)
    )
}
