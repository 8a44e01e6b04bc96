//! Steps every PE in a thread of its own, and watches them from the thread that asked for the run.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use warpline_base::Moment;
use warpline_base::record::SpeculationSample;
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{MomentRow, Pe, Port, Step};
use warpline_memory::PoolFull;
use warpline_model::Model;
use warpline_transport::{RingPort, pin};

use super::quiet::{Quiet, last};
use super::{Driven, Watch};
use crate::drive::Log;

/// How often the PEs are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Idle steps before a PE lets another thread go first.
const PATIENCE: u32 = 64;

/// How a PE stands, for whoever watches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sight {
    pub(crate) gvt: f64,
    pub(crate) committed: u64,
    processed: u64,
    rolled_back: u64,
    window: f64,
    epochs: u64,
    depth: f64,
}

impl Sight {
    pub(crate) fn of<M: Model, Q: PendingSet, P: Port>(pe: &Pe<'_, M, Q, P>) -> Self {
        let counts = pe.counts();
        let gvt = match pe.verdict().map(|verdict| verdict.gvt) {
            None | Some(Moment::Init(_)) => 0.0,
            Some(Moment::Event(key)) => key.time.get(),
            Some(Moment::Finish(_) | Moment::Never) => f64::INFINITY,
        };
        Sight {
            gvt,
            committed: counts.committed,
            processed: counts.processed,
            rolled_back: counts.rolled_back,
            window: pe.window(),
            epochs: counts.gvt_epochs,
            depth: (counts.messages_received + counts.anti_received) as f64 / counts.receipts.max(1) as f64,
        }
    }

    /// How two sets of PEs stand together.
    pub(crate) fn and(self, other: Sight) -> Sight {
        Sight {
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

/// Where a PE's thread leaves what the watching thread wants to know. Locked once per GVT, and hardly ever by two at a time.
#[derive(Default)]
struct Board(Mutex<Posted>);

#[derive(Default)]
struct Posted {
    sight: Sight,
    /// All rows before this moment have been posted, and none of them will be taken back.
    settled: Option<Moment>,
    rows: Vec<MomentRow>,
}

/// Stops all threads: some PE cannot go on.
struct Stop<'s> {
    stop: &'s AtomicBool,
    /// What the first PE that panicked said.
    bug: &'s Mutex<String>,
    watcher: Thread,
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stop.store(true, Ordering::Relaxed);
            let mut bug = self.bug.lock().unwrap_or_else(PoisonError::into_inner);
            if bug.is_empty() {
                *bug = last();
            }
        }
        self.watcher.unpark();
    }
}

/// Steps PEs until all of them are done.
pub(crate) fn drive<M: Model, Q: PendingSet + Send>(pes: Vec<Pe<'_, M, Q, RingPort>>, mut watch: Watch<'_>) -> Driven<M> {
    let mut log = Log::new(watch.looped, watch.end, watch.report.take());
    let boards: Vec<Board> = pes.iter().map(|_| Board::default()).collect();
    let (stop, bug) = (AtomicBool::new(false), Mutex::default());
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let patience = if pes.len() > cores { 0 } else { PATIENCE };
    let (pes, full) = thread::scope(|scope| {
        let watcher = thread::current();
        // Threads that outnumber the processors are better off where there is room.
        let pinned = (2..=cores).contains(&pes.len());
        let work = |(number, (pe, board))| {
            let guard = Stop { stop: &stop, bug: &bug, watcher: watcher.clone() };
            scope.spawn(move || {
                if pinned {
                    pin(number);
                }
                work(pe, board, guard, patience)
            })
        };
        let workers: Vec<_> = pes.into_iter().zip(&boards).enumerate().map(work).collect();
        while !workers.iter().all(|worker| worker.is_finished()) {
            thread::park_timeout(LOOK_EVERY);
            look(&boards, &mut log, &mut watch);
        }
        let (mut pes, mut full) = (Vec::new(), None);
        for worker in workers {
            match worker.join() {
                Ok((pe, why)) => {
                    full = full.or(why.map(|why| (pe.position(), why)));
                    pes.push(pe);
                }
                Err(_) => panic!("a mistake of the engine: {}", bug.lock().unwrap_or_else(PoisonError::into_inner)),
            }
        }
        (pes, full)
    });
    for board in boards {
        watch.merge.add(board.0.into_inner().unwrap_or_else(PoisonError::into_inner).rows);
    }
    gather(pes, full, log, watch)
}

/// The loop of a thread.
fn work<'m, M: Model, Q: PendingSet>(
    mut pe: Pe<'m, M, Q, RingPort>,
    board: &Board,
    guard: Stop<'_>,
    patience: u32,
) -> (Pe<'m, M, Q, RingPort>, Option<PoolFull>) {
    let _quiet = Quiet::new();
    let (mut idle, mut epochs) = (0u32, 0);
    pe.begin_thread();
    loop {
        match pe.step() {
            Ok(Step::Worked) => idle = 0,
            Ok(Step::Idle) => {
                idle = idle.saturating_add(1);
                if idle < patience { std::hint::spin_loop() } else { thread::yield_now() }
            }
            Ok(Step::Finished | Step::Failed) => break,
            Err(full) => {
                guard.stop.store(true, Ordering::Relaxed);
                return (pe, Some(full));
            }
        }
        if pe.counts().gvt_epochs != epochs {
            epochs = pe.counts().gvt_epochs;
            post(&mut pe, board);
            // Relaxed: nothing else is passed on by it.
            if guard.stop.load(Ordering::Relaxed) {
                break;
            }
        } else if idle > patience && guard.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    (pe, None)
}

fn post<M: Model, Q: PendingSet, P: Port>(pe: &mut Pe<'_, M, Q, P>, board: &Board) {
    let mut posted = board.0.lock().unwrap_or_else(PoisonError::into_inner);
    posted.sight = Sight::of(pe);
    posted.settled = pe.settled();
    posted.rows.append(&mut pe.take_rows());
}

/// Looks at all boards.
fn look(boards: &[Board], log: &mut Log<'_>, watch: &mut Watch<'_>) {
    let (mut sight, mut settled) = (None, Some(Moment::Never));
    for board in boards {
        let mut posted = board.0.lock().unwrap_or_else(PoisonError::into_inner);
        watch.merge.add(std::mem::take(&mut posted.rows));
        sight = Some(sight.map_or(posted.sight, |sight: Sight| sight.and(posted.sight)));
        settled = settled.zip(posted.settled).map(|(a, b)| watch.merge.earlier(a, b));
    }
    if let Some(settled) = settled {
        watch.merge.emit_before(&settled, &mut watch.rows);
    }
    let sight = sight.unwrap_or_default();
    log.note_all(Instant::now(), sight.gvt.min(watch.end), sight.committed, Some(sight.sample()));
}

/// What PEs that are done leave behind.
pub(crate) fn gather<M: Model, Q: PendingSet, P: Port>(
    mut pes: Vec<Pe<'_, M, Q, P>>,
    full: Option<((warpline_base::LpId, f64, u64), PoolFull)>,
    log: Log<'_>,
    watch: Watch<'_>,
) -> Driven<M> {
    let Watch { looped, end, rows, mut merge, .. } = watch;
    let loop_seconds = looped.elapsed().as_secs_f64();
    let sight = pes.iter().map(Sight::of).reduce(Sight::and).unwrap_or_default();
    let failure = pes.first().and_then(|pe| pe.verdict()).map_or(Moment::Never, |verdict| verdict.failure);
    let committed = pes.iter().map(|pe| pe.committed_before(&failure)).sum();
    pes.iter_mut().for_each(|pe| merge.add(pe.take_rows()));
    let progress = log.finish(Instant::now(), end, committed, Some(sight.sample()));
    let parts = pes.into_iter().map(Pe::into_parts).collect();
    Driven { parts, failure, committed, full, progress, rows, merge, loop_seconds, window: sight.window }
}
