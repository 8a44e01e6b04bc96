use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::{EventKey, LpId, TieBreak, VirtualTime};

/// A place in the order of everything that happens in a run: LPs are initialised, events happen,
/// LPs finish.
///
/// GVT is a moment, and so are the places of faults and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    /// An LP is initialised. This happens in the order of ids, before all events.
    Init(LpId),
    /// An event happens.
    Event(EventKey),
    /// An LP finishes. This happens in the order of ids, after all events.
    Finish(LpId),
    /// After everything.
    Never,
}

impl Moment {
    fn rank(&self) -> (u8, u32) {
        match *self {
            Moment::Init(lp) => (0, lp.0),
            Moment::Event(_) => (1, 0),
            Moment::Finish(lp) => (2, lp.0),
            Moment::Never => (3, 0),
        }
    }

    /// Its time, in a run that ends at `end`.
    pub fn time(&self, end: VirtualTime) -> VirtualTime {
        match self {
            Moment::Init(_) => VirtualTime::ZERO,
            Moment::Event(key) => key.time,
            Moment::Finish(_) | Moment::Never => end,
        }
    }

    /// The order of two moments, with simultaneous events ordered by `ties`.
    pub fn compare(&self, other: &Moment, ties: TieBreak) -> Ordering {
        match (self, other) {
            (Moment::Event(a), Moment::Event(b)) => ties.compare(a, b),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Whether it comes strictly before `other`.
    #[inline]
    pub fn is_before(&self, other: &Moment, ties: TieBreak) -> bool {
        self.compare(other, ties).is_lt()
    }

    /// The earlier of two moments.
    pub fn earlier(self, other: Moment, ties: TieBreak) -> Moment {
        if other.is_before(&self, ties) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Priority, Sequence};

    #[test]
    fn initialising_comes_first_and_finishing_last() {
        let event = |time: u64, sender| {
            let time = VirtualTime::from_bits(time);
            let step = 0;
            let priority = Priority::NORMAL;
            let sequence = Sequence::first_of(1);
            Moment::Event(EventKey { time, step, priority, sender: LpId(sender), sequence })
        };
        let order = [
            Moment::Init(LpId(0)),
            Moment::Init(LpId(9)),
            event(0, 3),
            event(0, 4),
            event(1, 0),
            Moment::Finish(LpId(0)),
            Moment::Finish(LpId(1)),
            Moment::Never,
        ];
        for (i, a) in order.iter().enumerate() {
            for (j, b) in order.iter().enumerate() {
                assert_eq!(a.compare(b, TieBreak::BySender), i.cmp(&j), "{a:?} {b:?}");
                assert_eq!(a.earlier(*b, TieBreak::BySender), order[i.min(j)]);
            }
        }
    }
}
