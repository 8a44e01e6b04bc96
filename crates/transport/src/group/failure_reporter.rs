use std::thread::sleep;
use std::time::Duration;

use warpline_memory::{Common, Region, SpinLock};

use crate::Tally;

/// The counter of a group that says that all are to end.
pub(super) const STOPPED: usize = 0;
/// The longest failure report, in bytes.
const WORDS: usize = 2000;
/// How often a process tries to lock its report, and how long it waits in between.
const TRIES: u32 = 100;
const TRY_EVERY: Duration = Duration::from_millis(1);

/// The length of a report, and its bytes, in pieces short enough to be plain data.
type Report = (u32, [[u8; 50]; WORDS / 50]);

/// By process, of those that share memory: why its run has failed.
#[derive(Clone, Debug)]
pub(super) struct FailureReports(Common<[SpinLock<Report>]>);

impl FailureReports {
    pub(super) fn place(region: &Region, processes: usize) -> Self {
        FailureReports(region.place_list(processes, |_| SpinLock::new((0, [[0; 50]; WORDS / 50]))))
    }

    fn say(&self, number: u32, text: &str) {
        let mut end = text.len().min(WORDS);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // A process that is killed while it reads a report leaves it locked for good.
        let mut tries = (0..TRIES).inspect(|tried| {
            if *tried > 0 {
                sleep(TRY_EVERY);
            }
        });
        let Some(mut report) = tries.find_map(|_| self.0[number as usize].try_lock()) else {
            return;
        };
        let (length, bytes) = &mut *report;
        *length = end as u32;
        bytes.as_flattened_mut()[..end].copy_from_slice(&text.as_bytes()[..end]);
    }

    /// What a process has said, if anything.
    pub(super) fn of(&self, number: u32) -> Option<String> {
        // A process that is killed while it writes its report has said nothing.
        let report = self.0[number as usize].try_lock()?;
        let (length, bytes) = &*report;
        let text = String::from_utf8_lossy(&bytes.as_flattened()[..*length as usize]).into_owned();
        (*length > 0).then_some(text)
    }
}

/// Tells the other processes, from any thread, that the run of this one has failed.
#[derive(Clone, Debug)]
pub struct FailureReporter {
    /// Its number among those near.
    number: u32,
    counters: Tally,
    reports: FailureReports,
}

impl FailureReporter {
    /// For the process with this number among those near.
    pub(super) fn new(number: u32, counters: Tally, reports: FailureReports) -> Self {
        FailureReporter { number, counters, reports }
    }

    /// Leaves the failure report of this process, which the first process passes on.
    pub fn say(&self, text: &str) {
        self.reports.say(self.number, text);
    }

    /// Tells all processes to end.
    pub fn stop(&self) {
        self.counters.say(STOPPED, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_report_ends_between_two_characters() {
        let reports = FailureReports::place(&Region::own(), 2);
        reports.say(1, &format!("a{}", "é".repeat(WORDS)));
        assert_eq!(reports.of(0), None);
        assert_eq!(reports.of(1).unwrap(), format!("a{}", "é".repeat(WORDS / 2 - 1)));
    }

    #[test]
    fn a_report_that_stays_locked_is_given_up() {
        let reports = FailureReports::place(&Region::own(), 1);
        let guard = reports.0[0].lock();
        reports.say(0, "oh no");
        drop(guard);
        assert_eq!(reports.of(0), None);
    }
}
