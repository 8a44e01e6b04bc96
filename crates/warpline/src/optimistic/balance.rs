//! Which thread steps which PE. Where there are more PEs than threads, PEs move while the run goes on: from threads that have much to do, or
//! whose core others use as well, to those that wait for them. No answer depends on it.
//!
//! The watching thread decides, by what it has measured since it last did, and the threads hand over the PEs.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use warpline_memory::Apart;

/// How much less the slowest thread must have to do for a PE to be moved.
const GAIN_LEAST: f64 = 0.1;
/// What is measured in less time than this is chance.
const MEASURED_LEAST: f64 = 5e6;

/// The threads of PEs, and PEs on their way to another thread; `T` is a PE with what its thread keeps of it.
pub(crate) struct Homes<T> {
    /// By PE: the thread that is to step it.
    homes: Vec<AtomicU32>,
    /// How often that has changed.
    changes: AtomicU32,
    threads: Vec<Apart<ThreadHome<T>>>,
}

/// What threads know of each other.
struct ThreadHome<T> {
    arriving: Mutex<Vec<T>>,
    /// Whether there are any.
    arrives: AtomicBool,
    /// How long it has been running on a core, and by the clock, in nanoseconds.
    on_core: AtomicU64,
    elapsed: AtomicU64,
}

impl<T> Homes<T> {
    /// At first, `share` PEs are at home in each of `threads`.
    pub(crate) fn new(pes: usize, threads: usize, share: usize) -> Self {
        let thread = || ThreadHome {
            arriving: Mutex::new(Vec::new()),
            arrives: AtomicBool::new(false),
            on_core: AtomicU64::new(0),
            elapsed: AtomicU64::new(0),
        };
        Homes {
            homes: (0..pes).map(|pe| AtomicU32::new((pe / share) as u32)).collect(),
            changes: AtomicU32::new(0),
            threads: (0..threads).map(|_| Apart(thread())).collect(),
        }
    }

    /// Whether PEs may move at all.
    pub(crate) fn may_move(&self) -> bool {
        self.threads.len() > 1 && self.homes.len() > self.threads.len()
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How often PEs have been given other homes.
    #[inline]
    pub(crate) fn changes(&self) -> u32 {
        self.changes.load(Ordering::Relaxed)
    }

    /// The thread that is to step a PE.
    pub(crate) fn of(&self, pe: usize) -> usize {
        self.homes[pe].load(Ordering::Relaxed) as usize
    }

    /// From now on a PE is at home in another thread.
    pub(crate) fn set(&self, pe: usize, thread: usize) {
        self.homes[pe].store(thread as u32, Ordering::Relaxed);
        self.changes.fetch_add(1, Ordering::Relaxed);
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

    /// Notes how long a thread has been running on a core, and by the clock.
    pub(crate) fn note_time(&self, thread: usize, on_core: Duration, elapsed: Duration) {
        let home = &self.threads[thread].0;
        home.on_core.store(on_core.as_nanos() as u64, Ordering::Relaxed);
        home.elapsed.store(elapsed.as_nanos() as u64, Ordering::Relaxed);
    }

    /// By thread: how long it has been running on a core, and by the clock, in nanoseconds.
    fn times(&self) -> Vec<(u64, u64)> {
        let times = |thread: &Apart<ThreadHome<T>>| (thread.0.on_core.load(Ordering::Relaxed), thread.0.elapsed.load(Ordering::Relaxed));
        self.threads.iter().map(times).collect()
    }

    /// The PEs that no thread has taken, once all threads have ended.
    pub(crate) fn into_arriving(self) -> impl Iterator<Item = T> {
        self.threads.into_iter().flat_map(|thread| thread.0.arriving.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a PE has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PeWork {
    /// How long it was at work, by the clock, in nanoseconds.
    pub(crate) busy: u64,
    pub(crate) processed: u64,
    pub(crate) committed: u64,
}

/// What the watching thread knew when it last decided.
#[derive(Debug)]
pub(crate) struct Balance {
    works: Vec<PeWork>,
    times: Vec<(u64, u64)>,
    /// By PE: its load, averaged over some time, as a single measurement is inexact.
    loads: Vec<f64>,
    /// How many PEs it has moved.
    pub(crate) moved: u64,
}

impl Balance {
    /// Nothing has been done.
    pub(crate) fn new(pes: usize, threads: usize) -> Self {
        Balance { works: vec![PeWork::default(); pes], times: vec![(0, 0); threads], loads: Vec::new(), moved: 0 }
    }

    /// Moves PEs if some threads have more to do than others.
    pub(crate) fn even_out<T>(&mut self, homes: &Homes<T>, works: Vec<PeWork>) {
        let times = homes.times();
        let loads: Vec<f64> = self.works.iter().zip(&works).map(|(before, now)| load(before, now)).collect();
        if loads.iter().sum::<f64>() < MEASURED_LEAST {
            return;
        }
        let speeds: Vec<f64> = self.times.iter().zip(&times).map(|(before, now)| speed(*before, *now)).collect();
        let mut seats: Vec<usize> = (0..works.len()).map(|pe| homes.of(pe)).collect();
        // A PE was measured by the clock, on a core that it may have shared.
        let loads = loads.iter().zip(&seats).map(|(load, thread)| load * speeds[*thread]);
        self.loads = match self.loads.is_empty() {
            true => loads.collect(),
            false => self.loads.iter().zip(loads).map(|(before, now)| 0.5 * (before + now)).collect(),
        };
        even_out(&mut seats, &self.loads, &speeds);
        for (pe, thread) in seats.into_iter().enumerate().filter(|(pe, thread)| homes.of(*pe) != *thread) {
            homes.set(pe, thread);
            self.moved += 1;
        }
        (self.works, self.times) = (works, times);
    }
}

/// How long what a PE has committed took: what is undone does not count, as a PE with little to do goes far ahead.
fn load(before: &PeWork, now: &PeWork) -> f64 {
    let (processed, committed) = (now.processed - before.processed, now.committed - before.committed);
    let useful = if processed == 0 { 1.0 } else { (committed as f64 / processed as f64).min(1.0) };
    (now.busy - before.busy) as f64 * useful
}

/// The share of a core that a thread was given.
fn speed(before: (u64, u64), now: (u64, u64)) -> f64 {
    let (on_core, elapsed) = (now.0 - before.0, now.1 - before.1);
    if elapsed == 0 { 1.0 } else { (on_core as f64 / elapsed as f64).clamp(0.05, 1.0) }
}

/// Moves PEs between threads, one at a time, as long as the slowest thread gains by it. `seats` has the thread of each PE.
fn even_out(seats: &mut [usize], loads: &[f64], speeds: &[f64]) {
    let mut times = vec![0.0; speeds.len()];
    for (pe, thread) in seats.iter().enumerate() {
        times[*thread] += loads[pe] / speeds[*thread];
    }
    for _ in 0..seats.len() {
        let Some((slowest, most)) = times.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        let after = |pe: usize, to: usize| (most - loads[pe] / speeds[slowest]).max(times[to] + loads[pe] / speeds[to]);
        let moves = (0..seats.len()).filter(|pe| seats[*pe] == slowest);
        let moves = moves.flat_map(|pe| (0..speeds.len()).filter(|to| *to != slowest).map(move |to| (pe, to)));
        let best = moves.map(|(pe, to)| (pe, to, after(pe, to))).min_by(|a, b| a.2.total_cmp(&b.2));
        let Some((pe, to, _)) = best.filter(|(.., after)| *after < (1.0 - GAIN_LEAST) * most) else { return };
        times[slowest] -= loads[pe] / speeds[slowest];
        times[to] += loads[pe] / speeds[to];
        seats[pe] = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The threads' times after evening out.
    fn evened(seats: &[usize], loads: &[f64], speeds: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let mut seats = seats.to_vec();
        even_out(&mut seats, loads, speeds);
        let mut times = vec![0.0; speeds.len()];
        seats.iter().zip(loads).for_each(|(thread, load)| times[*thread] += load / speeds[*thread]);
        (seats, times)
    }

    #[test]
    fn pes_move_to_threads_that_have_less_to_do() {
        let (seats, times) = evened(&[0, 0, 0, 0, 1, 1, 1, 1], &[9.0, 9.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0], &[1.0, 1.0]);
        assert!(times.iter().all(|time| *time <= 22.0), "{seats:?} {times:?}");
        let (seats, times) = evened(&[0, 0, 1, 1, 2, 2], &[5.0, 5.0, 1.0, 1.0, 1.0, 1.0], &[1.0; 3]);
        assert!(times.iter().all(|time| *time <= 5.0), "{seats:?}");
    }

    #[test]
    fn a_thread_that_shares_its_core_gets_less() {
        let (seats, times) = evened(&[0, 0, 0, 0, 1, 1, 1, 1], &[1.0; 8], &[1.0, 0.5]);
        assert!(times[0] <= 6.0 && times[1] <= 6.0, "{seats:?} {times:?}");
        let (seats, _) = evened(&[0, 0, 1], &[1.0; 3], &[1.0, 0.05]);
        assert_eq!(seats, [0; 3], "one that gets nothing keeps nothing");
    }

    #[test]
    fn what_gains_little_is_left_alone() {
        for (seats, loads) in [(&[0, 0, 1, 1][..], &[1.0, 1.05, 1.0, 1.0][..]), (&[0, 1, 1], &[9.0, 1.0, 1.0]), (&[0, 1], &[0.0, 0.0])] {
            assert_eq!(evened(seats, loads, &[1.0, 1.0]).0, seats);
        }
    }

    #[test]
    fn loads_are_those_of_committed_events_and_speeds_those_of_cores() {
        let before = PeWork { busy: 100, processed: 10, committed: 10 };
        assert_eq!(load(&before, &PeWork { busy: 300, processed: 50, committed: 20 }), 50.0);
        assert_eq!(load(&before, &PeWork { busy: 300, ..before }), 200.0);
        assert_eq!((speed((0, 0), (0, 0)), speed((10, 10), (20, 30)), speed((0, 0), (7, 6))), (1.0, 0.5, 1.0));
    }

    #[test]
    fn decisions_are_handed_to_the_threads() {
        let homes: Homes<&str> = Homes::new(4, 2, 2);
        assert!(homes.may_move() && !Homes::<u8>::new(2, 2, 1).may_move() && !Homes::<u8>::new(4, 1, 4).may_move());
        let (mut balance, work) = (Balance::new(4, 2), |busy| PeWork { busy, processed: 0, committed: 0 });
        balance.even_out(&homes, [4, 4, 1, 1].map(|millions| work(millions * 1_000_000)).to_vec());
        let seats: Vec<usize> = (0..4).map(|pe| homes.of(pe)).collect();
        assert_eq!((homes.changes(), balance.moved, seats.iter().filter(|thread| **thread == 0).count()), (2, 2, 2), "{seats:?}");
        homes.send(1, "a PE");
        assert_eq!((homes.receive(0), homes.receive(1), homes.receive(1)), (vec![], vec!["a PE"], vec![]));
        homes.send(0, "late");
        assert_eq!(homes.into_arriving().collect::<Vec<_>>(), ["late"]);
    }
}
