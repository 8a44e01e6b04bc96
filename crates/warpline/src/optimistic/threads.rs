//! Steps PEs in threads, at most as many as there are processors, and watches them from the thread that asked for the run. A thread with
//! several PEs steps them in turn: that takes nanoseconds, where the operating system would take microseconds to switch threads.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use warpline_base::record::SpeculationSample;
use warpline_base::{Moment, VirtualTime};
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{MomentRow, PanicSilencer, Pe, Port, ROWS, Step, last_panic};
use warpline_memory::{Apart, Exhausted, MakeRoom};
use warpline_model::Model;
use warpline_transport::pin;

use super::ending::{Ending, EndingStage};
use super::monitor::LoopMonitor;
use super::{LoopOutcome, OutOfMemory};
use crate::Error;

/// How often the boards are read.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// With more rows than this on the boards, PEs wait until the watcher has taken them.
const ROWS_MOST: usize = 1 << 15;
/// How long a PE waits before it looks again.
const WAIT: Duration = Duration::from_millis(1);
/// Rounds of idle steps before a thread yields. With a core of its own it waits longer than an answer takes, as yielding the core to
/// another program costs a time slice of milliseconds. If there are more threads than cores, it soon yields to those it waits for.
const PATIENCE: u32 = 1024;
const PATIENCE_IN_CROWD: u32 = 64;

/// The progress of a PE, for the watching thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeStatus {
    pub(crate) gvt: f64,
    pub(crate) committed: u64,
    processed: u64,
    rolled_back: u64,
    window: f64,
    epochs: u64,
    depth: f64,
}

impl PeStatus {
    pub(crate) fn of<M: Model, Q: PendingSet, P: Port<M::Event>>(pe: &Pe<'_, M, Q, P>) -> Self {
        let counts = pe.counts();
        let gvt = match pe.verdict().map(|verdict| verdict.gvt) {
            None | Some(Moment::Init(_)) => 0.0,
            Some(Moment::Event(key)) => key.time.get(),
            Some(Moment::Finish(_) | Moment::Never) => f64::INFINITY,
        };
        PeStatus {
            gvt,
            committed: counts.committed,
            processed: counts.processed,
            rolled_back: counts.rolled_back,
            window: pe.window(),
            epochs: counts.gvt_epochs,
            depth: counts.mailbox_depth_mean(),
        }
    }

    /// The progress of two sets of PEs together.
    pub(crate) fn and(self, other: PeStatus) -> PeStatus {
        PeStatus {
            gvt: self.gvt.min(other.gvt),
            committed: self.committed + other.committed,
            processed: self.processed + other.processed,
            rolled_back: self.rolled_back + other.rolled_back,
            window: self.window.min(other.window),
            epochs: self.epochs.max(other.epochs),
            depth: self.depth.max(other.depth),
        }
    }

    pub(crate) fn sample(&self) -> SpeculationSample {
        SpeculationSample {
            processed_events: self.processed,
            rolled_back_events: self.rolled_back,
            window: self.window,
            gvt_epochs: self.epochs,
            mailbox_depth: self.depth,
        }
    }
}

/// Where a PE's thread posts what the watching thread wants to know. Locked once per GVT, and hardly ever by two at a time.
type Board = Apart<Mutex<Notice>>;

#[derive(Default)]
struct Notice {
    status: PeStatus,
    /// All rows before this moment have been posted, and none of them will be taken back.
    settled: Option<Moment>,
    rows: Vec<MomentRow>,
}

/// A thread's PEs, and where it ran out of memory, if it did.
type WorkerResult<'m, M, Q, P> = (Vec<Pe<'m, M, Q, P>>, Option<OutOfMemory>);

/// What a thread shares with the watcher and with other threads. Dropping it tells them that the thread has ended, even by a panic.
struct WorkerGuard<'s> {
    /// Set to stop all threads when a PE cannot go on.
    stop: &'s AtomicBool,
    /// How many threads are still running.
    left: &'s AtomicUsize,
    /// The message of the first panic.
    bug: &'s Mutex<String>,
    /// How many rows are on the boards.
    rows: &'s AtomicUsize,
    watcher: Thread,
}

impl WorkerGuard<'_> {
    /// Posts the progress and the rows of a PE on its board.
    fn post<M: Model, Q: PendingSet, P: Port<M::Event>>(&self, pe: &mut Pe<'_, M, Q, P>, board: &Board) {
        let mut rows = pe.take_rows();
        // Counted first, as the watcher subtracts what it finds.
        let waiting = self.rows.fetch_add(rows.len(), Ordering::Relaxed) + rows.len();
        let mut notice = board.0.lock().unwrap_or_else(PoisonError::into_inner);
        notice.status = PeStatus::of(pe);
        notice.settled = pe.settled();
        notice.rows.make_room(rows.len(), ROWS);
        notice.rows.append(&mut rows);
        drop(notice);
        if waiting > ROWS_MOST / 2 {
            self.watcher.unpark();
        }
    }

    /// Waits while there are too many rows on the boards. The watcher takes all of them at once when it has passed on the previous ones,
    /// whatever the PEs do: so few are waiting at any time, and nobody waits for ever.
    fn wait_for_watcher(&self) {
        while self.rows.load(Ordering::Relaxed) > ROWS_MOST && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(WAIT);
        }
    }
}

impl Drop for WorkerGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stop.store(true, Ordering::Relaxed);
            let mut bug = self.bug.lock().unwrap_or_else(PoisonError::into_inner);
            if bug.is_empty() {
                *bug = last_panic();
            }
        }
        // Relaxed: the watcher joins the thread before it looks at what it did.
        self.left.fetch_sub(1, Ordering::Relaxed);
        self.watcher.unpark();
    }
}

/// Has all threads stop if the one that watches them panics, or runs out of memory: it waits for them then.
struct StopOnPanic<'s>(&'s AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Steps PEs until all of them are done. If `crowded`, each has a thread of its own.
///
/// # Errors
/// If the system refuses a thread.
pub(crate) fn drive<M: Model, Q: PendingSet + Send, P: Port<M::Event> + Send>(
    pes: Vec<Pe<'_, M, Q, P>>,
    mut watch: LoopMonitor<'_, '_>,
    crowded: bool,
) -> Result<LoopOutcome<M>, Error> {
    watch.begin();
    for (pe, number) in pes.iter().zip(0..) {
        watch.run.control.watch(Some(number), pe.beat());
    }
    let boards: Vec<Board> = pes.iter().map(|_| Board::default()).collect();
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let share = if crowded { 1 } else { pes.len().div_ceil(cores) };
    let threads = pes.len().div_ceil(share);
    let patience = if threads <= cores { PATIENCE } else { PATIENCE_IN_CROWD };
    let (stop, left, bug) = (AtomicBool::new(false), AtomicUsize::new(threads), Mutex::default());
    let rows = AtomicUsize::new(0);
    let ending = watch.ending(pes.len());
    let (pes, full) = thread::scope(|scope| {
        let _no_thread_outlives_this_one = StopOnPanic(&stop);
        let watcher = thread::current();
        let mut workers = Vec::new();
        for (number, (pes, boards)) in deal(pes, share).into_iter().zip(boards.chunks(share)).enumerate() {
            let guard = WorkerGuard { stop: &stop, left: &left, bug: &bug, rows: &rows, watcher: watcher.clone() };
            let ending = &ending;
            let work = move || {
                pin(number, threads);
                work(pes, boards, guard, ending, patience)
            };
            let builder = thread::Builder::new().name(format!("warpline-{number}")).stack_size(watch.run.stack);
            let worker = builder.spawn_scoped(scope, work);
            workers.push(worker.map_err(|cause| {
                // The other threads wait for the PEs of this one, and look at this flag now and then.
                stop.store(true, Ordering::Relaxed);
                Error::no_thread(number, threads, cause)
            })?);
        }
        while left.load(Ordering::Relaxed) > 0 {
            thread::park_timeout(watch.run.chooser.patience().map_or(LOOK_EVERY, |patience| patience.min(LOOK_EVERY)));
            look(&boards, &rows, &ending, &mut watch);
            if watch.run.control.is_abandoned() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let (mut pes, mut full) = (Vec::new(), None);
        for worker in workers {
            match worker.join() {
                Ok((stepped, why)) => {
                    full = full.or(why);
                    pes.extend(stepped);
                }
                Err(panic) => match Exhausted::from_panic(panic) {
                    Ok(why) => full = full.or(Some(OutOfMemory { place: None, why })),
                    Err(_) => panic!("a mistake of the engine: {}", bug.lock().unwrap_or_else(PoisonError::into_inner)),
                },
            }
        }
        Ok::<_, Error>((pes, full))
    })?;
    watch.run.go_on()?;
    for board in boards {
        watch.merge.add(board.0.into_inner().unwrap_or_else(PoisonError::into_inner).rows);
    }
    let cut_short = ending.earlier_than(watch.until);
    Ok(gather(pes, full, watch, cut_short))
}

/// Divides PEs among threads, neighbours together.
fn deal<T>(pes: Vec<T>, share: usize) -> Vec<Vec<T>> {
    let mut pes = pes.into_iter();
    std::iter::from_fn(|| Some(pes.by_ref().take(share).collect()).filter(|some: &Vec<T>| !some.is_empty())).collect()
}

/// The loop of a thread: steps its PEs in turn, until all of them are done or some thread cannot go on.
fn work<'m, M: Model, Q: PendingSet, P: Port<M::Event>>(
    mut pes: Vec<Pe<'m, M, Q, P>>,
    boards: &[Board],
    guard: WorkerGuard<'_>,
    ending: &Ending<'_>,
    patience: u32,
) -> WorkerResult<'m, M, Q, P> {
    let _quiet = PanicSilencer::new();
    let (mut running, mut idle, mut epochs) = (pes.len(), 0u32, vec![(0, EndingStage::default()); pes.len()]);
    if let [pe] = &mut pes[..] {
        pe.begin_thread();
    }
    while running > 0 {
        let (mut worked, mut look) = (false, false);
        running = 0;
        for ((pe, board), (epochs, stage)) in pes.iter_mut().zip(boards).zip(&mut epochs) {
            ending.guide(pe, stage);
            match pe.step() {
                Ok(Step::Worked) => (worked, running) = (true, running + 1),
                Ok(Step::Idle) => running += 1,
                Ok(Step::Finished | Step::Failed) => {}
                Err(why) => {
                    guard.stop.store(true, Ordering::Relaxed);
                    let full = OutOfMemory { place: Some(pe.position()), why };
                    return (pes, Some(full));
                }
            }
            if pe.counts().gvt_epochs != *epochs {
                *epochs = pe.counts().gvt_epochs;
                look = true;
                guard.post(pe, board);
            }
        }
        if look {
            guard.wait_for_watcher();
        }
        idle = if worked { 0 } else { idle.saturating_add(1) };
        if idle > 0 && sleep_at_barrier(&pes) {
            look = true;
        } else if idle > patience {
            look = true;
            thread::yield_now();
        } else if idle > 0 {
            std::hint::spin_loop();
        }
        // Relaxed: it publishes nothing else.
        if look && guard.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    (pes, None)
}

/// Sleeps until all PEs have arrived at the barrier at which all of these wait, if they do and that is how to wait there.
fn sleep_at_barrier<M: Model, Q: PendingSet, P: Port<M::Event>>(pes: &[Pe<'_, M, Q, P>]) -> bool {
    let waiting = pes.iter().map(Pe::waits_at_barrier).try_fold(None, |_, waits| waits.map(Some)).flatten();
    waiting.is_some_and(|(barrier, trial)| barrier.sleep(trial, WAIT))
}

/// Reads all boards, and takes their rows. Has the PEs come to an end if another engine is to go on.
fn look(boards: &[Board], rows: &AtomicUsize, ending: &Ending<'_>, watch: &mut LoopMonitor<'_, '_>) {
    let (mut status, mut settled) = (None, Some(Moment::Never));
    for board in boards {
        let mut notice = board.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.fetch_sub(notice.rows.len(), Ordering::Relaxed);
        watch.merge.add(std::mem::take(&mut notice.rows));
        status = Some(status.map_or(notice.status, |status: PeStatus| status.and(notice.status)));
        settled = settled.zip(notice.settled).map(|(a, b)| watch.merge.earlier(a, b));
    }
    if let Some(settled) = settled {
        watch.merge.emit_before(&settled, &mut watch.rows);
    }
    let status = status.unwrap_or_default();
    watch.note(status.gvt, status.committed, status.sample(), ending);
}

/// Collects what PEs leave behind.
pub(crate) fn gather<M: Model, Q: PendingSet, P: Port<M::Event>>(
    mut pes: Vec<Pe<'_, M, Q, P>>,
    full: Option<OutOfMemory>,
    watch: LoopMonitor<'_, '_>,
    cut_short: Option<VirtualTime>,
) -> LoopOutcome<M> {
    let LoopMonitor { run, looped, rows, mut merge, .. } = watch;
    // As in a sequential run, initialising LPs is not part of the loop.
    let looped = pes.iter().filter_map(Pe::initialised_at).min().unwrap_or(looped);
    let ended = Instant::now();
    let status = pes.iter().map(PeStatus::of).reduce(PeStatus::and).unwrap_or_default();
    run.note_segment(status.sample());
    // The last payloads are dropped after the last verdict.
    let failure = pes.iter().map(Pe::failure).fold(Moment::Never, |earliest, failure| merge.earlier(earliest, failure));
    let committed = pes.iter().map(|pe| pe.committed_before(&failure)).sum();
    pes.iter_mut().for_each(|pe| merge.add(pe.take_rows()));
    let goes_on = cut_short.is_some() && failure == Moment::Never && full.is_none() && !run.stop.is_on();
    let pending = if goes_on { pes.iter_mut().map(Pe::hand_over).collect() } else { Vec::new() };
    let parts = pes.into_iter().map(Pe::into_parts).collect();
    LoopOutcome { parts, pending, failure, committed, full, rows, merge, looped, ended, window: status.window, cut_short, goes_on }
}
