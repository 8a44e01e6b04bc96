//! What a thread tells all others when it ends, even by a panic, and what it tells its watcher
//! meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use warpline_kernel::{ROWS, last_panic};
use warpline_memory::MakeRoom;

use super::board::Board;
use crate::machine::core_time::CoreClock;
use crate::parallel::any_pe::AnyPe;
use crate::parallel::ending::Ending;
use crate::parallel::status::PeStatus;

/// With more rows than this on the boards, PEs wait until the watcher has taken them.
const ROWS_MOST: usize = 1 << 15;
/// How long a thread waits before it looks again.
pub(super) const WAIT: Duration = Duration::from_millis(1);

/// Guards any thread of a run: all others wait for it, and have to stop if it panics.
pub(crate) struct ThreadGuard<'s> {
    /// Set to stop all threads when one cannot go on.
    pub(crate) stop: &'s AtomicBool,
    /// The message of the first panic.
    pub(crate) bug: &'s Mutex<String>,
}

impl ThreadGuard<'_> {
    pub(crate) fn stop_all(&self) {
        // Relaxed: it publishes nothing else.
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for ThreadGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stop_all();
            let mut bug = self.bug.lock().unwrap_or_else(PoisonError::into_inner);
            if bug.is_empty() {
                *bug = last_panic();
            }
        }
    }
}

/// What a thread of PEs shares with the watcher and other threads. Dropping it tells them that the
/// thread has ended, even by a panic.
pub(crate) struct WorkerGuard<'s> {
    pub(crate) thread: ThreadGuard<'s>,
    /// How many threads are still running.
    pub(crate) left: &'s AtomicUsize,
    /// By PE.
    pub(crate) boards: &'s [Board],
    /// Where the thread tells how long it has been on a core.
    pub(crate) clock: &'s CoreClock,
    /// How many turns the thread has had.
    pub(crate) turns: &'s AtomicU64,
    /// How many rows are on the boards.
    pub(crate) rows: &'s AtomicUsize,
    pub(crate) watcher: Thread,
}

impl WorkerGuard<'_> {
    /// Posts the progress and the rows of a PE on its board. It was `busy` for so many nanoseconds.
    pub(super) fn post(&self, number: usize, pe: &mut dyn AnyPe, busy: u64) {
        let mut rows = pe.take_rows();
        // Counted first, as the watcher subtracts what it finds.
        let waiting = self.rows.fetch_add(rows.len(), Ordering::Relaxed) + rows.len();
        let mut notice = self.boards[number].0.lock().unwrap_or_else(PoisonError::into_inner);
        notice.status = PeStatus::of(pe);
        notice.status.busy = busy;
        notice.settled = pe.settled();
        notice.rows.make_room(rows.len(), ROWS);
        notice.rows.append(&mut rows);
        drop(notice);
        if waiting > ROWS_MOST / 2 {
            self.watcher.unpark();
        }
    }

    /// Notes that the thread has had a turn.
    pub(super) fn note_turn(&self) {
        // Relaxed: it publishes nothing else.
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits while there are too many rows on the boards. The watcher takes all of them at once
    /// when it has passed on the previous ones, whatever the PEs do: so few rows wait at any time,
    /// and no thread waits for ever. No thread waits when all PEs are done, either, as the watcher
    /// of another process may then wait for this thread. Returns how long it waited.
    pub(super) fn wait_for_watcher(&self, ending: &Ending<'_>) -> Duration {
        let mut since = None;
        let too_many = || {
            self.rows.load(Ordering::Relaxed) > ROWS_MOST
                && !self.thread.stop.load(Ordering::Relaxed)
        };
        while too_many() && !ending.all_over() {
            since.get_or_insert_with(Instant::now);
            thread::sleep(WAIT);
        }
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Drop for WorkerGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            // Before the watcher finds that it has ended.
            self.thread.stop_all();
        }
        // Relaxed: the watcher joins the thread before it looks at what it did.
        self.left.fetch_sub(1, Ordering::Relaxed);
        self.watcher.unpark();
    }
}
