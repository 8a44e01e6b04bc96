//! Windows: all PEs advance in step.
//!
//! *The rule.* A window is what a PE executes before its horizon. When nothing is left there, the
//! PE hands over everything it has sent and publishes its bound for the round that ends the window:
//! the time of its first pending event, or the earliest time of an event that it has sent since its
//! last bound, whichever is less. Once it has found the bounds of all others for that round, the
//! least of all bounds is the *floor*, which is the same for all PEs, and its next horizon is the
//! floor plus the least delay from any other PE. It files everything in its mailbox and executes
//! the next window. In the first window, whose horizon is 0, LPs are initialised. (D. Nicol, "The
//! cost of conservative synchronization in parallel discrete event simulation", J. ACM 40(2),
//! 1993.)
//!
//! *Why it is right.* Consider the moments at which the PEs publish for one round. Everything that
//! has yet to happen then comes at or after the floor: what is pending at a PE is covered by its
//! own bound, and a message in transit by its sender's bound, as it was sent after the sender's
//! previous bound. (A message sent before that bound was also handed over before it, and its
//! receiver filed it on finding the bound.) So whatever a PE sends after it has published comes at
//! or after the floor plus a delay, and whatever it sent before is in the mailbox of any PE that
//! has found its bound. A window may end at any time, even with events left before the horizon, as
//! the bound covers them. Events that GVT makes certain in the meantime may be executed before the
//! next window opens, as they come at or after the floor.
//!
//! *Why two registers are enough.* A PE that publishes for round k + 1 has found the bounds of all
//! others for round k. So each of them had published for round k, and before that had found all
//! bounds for round k − 1. Nobody needs the register of round k − 1 any more, and round k + 1
//! reuses it.
//!
//! *When windows pay.* Free-running PEs profit from long delays between some of them, and from work
//! that moves about. But they read all bounds at every step, and execute only a few events at a
//! time where delays are short. In windows PEs synchronise once per window, and all wait for the
//! slowest. On two cores, two PEs measured alike either way, and eight were up to a third faster in
//! windows. So by default a run uses windows if PEs outnumber cores and all least delays between
//! them are equal. GVT is computed in windows as well, for failures, rows, memory and the end.

use warpline_base::VirtualTime;

use crate::frontier::bound_bits::{bits, time_of};

/// How far a PE has come in the rounds.
///
/// Invariant: it has found the bounds of all others for all rounds before `round`.
#[derive(Debug)]
pub(crate) struct Rounds {
    me: u32,
    pes: u32,
    /// The round that ends the open window, or whose bounds are awaited.
    round: u64,
    /// Whether this PE has published its bound for it.
    published: bool,
    /// The first PE whose bound for it has yet to be found.
    next: u32,
    /// The least of the bounds found and this PE's own.
    least: VirtualTime,
}

impl Rounds {
    pub(crate) fn new(me: u32, pes: u32) -> Self {
        Rounds { me, pes, round: 1, published: false, next: 0, least: VirtualTime::ZERO }
    }

    /// Whether the PE has yet to publish its bound for the round.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        !self.published
    }

    /// Ends the window of a PE that has nothing to do before `least`. Returns the round and the
    /// bound to publish for it.
    pub(crate) fn end_window(&mut self, least: VirtualTime) -> (u64, u64) {
        self.published = true;
        self.next = 0;
        self.least = least;
        (self.round, bits(least))
    }

    /// Looks for the bounds of the other PEs; `find` looks one up by PE and round. Returns the
    /// floor once all are found and the next window opens.
    #[inline]
    pub(crate) fn find(
        &mut self,
        mut find: impl FnMut(u32, u64) -> Option<u64>,
    ) -> Option<VirtualTime> {
        if !self.published {
            return None;
        }
        while self.next < self.pes {
            if self.next != self.me {
                self.least = self.least.min(time_of(find(self.next, self.round)?)?);
            }
            self.next += 1;
        }
        self.round += 1;
        self.published = false;
        Some(self.least)
    }
}
