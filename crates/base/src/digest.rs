use std::fmt;

use serde::{Deserialize, Serialize};

use crate::random::{fold64, mix64};
use crate::{EventKey, LpId};

/// The digest of one LP's committed history: a hash chain over the keys of its events, in order.
///
/// Adding an event takes two multiplications, so digests are always on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryDigest(u64);

impl Default for HistoryDigest {
    /// The digest of an empty history. It is not 0, because a product with 0 loses its other
    /// factor.
    fn default() -> Self {
        HistoryDigest(0x57A7_E11E_0F0F_57A7)
    }
}

impl HistoryDigest {
    /// Appends one committed event.
    #[inline]
    pub fn push(&mut self, key: &EventKey) {
        let place = u64::from(key.sender.0) << 32 | u64::from(key.step);
        let when = fold64(key.time.bits() ^ self.0, 0x9E37_79B9_7F4A_7C15 ^ place);
        let which = 0xA076_1D64_78BD_642F ^ key.sequence.bits();
        self.0 =
            fold64(when ^ 0xD6E8_FEB8_6659_FD93, which).wrapping_add(key.priority.level() as u64);
    }
}

/// The digest of a whole run: the sum of the histories of all LPs. It depends on the order of
/// events within each LP, but not on the order of LPs, or on where they live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDigest(u64);

impl RunDigest {
    /// Adds one LP with its history of `events` committed events.
    pub fn add(&mut self, lp: LpId, events: u64, history: HistoryDigest) {
        let identity = mix64(u64::from(lp.0) ^ events << 32 ^ 0x57A7_E11E_57A7_E11E);
        self.0 = self.0.wrapping_add(mix64(history.0 ^ identity));
    }

    /// Adds the digest of another part of the same run.
    pub fn merge(&mut self, other: RunDigest) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl fmt::Display for RunDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Priority, Sequence, VirtualTime};

    fn key(time: f64) -> EventKey {
        EventKey {
            time: VirtualTime::new(time).unwrap(),
            step: 0,
            priority: Priority::NORMAL,
            sender: LpId(3),
            sequence: Sequence::first_of(7),
        }
    }

    fn digest_of(keys: &[EventKey]) -> HistoryDigest {
        let mut digest = HistoryDigest::default();
        keys.iter().for_each(|key| digest.push(key));
        digest
    }

    #[test]
    fn every_part_of_the_key_counts() {
        for key in [key(0.0), key(1.5)] {
            let changed = [
                EventKey { time: VirtualTime::new(key.time.get().next_up()).unwrap(), ..key },
                EventKey { step: 1, ..key },
                EventKey { priority: Priority::new(1), ..key },
                EventKey { sender: LpId(4), ..key },
                EventKey { sequence: Sequence::first_of(7).nth(1), ..key },
            ];
            for other in changed {
                assert_ne!(digest_of(&[key]), digest_of(&[other]), "{other:?}");
            }
        }
    }

    /// Digests are the same on every platform and in every release, so that runs can be compared
    /// across them.
    #[test]
    fn known_digests() {
        let keys = [
            key(0.0),
            key(1.5),
            EventKey { step: 9, priority: Priority::new(-5), sender: LpId(u32::MAX), ..key(1e300) },
        ];
        let mut run = RunDigest::default();
        let history = digest_of(&keys);
        assert_eq!(history.0, 12_418_001_880_193_597_970);
        run.add(LpId(7), 3, history);
        run.add(LpId(8), 0, HistoryDigest::default());
        assert_eq!(run.to_string(), "70a18f6f4770a701");
    }

    #[test]
    fn the_sign_of_time_zero_does_not_count() {
        assert_eq!(digest_of(&[key(-0.0)]), digest_of(&[key(0.0)]));
        assert_eq!(
            crate::TieBreak::BySender.compare(&key(-0.0), &key(0.0)),
            std::cmp::Ordering::Equal
        );
    }

    #[test]
    fn order_counts_within_an_lp_and_not_between_lps() {
        let one_event = key(1.5);
        let other = EventKey { sender: LpId(9), ..key(1.5) };
        let ab = digest_of(&[one_event, other]);
        let ba = digest_of(&[other, one_event]);
        assert_ne!(ab, ba);
        let mut one = RunDigest::default();
        let mut two = RunDigest::default();
        let mut swapped = RunDigest::default();
        one.add(LpId(0), 2, ab);
        one.add(LpId(1), 2, ba);
        two.add(LpId(1), 2, ba);
        two.add(LpId(0), 2, ab);
        swapped.add(LpId(0), 2, ba);
        swapped.add(LpId(1), 2, ab);
        assert_eq!(one, two);
        assert_ne!(one, swapped);
        let mut first = RunDigest::default();
        let mut second = RunDigest::default();
        first.add(LpId(1), 2, ba);
        second.add(LpId(0), 2, ab);
        first.merge(second);
        assert_eq!(first, one, "parts of a run merge to the whole");
    }
}
