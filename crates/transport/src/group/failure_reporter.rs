use std::thread::sleep;
use std::time::Duration;

use warpline_memory::{Common, Region, SpinLock};

use crate::Tally;

/// The place, among the counters of a group, of the one that says that all are to end.
pub(super) const STOPPED: usize = 0;
/// The longest failure report, in bytes.
const WORDS: usize = 2000;
/// How often, and after how long each time, a process that cannot speak tries again.
const TRIES: u32 = 100;
const TRY_EVERY: Duration = Duration::from_millis(1);

/// How many bytes there are, and the bytes, in pieces short enough to be plain data.
type Words = (u32, [[u8; 50]; WORDS / 50]);

/// What processes that share memory have said before they ended, by process.
#[derive(Clone, Debug)]
pub(super) struct FailureReporter(Common<[SpinLock<Words>]>);

impl FailureReporter {
    pub(super) fn place(region: &Region, processes: usize) -> Self {
        FailureReporter(region.place_list(processes, |_| SpinLock::new((0, [[0; 50]; WORDS / 50]))))
    }

    fn say(&self, number: u32, text: &str) {
        let mut end = text.len().min(WORDS);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // A process that is killed while it listens lets nobody speak any more, and would let
        // nobody else hear it.
        let mut tries = (0..TRIES).inspect(|tried| {
            if *tried > 0 {
                sleep(TRY_EVERY);
            }
        });
        let Some(mut words) = tries.find_map(|_| self.0[number as usize].try_lock()) else {
            return;
        };
        words.0 = end as u32;
        words.1.as_flattened_mut()[..end].copy_from_slice(&text.as_bytes()[..end]);
    }

    /// What a process has said, if anything.
    pub(super) fn of(&self, number: u32) -> Option<String> {
        // A process that is killed while it speaks has said nothing.
        let words = self.0[number as usize].try_lock()?;
        let text =
            String::from_utf8_lossy(&words.1.as_flattened()[..words.0 as usize]).into_owned();
        (words.0 > 0).then_some(text)
    }
}

/// What a process says to others when its run has failed, from whatever thread.
#[derive(Clone, Debug)]
pub struct FailureReport {
    /// Its number among those near.
    number: u32,
    counters: Tally,
    reporter: FailureReporter,
}

impl FailureReport {
    /// For the process with this number among those near.
    pub(super) fn new(number: u32, counters: Tally, reporter: FailureReporter) -> Self {
        FailureReport { number, counters, reporter }
    }

    /// The failure report of this process. The first process passes them on.
    pub fn say(&self, text: &str) {
        self.reporter.say(self.number, text);
    }

    /// All processes are to end.
    pub fn stop(&self) {
        self.counters.say(STOPPED, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_report_ends_between_two_characters() {
        let words = FailureReporter::place(&Region::own(), 2);
        words.say(1, &format!("a{}", "é".repeat(WORDS)));
        assert_eq!(words.of(0), None);
        assert_eq!(words.of(1).unwrap(), format!("a{}", "é".repeat(WORDS / 2 - 1)));
    }

    #[test]
    fn who_is_not_heard_does_not_wait_for_ever() {
        let words = FailureReporter::place(&Region::own(), 1);
        let listens = words.0[0].lock();
        words.say(0, "oh no");
        drop(listens);
        assert_eq!(words.of(0), None);
    }
}
