//! The search: several processes run one case after the other until time is up or one fails.
//!
//! **Repeatable.** Cases are numbered. When one fails, those with smaller numbers are finished, and
//! the smallest number that fails counts. So a seed finds the same failure however many processes
//! there are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpline_cases::{Answer, Case, Worker, Wrong};

use super::drawing::{Drawing, WAYS};
use super::fresh::{REFERENCE_LIMIT, compare, limit, reference};
use super::inside::start;
use super::tally::Tally;

/// A search is given up if so many groups of cases in a row are refused as a whole.
const REFUSED_MOST: u64 = 30;
/// Why nothing is compared with a sequential run that takes too long.
const SLOW: &str = "a sequential run takes more than a minute: give an earlier --end";
/// How often progress is shown.
const GLANCE: Duration = Duration::from_millis(200);

/// A search, which threads share.
pub(super) struct Search<'a> {
    pub(super) drawing: &'a Drawing,
    pub(super) parameters: &'a [String],
    pub(super) jobs: usize,
    /// Whether it goes on: there is time, and nobody has ended it.
    pub(super) goes_on: &'a (dyn Fn() -> bool + Sync),
}

/// What the search has found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) tally: Tally,
    /// Failures by the numbers of their cases.
    failures: BTreeMap<u64, (Case, Wrong)>,
    /// How often in a row whole groups were refused.
    refused: u64,
}

impl Found {
    /// The failure of the case with the smallest number, and that number.
    pub(super) fn first(self) -> (Tally, Option<(u64, Case, Wrong)>) {
        let first = self.failures.into_iter().next();
        (self.tally, first.map(|(number, (case, wrong))| (number, case, wrong)))
    }

    fn is_needless(&self, group: u64) -> bool {
        self.refused >= REFUSED_MOST
            || self.failures.keys().next().is_some_and(|first| group > first / WAYS)
    }
}

impl Search<'_> {
    /// Searches, and calls `show` with what was found so far now and then.
    pub(super) fn run(&self, mut show: impl FnMut(&Tally)) -> Found {
        let found = Mutex::new(Found::default());
        let next = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let work = || {
                let mut worker = Worker::new(start);
                while (self.goes_on)() {
                    // Relaxed: it only has to be a new number; it orders nothing else.
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if lock(&found).is_needless(group) {
                        break;
                    }
                    self.try_group(group, &mut worker, &found);
                }
            };
            let jobs: Vec<_> = (0..self.jobs).map(|_| scope.spawn(work)).collect();
            while jobs.iter().any(|job| !job.is_finished()) {
                std::thread::sleep(GLANCE);
                show(&lock(&found).tally);
            }
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one model with one seed to one end in several ways.
    fn try_group(&self, group: u64, worker: &mut Worker, found: &Mutex<Found>) {
        let model = self.drawing.group(group);
        let begun = Instant::now();
        let reference = reference(&model, self.parameters);
        let Some(expected) = worker.run_while(&reference, REFERENCE_LIMIT, self.goes_on) else {
            return;
        };
        let usual = begun.elapsed();
        lock(found).tally.references += 1;
        let refused = match &expected {
            Answer::Refused(why) => Some(why.clone()),
            Answer::Hung { .. } => Some(SLOW.to_owned()),
            _ => None,
        };
        if let Some(why) = refused {
            let mut found = lock(found);
            found.tally.refuse(why);
            found.refused += 1;
            return;
        }
        let mut are_refused = true;
        for way in 0..WAYS {
            let case = self.drawing.way(&model, group, way);
            let Some(answer) = worker.run_while(&case, limit(&case, usual), self.goes_on) else {
                return;
            };
            let mut found = lock(found);
            let outcome = compare(&expected, &answer);
            if let Answer::Refused(why) = answer {
                found.tally.refuse(why);
                continue;
            }
            are_refused = false;
            let done = if let Answer::Done(done) = answer { Some(done) } else { None };
            found.tally.add(&case, &self.drawing.fixed, done.as_deref());
            if let Err(wrong) = outcome {
                found.failures.insert(group * WAYS + way, (case, wrong));
                return;
            }
        }
        let mut found = lock(found);
        found.refused = if are_refused { found.refused + 1 } else { 0 };
    }
}

fn lock(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}
