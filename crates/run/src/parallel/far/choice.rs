//! Chooses who works for couriers, where that is left to the engine, by a probe on the machines of
//! the run.
//!
//! The first process chooses, before the run, from what all have found: the share of their speed
//! that threads keep beside others, and how long MPI takes for a batch if all PEs call it and if
//! one does. All processes have to choose the same, as couriers are numbered across processes.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use warpline_base::random::mix64;
use warpline_transport::{CourierPlan, Group, Lost, Places};

use crate::Communication;

/// Threads that do nothing but communicate are worth it if PEs keep this share of their speed
/// beside them.
const KEPT: f64 = 0.9;
/// One PE sends for all if a batch takes this many times as long where all PEs send at the same
/// time, compared with what the one would need for all of them: more than 1, as it also has to take
/// over what the others send.
const LONGER: f64 = 1.25;
/// How long a measurement of speed takes.
const SPIN: Duration = Duration::from_millis(4);
/// How often it is repeated.
const ROUNDS: usize = 3;

/// Who communicates, and why.
#[derive(Serialize, Deserialize)]
pub(super) struct Decision {
    pub(super) by: Communication,
    pub(super) why: String,
}

/// What a process has found about threads that do nothing but communicate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Beside {
    /// Whether it has cores for them.
    has_cores: bool,
    /// The share of their speed that its PEs keep beside them.
    kept: f64,
}

/// How long a batch takes, in nanoseconds, if all PEs of a process send, and if one does.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Times {
    pes: usize,
    together: f64,
    alone: f64,
}

/// What all processes are to do, by what they find on their machines. `has_cores` says whether this
/// one has cores for threads that do nothing but communicate. All processes have to call it at the
/// same point.
///
/// # Errors
/// If a process is gone; within, if messages cannot be sent.
pub(super) fn choose(
    group: &mut Group,
    plan: &CourierPlan,
    has_cores: bool,
) -> Result<Result<Decision, String>, Lost> {
    group.meet()?;
    let pes = plan.places.local().len();
    let kept = if has_cores { kept(pes, plan.places.couriers as usize) } else { 0.0 };
    if let Some(decision) = group.decide(&Beside { has_cores, kept }, |found| dedicated(&found))? {
        return Ok(Ok(decision));
    }
    let most = (0..plan.places.first_pes.len() as u32 - 1)
        .map(|process| plan.places.pes_of(process).len())
        .max();
    if most == Some(1) {
        let why = "each process has one PE, and no core beside it".to_owned();
        return Ok(Ok(Decision { by: Communication::Distributed, why }));
    }
    let mut time = |couriers| -> Result<Result<f64, String>, Lost> {
        let plan =
            CourierPlan { places: Places { couriers, ..plan.places.clone() }, ..plan.clone() };
        group.meet()?;
        Ok(group.try_out(&plan)?.map(|time| time.as_nanos() as f64))
    };
    // Both, even if the first fails: others wait for this process.
    let together = time(u32::MAX)?;
    let alone = time(1)?;
    let times = together.and_then(|together| Ok(Times { pes, together, alone: alone? }));
    group.decide(&times, |found| {
        found.into_iter().collect::<Result<Vec<Times>, String>>().map(|times| worker_or_all(&times))
    })
}

/// Chooses threads that do nothing but communicate, if they are worth it in all processes.
fn dedicated(found: &[Beside]) -> Option<Decision> {
    if !found.iter().all(|process| process.has_cores) {
        return None;
    }
    let kept = found.iter().map(|process| process.kept).fold(f64::INFINITY, f64::min);
    let why = format!(
        "PEs kept {:.0} % of their speed beside such threads in a probe",
        100.0 * kept.min(1.0)
    );
    (kept >= KEPT).then_some(Decision { by: Communication::Dedicated, why })
}

/// Whether the first PE of a process is to send for all, or each for itself. The slowest process
/// decides.
fn worker_or_all(times: &[Times]) -> Decision {
    let by_one = |times: &Times| times.alone * times.pes as f64;
    let worst =
        times.iter().max_by(|a, b| (a.together / by_one(a)).total_cmp(&(b.together / by_one(b))));
    let Some(worst) = worst else {
        return Decision { by: Communication::Distributed, why: String::new() };
    };
    let [together, alone] = [worst.together, worst.alone].map(|time| time / 1e3);
    let why = format!(
        "no core is free beside those of PEs, and in a probe a batch took {together:.1} µs where \
         all sent and {alone:.1} µs where one did"
    );
    let by = if worst.together > LONGER * by_one(worst) {
        Communication::Worker
    } else {
        Communication::Distributed
    };
    Decision { by, why }
}

/// The share of their speed that so many threads keep beside `others` that are as busy.
fn kept(threads: usize, others: usize) -> f64 {
    // The best of several rounds: what disturbs a round says nothing about the next.
    let best = |others| (0..ROUNDS).map(|_| speed(threads, others)).fold(0.0, f64::max);
    best(others) / best(0)
}

/// How much so many threads do together, beside `others`.
fn speed(threads: usize, others: usize) -> f64 {
    let start = Barrier::new(threads + others);
    let work = || {
        start.wait();
        let began = Instant::now();
        let mut rounds = 0u64;
        while began.elapsed() < SPIN {
            black_box((0..1000).fold(rounds, mix_next));
            rounds += 1;
        }
        rounds
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads + others).map(|_| scope.spawn(work)).collect();
        all.into_iter().take(threads).map(|thread| thread.join().unwrap_or_default()).sum::<u64>()
            as f64
    })
}

fn mix_next(word: u64, next: u64) -> u64 {
    mix64(word ^ next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_communicate_need_cores_of_their_own_everywhere() {
        let decide = |found: &[(bool, f64)]| {
            let found: Vec<Beside> =
                found.iter().map(|&(has_cores, kept)| Beside { has_cores, kept }).collect();
            dedicated(&found)
        };
        let by = |found: &[(bool, f64)]| decide(found).map(|decision| decision.by);
        assert_eq!(by(&[(true, 0.97), (true, 1.02)]), Some(Communication::Dedicated));
        assert_eq!(by(&[(true, 0.97), (true, 0.5)]), None);
        assert_eq!(by(&[(true, 0.97), (false, 0.0)]), None);
        let decision = decide(&[(true, 1.3), (true, 0.912)]).unwrap();
        assert_eq!(decision.why, "PEs kept 91 % of their speed beside such threads in a probe");
    }

    #[test]
    fn one_pe_sends_for_all_only_if_they_hinder_each_other_by_far() {
        let times = |pes, together, alone| Times { pes, together, alone };
        let by = |all: &[Times]| worker_or_all(all).by;
        assert_eq!(by(&[times(4, 4000.0, 1000.0)]), Communication::Distributed);
        assert_eq!(by(&[times(4, 6000.0, 1000.0)]), Communication::Worker);
        assert_eq!(
            by(&[times(4, 1000.0, 1000.0), times(2, 3000.0, 1000.0)]),
            Communication::Worker,
            "the slowest decides"
        );
        let Decision { why, .. } =
            worker_or_all(&[times(2, 1000.0, 1000.0), times(2, 2250.0, 1500.0)]);
        assert!(
            why.ends_with("a batch took 2.2 µs where all sent and 1.5 µs where one did"),
            "{why}"
        );
    }
}
