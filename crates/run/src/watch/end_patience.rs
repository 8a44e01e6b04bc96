//! Runs that are to end early and come no further.

use std::time::{Duration, Instant};

/// For how long a run that is to end may come no further.
const PATIENCE: Duration = Duration::from_secs(3);
/// How many turns each of its threads must have had meanwhile, so that a slow handler or a machine
/// with much to do is no reason to give the run up.
const TURNS: u64 = 4;

/// Notices that a run which is to end comes no further: its PEs wait for each other, or go on and
/// on at one virtual time.
#[derive(Debug, Default)]
pub(crate) struct EndPatience<R> {
    last: Option<Last<R>>,
}

/// When the run last came further.
#[derive(Debug)]
struct Last<R> {
    when: Instant,
    reached: R,
    turns: Vec<u64>,
}

impl<R: PartialEq> EndPatience<R> {
    /// Takes a look at a run that is to end: how far it has come, and how many turns each of its
    /// threads has had.
    ///
    /// # Errors
    /// If it has come no further for too long: for how many seconds.
    pub(crate) fn look(&mut self, now: Instant, reached: R, turns: Vec<u64>) -> Result<(), u64> {
        match &self.last {
            Some(last) if last.reached == reached => {
                let waited = now - last.when;
                let all_had_turns =
                    turns.iter().zip(&last.turns).all(|(now, then)| *now >= then + TURNS);
                if waited >= PATIENCE && all_had_turns {
                    return Err(waited.as_secs());
                }
            }
            _ => self.last = Some(Last { when: now, reached, turns }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_whose_threads_all_go_on_and_that_comes_no_further_is_given_up() {
        let start = Instant::now();
        let mut patience = EndPatience::default();
        let mut look = |seconds, reached, turns: [u64; 2]| {
            patience.look(start + Duration::from_secs(seconds), reached, turns.to_vec()).is_err()
        };
        assert!(!look(0, 1, [0, 0]));
        assert!(!look(2, 1, [9, 9]), "too soon");
        assert!(!look(60, 1, [9, 1]), "a thread is within a handler");
        assert!(!look(90, 2, [9, 4]), "it has come further");
        assert!(!look(92, 2, [20, 20]));
        assert!(look(93, 2, [20, 20]));
    }
}
