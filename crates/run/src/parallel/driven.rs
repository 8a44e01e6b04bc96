//! What PEs leave when their loops have ended, in threads or in a virtual cluster.

use std::time::Instant;

use warpline_base::{Moment, VirtualTime};
use warpline_kernel::{Event, Measured, Parts, Pe};
use warpline_memory::Pool;
use warpline_model::Model;
use warpline_record::MachineRecord;
use warpline_transport::CourierCounts;

use super::any_pe::AnyPe;
use super::common::PeOf;
use super::merge::RowMerge;
use super::monitor::LoopMonitor;
use super::out_of_memory::OutOfMemory;
use super::processes::control_messages::LoopEnd;
use super::processes::lost;
use super::status::PeStatus;
use crate::Error;
use crate::machine::core_time::SharedTime;
use crate::outcome::rows::Rows;

/// What became of the loops of PEs.
#[derive(Default)]
pub(crate) struct Driven {
    /// Where memory ran out, if it did.
    pub(crate) full: Option<OutOfMemory>,
    /// Where the PEs ended, if before the planned end.
    pub(crate) cut_short: Option<VirtualTime>,
    /// How the time of threads went; `None` in a virtual cluster, which has one thread.
    pub(crate) times: Option<ThreadTimes>,
    /// How often a PE was given to another thread.
    pub(crate) moved: u64,
    /// By PE: how long it was at work, in nanoseconds; none, or 0, where that was not measured.
    pub(crate) busy: Vec<u64>,
    /// Whether there were more threads than cores.
    pub(crate) oversubscribed: bool,
    /// How many couriers there were, and what they did, if there were any.
    pub(crate) couriers: Option<(u64, CourierCounts)>,
    /// How the run went on its modelled machine, if it had one.
    pub(crate) machine: Option<MachineRecord>,
}

/// How the time of threads went.
pub(crate) struct ThreadTimes {
    /// By thread; `None` if it belonged to one PE.
    pub(crate) times: Vec<Option<SharedTime>>,
    /// How many PEs a thread had at first.
    pub(crate) share: usize,
}

impl ThreadTimes {
    /// Corrects what PEs have measured of themselves, except where a PE had a thread to itself and
    /// has measured that.
    fn correct<M: Model>(&self, parts: &mut [Parts<M>]) {
        let mut measured: Vec<Measured> = parts.iter().map(|pe| pe.measured).collect();
        self.correct_measured(&mut measured);
        parts.iter_mut().zip(measured).for_each(|(pe, measured)| pe.measured = measured);
    }

    fn correct_measured(&self, measured: &mut [Measured]) {
        if let Some(times) = self.times.iter().copied().collect::<Option<Vec<SharedTime>>>() {
            // PEs may have moved.
            times.into_iter().sum::<SharedTime>().correct(measured);
        } else {
            let shared = measured.chunks_mut(self.share).zip(&self.times);
            shared.for_each(|(pes, time)| time.iter().for_each(|time| time.correct(pes)));
        }
    }
}

/// Steps PEs by `drive`, and collects what they leave behind.
///
/// # Errors
/// Those of `drive`, or if another process is gone.
pub(crate) fn run<M: Model>(
    mut pes: Vec<PeOf<'_, M>>,
    mut watch: LoopMonitor<'_, '_>,
    drive: impl FnOnce(&mut [&mut dyn AnyPe], &mut LoopMonitor<'_, '_>) -> Result<Driven, Error>,
) -> Result<LoopOutcome<M>, Error> {
    let mut any: Vec<&mut dyn AnyPe> = pes.iter_mut().map(|pe| pe as &mut dyn AnyPe).collect();
    let mut driven = drive(&mut any, &mut watch)?;
    let ended = end(&mut any, &mut driven, &mut watch)?;
    drop(any);
    let pending =
        if ended.goes_on { pes.iter_mut().map(Pe::hand_over).collect() } else { Vec::new() };
    let mut parts: Vec<Parts<M>> = pes.into_iter().map(Pe::into_parts).collect();
    driven.times.iter().for_each(|times| times.correct(&mut parts));
    let LoopMonitor { rows, merge, .. } = watch;
    Ok(LoopOutcome { parts, pending, rows, merge, driven, ended })
}

/// What the PEs leave when their loops have ended.
pub(crate) struct LoopOutcome<M: Model> {
    pub(crate) parts: Vec<Parts<M>>,
    /// Events for the engine that is to go on, if one is.
    pub(crate) pending: Vec<Pool<Event<M::Event>>>,
    pub(crate) rows: Rows,
    pub(crate) merge: RowMerge,
    pub(crate) driven: Driven,
    pub(crate) ended: Ended,
}

/// How all loops ended.
pub(crate) struct Ended {
    /// Where the run fails, if it does.
    pub(crate) failure: Moment,
    /// How many events of these PEs have committed before that.
    pub(crate) committed: u64,
    /// When all LPs had been initialised.
    pub(crate) looped: Instant,
    /// When the last event had been executed.
    pub(crate) at: Instant,
    pub(crate) window: f64,
    /// Whether another engine is to go on from there.
    pub(crate) goes_on: bool,
}

/// Takes the last rows when all loops have ended, and agrees with other processes on how they did.
fn end(
    pes: &mut [&mut dyn AnyPe],
    driven: &mut Driven,
    watch: &mut LoopMonitor<'_, '_>,
) -> Result<Ended, Error> {
    // As in a sequential run, initialising LPs is not part of the loop.
    let looped = pes.iter().filter_map(|pe| pe.initialised_at()).min().unwrap_or(watch.looped);
    let at = Instant::now();
    let status = PeStatus::of_all(pes);
    watch.run.note_segment(status.sample());
    let gives_way = driven.cut_short.is_some() && !watch.run.selector.is_fixed();
    if gives_way {
        pes.iter_mut().for_each(|pe| pe.fail_unreadable(watch.until));
    }
    // Asked after the last verdict, as the last payloads are dropped after it and may panic.
    let mut failure = pes
        .iter()
        .map(|pe| pe.failure())
        .fold(Moment::Never, |earliest, failure| watch.merge.earlier(earliest, failure));
    pes.iter_mut().for_each(|pe| watch.merge.add(pe.take_rows()));
    if let Some(processes) = &mut watch.processes {
        let agreed = processes.agree(LoopEnd { failure, full: driven.full }, &mut watch.merge);
        let end = agreed.map_err(|why| lost(&mut processes.group, why))?;
        failure = end.failure;
        driven.full = end.full;
    }
    let committed = pes.iter().map(|pe| pe.committed_before(&failure)).sum();
    let goes_on =
        gives_way && failure == Moment::Never && driven.full.is_none() && !watch.run.stop.is_on();
    Ok(Ended { failure, committed, looped, at, window: status.window, goes_on })
}
