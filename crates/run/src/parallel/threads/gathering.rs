//! Gives all PEs one thread where that is faster. PEs that find GVT for every few events spend
//! their time waiting for each other. With one thread each, an answer takes as long as the system
//! needs to switch threads; one thread that steps all PEs needs a fraction of a microsecond. So the
//! watching thread tries that, and keeps to it if more commits that way. No answer depends on it.
//!
//! Processes cannot share a thread. Without lookahead, conservative LPs in several processes cost
//! one GVT per event; the help says so, and nothing is done about it.

use std::time::{Duration, Instant};

use super::assignment::PeAssignment;
use crate::parallel::status::PeStatus;

/// With fewer events of a PE for each GVT than this, waiting may cost more than events.
const FEW: u64 = 16;
/// With more events of a PE for each GVT than this, PEs part again.
const MANY: u64 = 4 * FEW;
/// A measurement takes at least so many verdicts, or the events of as many.
const EPOCHS_LEAST: u64 = 16;
/// And at least so long, as a thread may be off its core for some milliseconds.
const MEASURED_LEAST: Duration = Duration::from_millis(80);
/// How many measurements pass after a trial that brought nothing until the next one; twice as many
/// after each further one.
const PAUSE_LEAST: u32 = 8;
/// How much more must commit while PEs share a thread.
const GAIN: f64 = 1.1;

/// What the watching thread knows, and what it has decided.
#[derive(Debug)]
pub(crate) struct Gathering {
    state: State,
    pause: u32,
    since: Option<(Instant, PeStatus)>,
    /// How often it has given PEs another thread.
    pub(crate) moved: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// PEs have their own threads, for so many more measurements at least.
    Apart { pause: u32 },
    /// They have just begun to share one. `apart`: events committed per second before that.
    Settling { apart: f64 },
    /// Whether sharing pays is being measured.
    Trial { apart: f64 },
    /// Sharing pays.
    Together,
}

/// What PEs did between two looks.
#[derive(Clone, Copy, Debug)]
struct Measured {
    committed: u64,
    epochs: u64,
    seconds: f64,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.committed as f64 / self.seconds.max(1e-9)
    }

    fn has_fewer_than(&self, events: u64, pes: u64) -> bool {
        self.committed < (events * pes).saturating_mul(self.epochs)
    }
}

impl Gathering {
    pub(crate) fn new() -> Self {
        Gathering { state: State::Apart { pause: 0 }, pause: PAUSE_LEAST, since: None, moved: 0 }
    }

    /// Notes what all PEs of this process have done so far, and has them share a thread, or part
    /// again, if that pays.
    pub(crate) fn look<T>(&mut self, now: Instant, status: PeStatus, assignment: &PeAssignment<T>) {
        let (since, before) = *self.since.get_or_insert((now, status));
        let measured = Measured {
            committed: status.committed - before.committed,
            epochs: status.epochs - before.epochs,
            seconds: (now - since).as_secs_f64(),
        };
        let was = self.state;
        let pes = assignment.pes() as u64;
        // A thread may have been off its core all the time.
        let is_known =
            measured.epochs >= EPOCHS_LEAST || measured.committed >= MANY * pes * EPOCHS_LEAST;
        if now - since < MEASURED_LEAST || !is_known {
            return;
        }
        self.since = Some((now, status));
        self.state = self.next(measured, pes);
        match (was, self.state) {
            (State::Apart { .. }, State::Settling { .. }) => self.moved += assignment.gather(),
            (State::Trial { .. } | State::Together, State::Apart { .. }) => {
                self.moved += assignment.part()
            }
            _ => {}
        }
    }

    fn next(&mut self, measured: Measured, pes: u64) -> State {
        match self.state {
            State::Apart { pause: 0 } if measured.has_fewer_than(FEW, pes) => {
                State::Settling { apart: measured.rate() }
            }
            State::Apart { pause } => State::Apart { pause: pause.saturating_sub(1) },
            State::Settling { apart } => State::Trial { apart },
            State::Trial { apart } if measured.rate() >= GAIN * apart => State::Together,
            State::Together if measured.has_fewer_than(MANY, pes) => State::Together,
            State::Trial { .. } | State::Together => {
                let pause = self.pause;
                self.pause = pause.saturating_mul(2);
                State::Apart { pause }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two PEs with a thread each, of which so many events commit per look, with so many verdicts.
    struct Run {
        assignment: PeAssignment<()>,
        gathering: Gathering,
        now: Instant,
        status: PeStatus,
    }

    impl Run {
        fn new() -> Self {
            Run {
                assignment: PeAssignment::new(2, 2, 1),
                gathering: Gathering::new(),
                now: Instant::now(),
                status: PeStatus::default(),
            }
        }

        /// Returns whether the PEs share a thread after each of some looks.
        fn looks(&mut self, looks: u32, work: impl Fn(bool) -> (u64, u64)) -> Vec<bool> {
            let look = |_| {
                let (committed, epochs) = work(self.assignment.are_gathered());
                self.status.committed += committed;
                self.status.epochs += epochs;
                self.now += MEASURED_LEAST;
                self.gathering.look(self.now, self.status, &self.assignment);
                assert_eq!(
                    self.assignment.of(0) == self.assignment.of(1),
                    self.assignment.are_gathered()
                );
                self.assignment.are_gathered()
            };
            (0..looks).map(look).collect()
        }
    }

    #[test]
    fn pes_that_find_gvt_for_every_event_share_a_thread_as_long_as_that_pays() {
        let mut run = Run::new();
        assert_eq!(
            run.looks(6, |gathered| if gathered { (2000, 2000) } else { (200, 200) }),
            [false, true, true, true, true, true]
        );
        // There is more to do for each GVT now.
        assert_eq!(run.looks(2, |_| (20_000, 100)), [false, false]);
        assert_eq!(run.gathering.moved, 2);
    }

    #[test]
    fn pes_part_where_sharing_brings_nothing_and_try_it_ever_more_rarely() {
        let mut run = Run::new();
        let looks = run.looks(200, |gathered| if gathered { (100, 100) } else { (190, 100) });
        let tried: Vec<usize> = (1..200).filter(|look| looks[*look] && !looks[look - 1]).collect();
        assert_eq!(tried.len(), 5, "{tried:?}");
        assert!(tried.windows(2).map(|pair| pair[1] - pair[0]).is_sorted(), "{tried:?}");
        assert!(looks.iter().filter(|gathered| **gathered).count() <= 2 * tried.len());
    }

    #[test]
    fn pes_with_much_to_do_for_each_gvt_are_left_alone() {
        for work in [(5000, 100), (100_000, 0), (10, 0), (0, 0)] {
            assert!(!Run::new().looks(50, |_| work).contains(&true), "{work:?}");
        }
    }
}
