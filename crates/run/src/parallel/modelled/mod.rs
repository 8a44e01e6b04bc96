//! Steps PEs on a modelled machine, in the order of its time. See the README beside this file.

mod core;
mod costs;
mod event_list;
mod gvt_latency;
mod outcome;
mod part;
mod registers;
mod setup;
mod shown;
mod time_line;
mod windows;

use warpline_kernel::{Counts, PanicSilencer};
use warpline_machine::Time;
use warpline_memory::Region;
use warpline_record::MachineRecord;
use warpline_transport::MailboxUse;

use self::core::Core;
use self::gvt_latency::GvtLatency;
use self::part::Part;
pub(super) use self::setup::Modelled;
use self::windows::Stretch;
use super::any_pe::AnyPe;
use super::cluster::pass_on_rows;
use super::driven::Driven;
use super::monitor::LoopMonitor;
use super::status::PeStatus;
use crate::Error;
use crate::machine::core_time::CoreTime;

/// Steps for each PE between two looks at all PEs: how far they have come, and what rows they have.
const STEPS_A_PE: u64 = 8;
/// The least steps between two looks at all PEs.
const ALL_EVERY: u64 = 1 << 13;

/// Steps PEs until all of them are done.
pub(super) fn drive(
    pes: &mut [&mut dyn AnyPe],
    modelled: &Modelled<'_>,
    watch: &mut LoopMonitor<'_, '_>,
) -> Result<Driven, Error> {
    let firsts = modelled.parts.iter().map(|wires| &*pes[wires.pes().start as usize]);
    watch.begin_in_turns(firsts);
    let ending = watch.ending(&Region::own(), modelled.pes);
    let mut parts: Vec<Part<'_, '_>> =
        modelled.parts.iter().map(|wires| Part::new(modelled, *wires)).collect();
    let stretch = Stretch {
        steps: ALL_EVERY.max(STEPS_A_PE * pes.len() as u64).div_ceil(parts.len() as u64),
        latency: if parts.len() > 1 { modelled.machine.far.latency } else { Time::MAX },
        ending: &ending,
        stack: watch.run.stack,
    };
    let mut full = None;
    let mut ends_early = false;
    let mut gvt_takes = Time::ZERO;
    let quiet = PanicSilencer::new();
    while parts.iter().any(|part| part.running() > 0) && full.is_none() {
        let mut goes_on = || {
            watch.run.go_on()?;
            Ok(ends_early || !ending.is_under_way())
        };
        full = windows::advance(&mut parts, pes, &stretch, &mut goes_on)?;
        gvt_takes += GvtLatency::take(parts.iter_mut().map(Part::gvt_latency).collect());
        pass_on_rows(pes, watch);
        watch.note(PeStatus::of_all(pes), None, CoreTime::default(), &ending);
        if ending.is_under_way() {
            ends_early = true;
            parts.iter_mut().for_each(|part| part.wake_all(part.now()));
        }
    }
    drop(quiet);
    let machine = Some(outcome(modelled, parts, gvt_takes, pes));
    Ok(Driven { full, cut_short: ending.earlier_than(watch.until), machine, ..Driven::default() })
}

/// What the record says of the machine.
fn outcome(
    modelled: &Modelled<'_>,
    mut parts: Vec<Part<'_, '_>>,
    gvt_takes: Time,
    pes: &[&mut dyn AnyPe],
) -> MachineRecord {
    let counts: Vec<&Counts> = pes.iter().map(|pe| pe.counts()).collect();
    let mailboxes = modelled.parts.iter().map(|wires| wires.mailbox_use()).sum::<MailboxUse>();
    let are_common = parts.iter_mut().all(|part| part.gvt_latency().are_common());
    let gvt_latency = are_common.then_some(gvt_takes);
    let mut cores: Vec<Core> = parts.into_iter().flat_map(Part::into_cores).collect();
    MachineRecord {
        least_delay: modelled.least_delay,
        ..outcome::record(&modelled.machine, mailboxes, &mut cores, &counts, gvt_latency)
    }
}
