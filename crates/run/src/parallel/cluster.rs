//! Steps PEs in one thread, in the order of a virtual cluster.

use warpline_base::Moment;
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{PanicSilencer, Pe, PeTypes, Step, last_panic};
use warpline_memory::{Region, catch_panic};
use warpline_model::Model;
use warpline_transport::{AnyPort, VirtualCluster};

use super::board::PeStatus;
use super::ending::EndingStage;
use super::monitor::LoopMonitor;
use super::threads::gather;
use super::{LoopOutcome, OutOfMemory};
use crate::Error;
use crate::machine::core_time::CoreTime;

/// Steps PEs until all of them are done.
pub(crate) fn drive<M: Model, Q: PendingSet>(
    mut pes: Vec<Pe<'_, (M, Q, AnyPort<M::Event>)>>,
    mut cluster: VirtualCluster<M::Event>,
    mut watch: LoopMonitor<'_, '_>,
) -> Result<LoopOutcome<M>, Error> {
    watch.begin();
    for (pe, number) in pes.iter().zip(0..) {
        watch.run.control.watch(Some(number), pe.beat());
    }
    let (mut running, mut full, mut done) = (pes.len(), None, vec![false; pes.len()]);
    let (ending, mut stages) = (watch.ending(&Region::own(), pes.len() as u32), vec![EndingStage::default(); pes.len()]);
    let mut steps = 0u64;
    while running > 0 && full.is_none() {
        let chosen = cluster.next_pe();
        if done[chosen] {
            continue;
        }
        ending.guide(&mut pes[chosen], &mut stages[chosen]);
        let quiet = PanicSilencer::new();
        let step = catch_panic(|| pes[chosen].step());
        drop(quiet);
        let step = step.unwrap_or_else(|_| panic!("a mistake of the engine, at PE {chosen} after {steps} steps: {}", last_panic()));
        match step {
            Ok(Step::Worked | Step::Idle) => {}
            Ok(Step::Finished | Step::Failed) => {
                done[chosen] = true;
                running -= 1;
            }
            Err(why) => full = Some(OutOfMemory { place: Some(pes[chosen].position()), why }),
        }
        steps += 1;
        if steps.is_multiple_of(1 << 6) {
            pass_on_rows(&mut pes, &mut watch);
        }
        if steps.is_multiple_of(1 << 16) {
            let status = pes.iter().map(PeStatus::of).reduce(PeStatus::and).unwrap_or_default();
            watch.run.go_on()?;
            watch.note(status, None, CoreTime::default(), &ending);
        }
    }
    let cut_short = ending.earlier_than(watch.until);
    gather(pes, full, watch, cut_short)
}

/// Passes on the rows that no failure can come before any more.
fn pass_on_rows<T: PeTypes>(pes: &mut [Pe<'_, T>], watch: &mut LoopMonitor<'_, '_>) {
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
