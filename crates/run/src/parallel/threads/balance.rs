//! Where there are more PEs than threads, PEs move while the run goes on: from threads that have
//! much to do, or whose core others use as well, to threads that wait for them. No answer depends
//! on it.
//!
//! Every 40 ms the watching thread looks how long the PEs were at work, per committed event, and
//! which share of a core each thread was given since the last look. It gives PEs new threads if the
//! slowest thread gains a tenth by it, and the threads hand the PEs over. Of short rounds one in
//! four is timed, so that this costs next to nothing.

use super::assignment::PeAssignment;
use crate::machine::core_time::CoreTime;
use crate::parallel::status::PeStatus;

/// A PE is moved if the slowest thread then has less to do by at least this share.
const GAIN_LEAST: f64 = 0.1;
/// What is measured in less time than this, in nanoseconds, is chance.
const MEASURED_LEAST: f64 = 5e6;
/// The least share of a core: a thread that is given none for a moment will be given one again.
const SHARE_LEAST: f64 = 0.05;

/// What the watching thread knew when it last decided.
#[derive(Debug)]
pub(crate) struct Balance {
    statuses: Vec<PeStatus>,
    times: Vec<CoreTime>,
    /// By PE: its load, averaged over some time, as a single measurement is inexact.
    loads: Vec<f64>,
    /// How many PEs it has moved.
    pub(crate) moved: u64,
}

impl Balance {
    /// At the beginning, when nothing has been measured.
    pub(crate) fn new(pes: usize, threads: usize) -> Self {
        Balance {
            statuses: vec![PeStatus::default(); pes],
            times: vec![CoreTime::default(); threads],
            loads: Vec::new(),
            moved: 0,
        }
    }

    /// Moves PEs if some threads have more to do than others.
    pub(crate) fn even_out<T>(
        &mut self,
        assignment: &PeAssignment<T>,
        statuses: Vec<PeStatus>,
        times: Vec<CoreTime>,
    ) {
        let loads: Vec<f64> = self
            .statuses
            .iter()
            .zip(&statuses)
            .map(|(before, now)| now.load_since(before))
            .collect();
        if loads.iter().sum::<f64>() < MEASURED_LEAST {
            return;
        }
        let speeds: Vec<f64> = self
            .times
            .iter()
            .zip(&times)
            .map(|(before, now)| now.share_since(*before).max(SHARE_LEAST))
            .collect();
        let mut thread_of: Vec<usize> = (0..statuses.len()).map(|pe| assignment.of(pe)).collect();
        // A PE was measured by the clock, on a core that it may have shared.
        let loads = loads.iter().zip(&thread_of).map(|(load, thread)| load * speeds[*thread]);
        self.loads = match self.loads.is_empty() {
            true => loads.collect(),
            false => {
                self.loads.iter().zip(loads).map(|(before, now)| 0.5 * (before + now)).collect()
            }
        };
        even_out(&mut thread_of, &self.loads, &speeds);
        for (pe, thread) in
            thread_of.into_iter().enumerate().filter(|(pe, thread)| assignment.of(*pe) != *thread)
        {
            assignment.set(pe, thread);
            self.moved += 1;
        }
        self.statuses = statuses;
        self.times = times;
    }
}

/// Moves PEs between threads, one at a time, as long as the slowest thread gains by it. `thread_of`
/// has the thread of each PE.
fn even_out(thread_of: &mut [usize], loads: &[f64], speeds: &[f64]) {
    let mut times = vec![0.0; speeds.len()];
    for (pe, thread) in thread_of.iter().enumerate() {
        times[*thread] += loads[pe] / speeds[*thread];
    }
    for _ in 0..thread_of.len() {
        let Some((slowest, most)) =
            times.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
        else {
            return;
        };
        let after = |pe: usize, to: usize| {
            (most - loads[pe] / speeds[slowest]).max(times[to] + loads[pe] / speeds[to])
        };
        let moves = (0..thread_of.len()).filter(|pe| thread_of[*pe] == slowest);
        let moves = moves
            .flat_map(|pe| (0..speeds.len()).filter(|to| *to != slowest).map(move |to| (pe, to)));
        let best = moves.map(|(pe, to)| (pe, to, after(pe, to))).min_by(|a, b| a.2.total_cmp(&b.2));
        let Some((pe, to, _)) = best.filter(|(.., after)| *after < (1.0 - GAIN_LEAST) * most)
        else {
            return;
        };
        times[slowest] -= loads[pe] / speeds[slowest];
        times[to] += loads[pe] / speeds[to];
        thread_of[pe] = to;
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
        let (seats, times) = evened(
            &[0, 0, 0, 0, 1, 1, 1, 1],
            &[9.0, 9.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0],
            &[1.0, 1.0],
        );
        assert!(times.iter().all(|time| *time <= 22.0), "{seats:?} {times:?}");
        let (seats, times) =
            evened(&[0, 0, 1, 1, 2, 2], &[5.0, 5.0, 1.0, 1.0, 1.0, 1.0], &[1.0; 3]);
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
        for (seats, loads) in [
            (&[0, 0, 1, 1][..], &[1.0, 1.05, 1.0, 1.0][..]),
            (&[0, 1, 1], &[9.0, 1.0, 1.0]),
            (&[0, 1], &[0.0, 0.0]),
        ] {
            assert_eq!(evened(seats, loads, &[1.0, 1.0]).0, seats);
        }
    }

    #[test]
    fn pes_get_new_homes() {
        let homes: PeAssignment<&str> = PeAssignment::new(4, 2, 2);
        let mut balance = Balance::new(4, 2);
        let work = |busy| PeStatus { busy, ..PeStatus::default() };
        balance.even_out(
            &homes,
            [4, 4, 1, 1].map(|millions| work(millions * 1_000_000)).to_vec(),
            vec![CoreTime::default(); 2],
        );
        let seats: Vec<usize> = (0..4).map(|pe| homes.of(pe)).collect();
        assert_eq!(
            (homes.changes(), balance.moved, seats.iter().filter(|thread| **thread == 0).count()),
            (2, 2, 2),
            "{seats:?}"
        );
    }
}
