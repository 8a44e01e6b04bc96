//! What the threads of PEs share with each other, and with the thread that watches them.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use warpline_kernel::MomentRow;
use warpline_memory::Apart;

use super::board::Board;
use super::guard::{ThreadGuard, WorkerGuard};
use crate::machine::core_time::CoreClock;
use crate::parallel::status::PeStatus;

/// What the threads of PEs share.
pub(super) struct Threads {
    /// By PE.
    pub(super) boards: Vec<Board>,
    /// By thread.
    pub(super) clocks: Vec<Apart<CoreClock>>,
    /// By thread: how many turns it has had, each of many rounds.
    turns: Vec<Apart<AtomicU64>>,
    /// How many rows are on the boards.
    pub(super) rows: AtomicUsize,
    /// How many threads have not ended.
    pub(super) left: AtomicUsize,
    /// Set to have all of them end.
    pub(super) stop: AtomicBool,
    /// The message of the first panic.
    pub(super) bug: Mutex<String>,
}

impl Threads {
    pub(super) fn new(pes: usize, threads: usize) -> Self {
        Threads {
            boards: (0..pes).map(|_| Board::default()).collect(),
            clocks: (0..threads).map(|_| Apart::default()).collect(),
            turns: (0..threads).map(|_| Apart::default()).collect(),
            rows: AtomicUsize::new(0),
            left: AtomicUsize::new(threads),
            stop: AtomicBool::new(false),
            bug: Mutex::default(),
        }
    }

    pub(super) fn have_ended(&self) -> bool {
        // Relaxed: a thread is joined before what it did is read.
        self.left.load(Ordering::Relaxed) == 0
    }

    pub(super) fn guard(&self) -> ThreadGuard<'_> {
        ThreadGuard { stop: &self.stop, bug: &self.bug }
    }

    /// The guard of a thread of PEs, watched by the current thread.
    pub(super) fn worker_guard(&self, number: usize) -> WorkerGuard<'_> {
        WorkerGuard {
            thread: self.guard(),
            left: &self.left,
            boards: &self.boards,
            clock: &self.clocks[number].0,
            turns: &self.turns[number].0,
            rows: &self.rows,
            watcher: thread::current(),
        }
    }

    /// How many turns each thread has had.
    pub(super) fn turns(&self) -> Vec<u64> {
        self.turns.iter().map(|turns| turns.0.load(Ordering::Relaxed)).collect()
    }

    /// The last rows of each PE.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Vec<MomentRow>> {
        let board = |board: Board| board.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.boards.into_iter().map(board).map(|notice| notice.rows)
    }

    /// The status of each PE.
    pub(super) fn statuses(&self) -> Vec<PeStatus> {
        self.boards
            .iter()
            .map(|board| board.0.lock().unwrap_or_else(PoisonError::into_inner).status)
            .collect()
    }
}
