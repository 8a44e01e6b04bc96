//! Which run is next.

use std::ops::Range;

/// The runs that have not been executed yet.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) next: Range<u32>,
    /// Runs for which memory was short beside others.
    pub(super) again: Vec<u32>,
    /// How many threads execute runs.
    pub(super) threads: u32,
}

impl Queue {
    /// The next run, and whether its thread is the only one; `None` if the thread is to end, as no
    /// run is left.
    pub(super) fn take(&mut self) -> Option<(u32, bool)> {
        let next = self.again.pop().or_else(|| self.next.next());
        if next.is_none() {
            self.threads -= 1;
        }
        next.map(|number| (number, self.threads == 1))
    }

    /// Takes back a run for which memory was short beside others. Returns whether its thread goes
    /// on, as it is the only one left; otherwise it is to end.
    pub(super) fn give_back(&mut self, number: u32) -> bool {
        self.again.push(number);
        let goes_on = self.threads == 1;
        self.threads -= u32::from(!goes_on);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_lacks_memory_is_executed_again_by_the_last_thread() {
        let mut queue = Queue { next: 0..3, again: Vec::new(), threads: 2 };
        assert_eq!((queue.take(), queue.take()), (Some((0, false)), Some((1, false))));
        assert!(!queue.give_back(1), "another thread goes on");
        assert_eq!(queue.take(), Some((1, true)));
        assert_eq!((queue.take(), queue.take(), queue.threads), (Some((2, true)), None, 0));
        // Both lack memory; and the last one does so when there are no others left.
        let mut queue = Queue { next: 0..2, again: Vec::new(), threads: 2 };
        let _ = (queue.take(), queue.take());
        assert!(!queue.give_back(0) && queue.give_back(1));
        assert_eq!(
            (queue.take(), queue.take(), queue.take()),
            (Some((1, true)), Some((0, true)), None)
        );
        let mut queue = Queue { next: 0..1, again: Vec::new(), threads: 2 };
        assert_eq!((queue.take(), queue.take()), (Some((0, false)), None));
        assert!(queue.give_back(0));
        assert_eq!(queue.take(), Some((0, true)));
    }
}
