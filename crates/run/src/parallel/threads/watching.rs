//! What the thread that asked for the run does while others step its PEs: it passes rows, progress
//! and orders on, and carries messages where no thread does only that.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use warpline_base::Moment;
use warpline_transport::Lost;

use super::shared::Threads;
use crate::parallel::ending::Ending;
use crate::parallel::far::work::CommunicationWork;
use crate::parallel::monitor::LoopMonitor;
use crate::parallel::status::PeStatus;
use crate::watch::end_patience::EndPatience;

/// How often the boards are read.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often the counters of PEs are passed on to processes that share no memory with this one.
const PASS_ON_EVERY: Duration = Duration::from_millis(1);

/// Waits for so long, or until a thread wakes this one. Meanwhile does what the first process
/// orders, if it may order anything.
fn wait_for(time: Duration, watch: &mut LoopMonitor<'_, '_>) {
    let since = Instant::now();
    while let Some(patience) = watch.processes.as_ref().and_then(|processes| processes.patience()) {
        let parked = Instant::now();
        thread::park_timeout(patience);
        obey(watch);
        if parked.elapsed() < patience || since.elapsed() >= time {
            return;
        }
    }
    thread::park_timeout(time.saturating_sub(since.elapsed()));
}

/// Does the work of communication, for so long or until all threads of PEs have ended. Meanwhile
/// does what the first process orders.
fn serve_for(
    time: Duration,
    communication: &CommunicationWork<'_>,
    threads: &Threads,
    watch: &mut LoopMonitor<'_, '_>,
    patience: u32,
) {
    let since = Instant::now();
    let mut obeyed = Duration::ZERO;
    let mut idle = 0u32;
    while !threads.have_ended() && since.elapsed() < time {
        let orders = watch.processes.as_ref().and_then(|processes| processes.patience());
        if orders.is_some_and(|patience| since.elapsed() - obeyed >= patience) {
            obey(watch);
            obeyed = since.elapsed();
        }
        idle = if communication.work() { 0 } else { idle.saturating_add(1) };
        if idle > patience {
            thread::yield_now();
        }
    }
}

/// Does what the first process has ordered.
fn obey(watch: &mut LoopMonitor<'_, '_>) {
    // If a process is gone, the next look finds that as well.
    watch.processes.iter_mut().for_each(|processes| _ = processes.obey());
}

/// Does the work of one communicating thread until all threads of PEs have ended.
pub(super) fn serve(
    communication: &CommunicationWork<'_>,
    number: usize,
    threads: &Threads,
    patience: u32,
) {
    let mut idle = 0u32;
    while !threads.have_ended() && !threads.stop.load(Ordering::Relaxed) {
        idle = if communication.work_as(number) { 0 } else { idle.saturating_add(1) };
        if idle > patience {
            thread::yield_now();
        } else if idle > 0 {
            std::hint::spin_loop();
        }
    }
}

/// Why threads are left before the run is over.
pub(super) enum Left {
    /// A process is gone.
    Lost(Lost),
    /// The run is to end, and has come no further for so many seconds.
    NoEnd {
        /// How many.
        seconds: u64,
    },
}

/// Watches until all threads have ended. Returns why they are left, if they are. If a process is
/// gone and this is not the first, or if the run comes no further, threads may then still be busy.
pub(super) fn watch_over(
    threads: &Threads,
    communication: &CommunicationWork<'_>,
    patience: u32,
    ending: &Ending<'_>,
    watch: &mut LoopMonitor<'_, '_>,
    mut looked: impl FnMut(),
) -> Option<Left> {
    let passes_on = watch.processes.as_ref().is_some_and(|processes| processes.group.passes_on());
    let every = if passes_on { PASS_ON_EVERY } else { LOOK_EVERY };
    let mut left = None;
    let mut patience_to_end = EndPatience::default();
    let mut passed_on = 0;
    while !threads.have_ended() {
        if communication.is_for_watcher() {
            serve_for(every, communication, threads, watch, patience);
        } else {
            let patience = watch.run.selector.patience();
            wait_for(patience.map_or(every, |patience| patience.min(every)), watch);
        }
        pass_on(ending, watch);
        passed_on += 1;
        if !threads.have_ended()
            && every * passed_on < LOOK_EVERY
            && threads.rows.load(Ordering::Relaxed) == 0
        {
            continue;
        }
        passed_on = 0;
        if let (Some(why), Some(processes)) = (communication.trouble(), &mut watch.processes) {
            processes.group.give_up(why);
        }
        if let Err(why) = look(threads, ending, watch) {
            threads.stop.store(true, Ordering::Relaxed);
            left = left.or(Some(Left::Lost(why)));
            if watch.processes.as_ref().is_some_and(|processes| !processes.group.is_first()) {
                break;
            }
        }
        looked();
        if watch.run.control.is_abandoned() {
            threads.stop.store(true, Ordering::Relaxed);
            watch.processes.iter().for_each(|processes| processes.group.stop());
        }
        if watch.processes.is_none()
            && let Err(seconds) = look_at_end(threads, ending, &mut patience_to_end)
        {
            threads.stop.store(true, Ordering::Relaxed);
            return Some(Left::NoEnd { seconds });
        }
    }
    // Other processes have to see the last counts.
    pass_on(ending, watch);
    left
}

/// Looks at a run that is to end early, of this process alone: what PEs of others do is not known
/// here.
///
/// # Errors
/// If it has come no further for too long: the seconds.
fn look_at_end(
    threads: &Threads,
    ending: &Ending<'_>,
    patience: &mut EndPatience<(u64, f64)>,
) -> Result<(), u64> {
    let Some(progress) = ending.progress() else { return Ok(()) };
    let gvt = threads.statuses().iter().map(|status| status.gvt).fold(f64::INFINITY, f64::min);
    patience.look(Instant::now(), (progress, gvt), threads.turns())
}

/// Passes the counters of PEs on to processes that share no memory with this one.
pub(super) fn pass_on(ending: &Ending<'_>, watch: &mut LoopMonitor<'_, '_>) {
    let Some(processes) = &mut watch.processes else { return };
    if processes.group.passes_on() {
        processes.group.exchange(ending.tally());
    }
}

/// Reads all boards, and takes their rows. Has the PEs come to an end if another engine is to go
/// on.
///
/// # Errors
/// If another process is gone.
fn look(
    threads: &Threads,
    ending: &Ending<'_>,
    watch: &mut LoopMonitor<'_, '_>,
) -> Result<(), Lost> {
    let Threads { boards, clocks, rows, .. } = threads;
    if let Some(processes) = &mut watch.processes {
        processes.obey()?;
        if processes.waits_with_rows() {
            return Ok(());
        }
    }
    let mut status = None;
    let mut settled = Some(Moment::Never);
    let mut load_most = 0.0f64;
    let mut load_sum = 0.0;
    for board in boards {
        let mut notice = board.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.fetch_sub(notice.rows.len(), Ordering::Relaxed);
        watch.merge.add(std::mem::take(&mut notice.rows));
        status = Some(status.map_or(notice.status, |status: PeStatus| status.and(notice.status)));
        let load = notice.status.load_since(&PeStatus::default());
        load_most = load_most.max(load);
        load_sum += load;
        settled = settled.zip(notice.settled).map(|(a, b)| watch.merge.earlier(a, b));
    }
    let mut status = status.unwrap_or_default();
    watch.run.note_memory(Instant::now());
    if let Some(processes) = &mut watch.processes {
        processes.exchange(&mut status, &mut settled, &mut watch.merge)?;
    }
    settled.iter().try_for_each(|settled| watch.pass_on_before(settled))?;
    watch.processes.iter_mut().try_for_each(|processes| processes.go_on(&watch.rows))?;
    let unevenness = (load_sum > 0.0).then(|| load_most * boards.len() as f64 / load_sum);
    watch.note(status, unevenness, clocks.iter().map(|clock| clock.0.time()).sum(), ending);
    Ok(())
}
