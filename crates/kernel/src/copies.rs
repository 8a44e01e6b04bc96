use warpline_memory::list_of;

/// How a PE undoes events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// By a copy of the state before every `interval`-th event of an LP; in between, by executing events again from the last copy.
    Copy {
        /// At least 1.
        interval: u32,
    },
    /// By the model's reverse code. States are still copied now and then, for events that fail: reverse code cannot undo those.
    Reverse,
    /// By a log of what they have changed, which undoes events that fail as well: nothing is ever copied.
    Journal,
}

/// Where not every event has a copy of its own, a copy further back in the history than this is useless.
const LAG: u64 = 1024;
/// With reverse code, the state of an LP is copied once in this many of its events, in case one fails.
const RARELY: u32 = 64;

impl Undoing {
    /// How many places of the history are kept, for their copies, behind the first that may be undone.
    pub(crate) fn lag(self) -> u64 {
        if matches!(self, Undoing::Copy { interval: 1 } | Undoing::Journal) { 0 } else { LAG }
    }
}

/// Decides when states are copied, for PEs that do not copy before every event.
#[derive(Debug)]
pub(crate) struct Copies {
    /// The number of events of an LP between copies; 0 if there are none.
    every: u32,
    /// By LP; empty if states are copied before every event, or never.
    last: Vec<LastCopy>,
}

#[derive(Clone, Copy, Debug)]
struct LastCopy {
    /// Its place in the history.
    place: u64,
    /// Events executed since.
    since: u32,
}

impl Copies {
    pub(crate) fn new(undoing: Undoing, lps: usize) -> Self {
        let every = match undoing {
            Undoing::Copy { interval } => interval,
            Undoing::Reverse => RARELY,
            Undoing::Journal => 0,
        };
        let none = LastCopy { place: 0, since: u32::MAX };
        let last = list_of(none, if undoing.lag() == 0 { 0 } else { lps }, "what is noted about copies of states");
        Copies { every, last }
    }

    /// How much memory the table takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<LastCopy>() * self.last.capacity()
    }

    /// Whether the state of an LP is copied before an event whose place in the history will be `place`.
    #[inline]
    pub(crate) fn is_due(&self, lp: usize, place: u64) -> bool {
        let is_due_since = |last: LastCopy| last.since >= self.every - 1 || place - last.place >= LAG;
        self.every == 1 || self.every > 1 && is_due_since(self.last[lp])
    }

    /// Notes that an event was executed, with a copy or without.
    #[inline]
    pub(crate) fn executed(&mut self, lp: usize, place: u64, copied: bool) {
        if let Some(last) = self.last.get_mut(lp) {
            *last = if copied { LastCopy { place, since: 0 } } else { LastCopy { since: last.since + 1, ..*last } };
        }
    }

    /// Makes sure that the state of an LP is copied before its next event.
    pub(crate) fn soon(&mut self, lp: usize) {
        if let Some(last) = self.last.get_mut(lp) {
            last.since = u32::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Undoing = Undoing::Copy { interval: 3 };

    /// Executes an event of LP 0 at a place, and returns whether the state was copied before it.
    fn execute(copies: &mut Copies, place: u64) -> bool {
        let due = copies.is_due(0, place);
        copies.executed(0, place, due);
        due
    }

    #[test]
    fn states_are_copied_at_intervals() {
        for (undoing, every) in [(Undoing::Copy { interval: 1 }, 1), (INTERVAL, 3), (Undoing::Reverse, 64)] {
            let mut copies = Copies::new(undoing, 2);
            for number in 0..200 {
                assert_eq!(execute(&mut copies, 1 + number), number.is_multiple_of(every), "{undoing:?}, event {number}");
            }
            // Each LP has a count of its own.
            assert!(copies.is_due(1, 201));
        }
    }

    #[test]
    fn where_changes_are_logged_nothing_is_copied() {
        let mut copies = Copies::new(Undoing::Journal, 2);
        copies.soon(0);
        assert!((1..2 * LAG).all(|place| !execute(&mut copies, place)));
        assert_eq!(Undoing::Journal.lag(), 0);
    }

    #[test]
    fn states_are_copied_before_the_last_copy_is_reclaimed() {
        let mut copies = Copies::new(Undoing::Copy { interval: 1_000_000 }, 1);
        assert!(execute(&mut copies, 1));
        assert!(!execute(&mut copies, LAG) && execute(&mut copies, LAG + 1));
        assert!(!execute(&mut copies, 2 * LAG) && execute(&mut copies, 2 * LAG + 1));
    }

    #[test]
    fn the_next_copy_can_be_brought_forward() {
        let mut copies = Copies::new(INTERVAL, 1);
        let copied = [0, 1, 2, 3, 4, 5].map(|place| {
            if place == 1 {
                copies.soon(0);
            }
            execute(&mut copies, place)
        });
        assert_eq!(copied, [true, true, false, false, true, false]);
    }

    #[test]
    fn copies_are_kept_only_where_a_state_may_be_worked_out_from_them() {
        assert_eq!((Undoing::Copy { interval: 1 }).lag(), 0);
        assert!([Undoing::Copy { interval: 2 }, Undoing::Reverse].into_iter().all(|undoing| undoing.lag() == LAG));
    }
}
