//! Which thread steps which PE, where PEs move while the run goes on, and PEs on their way from one
//! to another.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use warpline_memory::Apart;

/// The threads of PEs, and PEs on their way to another thread; `T` is a PE with what its thread
/// keeps of it.
pub(crate) struct PeAssignment<T> {
    /// By PE: the thread that is to step it.
    thread_of: Vec<AtomicU32>,
    /// How often that has changed.
    changes: AtomicU32,
    /// How many PEs each thread has at first.
    share: usize,
    /// Whether all PEs share one thread.
    gathered: AtomicBool,
    threads: Vec<Apart<ThreadHome<T>>>,
}

/// Where PEs arrive that are sent to a thread.
struct ThreadHome<T> {
    arriving: Mutex<Vec<T>>,
    /// Whether there are any.
    arrives: AtomicBool,
}

impl<T> PeAssignment<T> {
    /// At first, each of `threads` has `share` PEs.
    pub(crate) fn new(pes: usize, threads: usize, share: usize) -> Self {
        let thread =
            || ThreadHome { arriving: Mutex::new(Vec::new()), arrives: AtomicBool::new(false) };
        PeAssignment {
            thread_of: (0..pes).map(|pe| AtomicU32::new((pe / share) as u32)).collect(),
            changes: AtomicU32::new(0),
            share,
            gathered: AtomicBool::new(false),
            threads: (0..threads).map(|_| Apart(thread())).collect(),
        }
    }

    /// Whether moving single PEs can help.
    pub(crate) fn may_move(&self) -> bool {
        self.threads.len() > 1 && self.thread_of.len() > self.threads.len()
    }

    /// Whether each thread has one PE at first.
    pub(crate) fn is_one_each(&self) -> bool {
        self.share == 1
    }

    /// How many PEs there are.
    pub(crate) fn pes(&self) -> usize {
        self.thread_of.len()
    }

    /// Has all PEs share the first thread. Returns how many are given to another one.
    pub(crate) fn gather(&self) -> u64 {
        self.gathered.store(true, Ordering::Relaxed);
        self.set_all(|_| 0)
    }

    /// Gives all PEs the threads that they had at first. Returns how many are given to another one.
    pub(crate) fn part(&self) -> u64 {
        self.gathered.store(false, Ordering::Relaxed);
        self.set_all(|pe| pe / self.share)
    }

    fn set_all(&self, thread: impl Fn(usize) -> usize) -> u64 {
        let moved = (0..self.thread_of.len()).filter(|pe| self.of(*pe) != thread(*pe));
        moved.map(|pe| self.set(pe, thread(pe))).count() as u64
    }

    /// Whether all PEs share a thread, or are on their way to it.
    pub(crate) fn are_gathered(&self) -> bool {
        self.gathered.load(Ordering::Relaxed)
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How often PEs have been given other threads.
    #[inline]
    pub(crate) fn changes(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }

    /// The thread that is to step a PE.
    pub(crate) fn of(&self, pe: usize) -> usize {
        self.thread_of[pe].load(Ordering::Relaxed) as usize
    }

    /// Assigns a PE to another thread.
    pub(crate) fn set(&self, pe: usize, thread: usize) {
        self.thread_of[pe].store(thread as u32, Ordering::Relaxed);
        // Release pairs with the Acquire of `changes`: publishes the assignment.
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Hands a PE to a thread.
    pub(crate) fn send(&self, thread: usize, pe: T) {
        let home = &self.threads[thread].0;
        home.arriving.lock().unwrap_or_else(PoisonError::into_inner).push(pe);
        home.arrives.store(true, Ordering::Release);
    }

    /// The PEs that have arrived at a thread.
    #[inline]
    pub(crate) fn receive(&self, thread: usize) -> Vec<T> {
        let home = &self.threads[thread].0;
        if !home.arrives.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut arriving = home.arriving.lock().unwrap_or_else(PoisonError::into_inner);
        home.arrives.store(false, Ordering::Relaxed);
        std::mem::take(&mut arriving)
    }

    /// The PEs that no thread has taken, once all threads have ended.
    pub(crate) fn into_arriving(self) -> impl Iterator<Item = T> {
        self.threads.into_iter().flat_map(|thread| {
            thread.0.arriving.into_inner().unwrap_or_else(PoisonError::into_inner)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_arrive_where_they_are_sent() {
        assert!(
            PeAssignment::<u8>::new(4, 2, 2).may_move()
                && !PeAssignment::<u8>::new(2, 2, 1).may_move()
                && !PeAssignment::<u8>::new(4, 1, 4).may_move()
        );
        let assignment: PeAssignment<&str> = PeAssignment::new(4, 2, 2);
        assignment.set(0, 1);
        assert_eq!(
            ((0..4).map(|pe| assignment.of(pe)).collect::<Vec<_>>(), assignment.changes()),
            (vec![1, 0, 1, 1], 1)
        );
        assignment.send(1, "a PE");
        assert_eq!(
            (assignment.receive(0), assignment.receive(1), assignment.receive(1)),
            (vec![], vec!["a PE"], vec![])
        );
        assignment.send(0, "late");
        assert_eq!(assignment.into_arriving().collect::<Vec<_>>(), ["late"]);
    }
}
