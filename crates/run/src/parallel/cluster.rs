//! Steps PEs in one thread, in the order of a virtual cluster.

use warpline_base::Moment;
use warpline_kernel::{PanicSilencer, Step, last_panic};
use warpline_memory::{Region, catch_panic};

use super::any_pe::AnyPe;
use super::driven::Driven;
use super::ending::EndingStage;
use super::monitor::LoopMonitor;
use super::out_of_memory::OutOfMemory;
use super::status::PeStatus;
use crate::Error;
use crate::machine::core_time::CoreTime;

/// A cluster of one PE looks every so many steps how far the run has come, and whether it is to end.
const LOOK_EVERY: u64 = 1 << 12;
/// With many PEs it looks more often, as a step of each takes longer, but no more often than this.
const LOOK_LEAST: u64 = 1 << 8;
/// Rows are passed on every so many steps, and no more often than each PE is stepped.
const ROWS_EVERY: u64 = 1 << 6;

/// Steps PEs until all of them are done. `next` says which is next, and hears whether the last one
/// was idle.
pub(crate) fn drive(
    pes: &mut [&mut dyn AnyPe],
    next: &mut dyn FnMut(bool) -> usize,
    watch: &mut LoopMonitor<'_, '_>,
) -> Result<Driven, Error> {
    watch.begin(pes, 0);
    let ending = watch.ending(&Region::own(), pes.len() as u32);
    let mut running = pes.len();
    let mut done = vec![false; pes.len()];
    let mut stages = vec![EndingStage::default(); pes.len()];
    let mut full = None;
    let mut steps = 0u64;
    let mut idle = false;
    let rows_every = ROWS_EVERY.max(pes.len() as u64);
    let look_every = (LOOK_EVERY / pes.len() as u64).max(LOOK_LEAST);
    while running > 0 && full.is_none() {
        let chosen = next(idle);
        idle = true;
        if done[chosen] {
            continue;
        }
        ending.guide(pes[chosen], &mut stages[chosen]);
        let quiet = PanicSilencer::new();
        let step = catch_panic(|| pes[chosen].step());
        drop(quiet);
        let step = step.unwrap_or_else(|_| {
            panic!("a mistake of the engine, at PE {chosen} after {steps} steps: {}", last_panic())
        });
        match step {
            Ok(Step::Worked) => idle = false,
            Ok(Step::Idle) => {}
            Ok(Step::Finished | Step::Failed) => {
                done[chosen] = true;
                running -= 1;
            }
            Err(why) => full = Some(OutOfMemory { place: Some(pes[chosen].position()), why }),
        }
        steps += 1;
        if steps.is_multiple_of(rows_every) {
            pass_on_rows(pes, watch);
        }
        if steps.is_multiple_of(look_every) {
            watch.run.go_on()?;
            watch.note(PeStatus::of_all(pes), None, CoreTime::default(), &ending);
        }
    }
    Ok(Driven { full, cut_short: ending.earlier_than(watch.until), ..Driven::default() })
}

/// Passes on the rows that no failure can come before any more.
pub(super) fn pass_on_rows(pes: &mut [&mut dyn AnyPe], watch: &mut LoopMonitor<'_, '_>) {
    let LoopMonitor { merge, rows, .. } = watch;
    let mut settled = Some(Moment::Never);
    for pe in pes {
        merge.add(pe.take_rows());
        settled = settled.zip(pe.settled()).map(|(a, b)| merge.earlier(a, b));
    }
    if let Some(settled) = settled {
        merge.take_before(&settled).for_each(|row| rows.add(row));
    }
}
