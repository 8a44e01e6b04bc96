//! Windows: all PEs go in step.
//!
//! *The rule.* A window is what a PE executes before its horizon. When nothing is left there, it hands over all that it has sent, and publishes
//! its word for the round that ends the window: the time of its first pending event, or of the first that it has sent since its last
//! word, whichever is less. When it has found the words of all others for that round, the least of all words is the *floor*, the same
//! for all PEs, and its next horizon is the floor plus the least delay from any other PE. It files all that is in its mailbox then, and
//! executes the next window. The first window, which makes the LPs, has the horizon 0. (D. Nicol, "The cost of conservative synchronization
//! in parallel discrete event simulation", J. ACM 40(2), 1993.)
//!
//! *Why it is right.* Take the moments at which the PEs publish for one round. Whatever is still to happen then comes at the floor or
//! later: what is pending at a PE is covered by its own word, and a message on its way by its sender's, as it was sent since the sender's
//! last word. (One sent before was handed over before that word, found by its receiver on reading it, and filed.) So all that a PE
//! sends after it has published comes at the floor plus a delay or later; and what it sent before is in the mailbox of whoever has found
//! its word. A window may end at any time, with events left before the horizon, as the word covers them; and what GVT makes certain meanwhile
//! may be executed and sent before the next window, as it comes at the floor or later.
//!
//! *Why two registers are enough.* A PE that publishes for round k + 1 has found the words of all others for round k, so nobody asks for a word
//! of round k − 1 any more, whose register it takes.

use warpline_base::VirtualTime;

use crate::bound_word::{time_of, word};

/// Where a PE stands in the windows.
///
/// Invariant: it has found the words of all others for all rounds before `round`.
#[derive(Debug)]
pub(crate) struct Rounds {
    me: u32,
    pes: u32,
    /// The round that ends the window that is open, or whose words are awaited.
    round: u64,
    /// Whether this PE has published its word for it.
    published: bool,
    /// The words of all PEs before this one have been found.
    next: u32,
    /// The least of those, with that of this PE.
    least: VirtualTime,
}

impl Rounds {
    pub(crate) fn new(me: u32, pes: u32) -> Self {
        Rounds { me, pes, round: 1, published: false, next: 0, least: VirtualTime::ZERO }
    }

    /// Whether the PE has still to publish for the round.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        !self.published
    }

    /// Ends the window of a PE that has nothing to do before `least`, and tells the round and the word to publish.
    pub(crate) fn end_window(&mut self, least: VirtualTime) -> (u64, u64) {
        (self.published, self.next, self.least) = (true, 0, least);
        (self.round, word(least))
    }

    /// Looks for the words of other PEs, by PE and round. When all are found, the next window opens: returns the floor.
    #[inline]
    pub(crate) fn find(&mut self, mut find: impl FnMut(u32, u64) -> Option<u64>) -> Option<VirtualTime> {
        if !self.published {
            return None;
        }
        while self.next < self.pes {
            if self.next != self.me {
                self.least = self.least.min(time_of(find(self.next, self.round)?)?);
            }
            self.next += 1;
        }
        (self.round, self.published) = (self.round + 1, false);
        Some(self.least)
    }
}
