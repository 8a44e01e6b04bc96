use serde::{Deserialize, Serialize};
use warpline_base::Sequence;
use warpline_derive::Portable;

use crate::journal::saved::Saved;

/// A timer that an LP has set by [`Context::send_later`](crate::Context::send_later). It is plain
/// data, to be kept in the state of the LP, and says nothing to any other LP.
///
/// It consists of the number of the event that set it and the index among that event's sends, so
/// every engine gives the same timers. A timer that has fired or was cancelled is no longer pending,
/// and never will be again: no two timers of an LP are equal.
///
/// ```
/// use warpline_model::prelude::*;
/// #[derive(Clone, Debug, PartialEq, Eq, Hash, Portable, Journaled)]
/// struct Connection { window: u32, retransmission: Option<Timer> }
/// # assert_eq!(Connection { window: 1, retransmission: None }.window, 1);
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Portable, Serialize, Deserialize,
)]
pub struct Timer(Sequence);

impl Timer {
    /// What a send that was refused returns: it is never pending.
    pub(crate) const REFUSED: Sequence = Sequence::from_bits(u64::MAX);

    #[inline]
    pub(crate) fn of(sequence: Sequence) -> Self {
        Timer(sequence)
    }

    #[inline]
    pub(crate) fn sequence(self) -> Sequence {
        self.0
    }
}

impl Saved for Timer {
    #[inline]
    fn to_word(self) -> u64 {
        self.0.bits()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        Timer(Sequence::from_bits(word))
    }
}
