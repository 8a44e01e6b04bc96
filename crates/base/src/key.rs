//! The total order of events: (time, step, priority, sender, sequence), see [`EventKey`].

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU8;

use serde::{Deserialize, Serialize};

use crate::random::mix64;
use crate::{LpId, VirtualTime};

/// How urgent an event is among those of the same time and step: lower goes first, `-127..=127`,
/// normally 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Priority(NonZeroU8);

impl Priority {
    /// The default priority.
    pub const NORMAL: Priority = Priority(NonZeroU8::new(128).unwrap());

    /// `level` as a priority; `i8::MIN` counts as -127.
    #[inline]
    pub fn new(level: i8) -> Self {
        let code = (i16::from(level.max(-127)) + 128) as u8;
        Priority(NonZeroU8::new(code).unwrap_or(NonZeroU8::MIN))
    }

    /// The level, `-127..=127`.
    #[inline]
    pub fn level(self) -> i8 {
        (i16::from(self.0.get()) - 128) as i8
    }

    #[inline]
    fn code(self) -> u8 {
        self.0.get()
    }
}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.level().fmt(f)
    }
}

/// The maximum number of events that one event, or the `init` of one LP, may send.
pub const SEND_LIMIT: u32 = 1 << 24;

/// The sender's sequence number: which of its events sent this one, and the index of the send
/// within that event.
///
/// It is a function of the sender's event count alone, so undoing an event undoes its sequence
/// numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sequence(u64);

impl Sequence {
    /// The maximum number of events that one LP may execute in a run.
    pub const EVENT_LIMIT: u64 = 1 << 40;

    /// The first sequence number of the `event`-th event of an LP (0 is `init`).
    #[inline]
    pub fn first_of(event: u64) -> Self {
        Sequence(event << 24)
    }

    /// The number of the `index`-th send of the same event.
    #[inline]
    pub fn nth(self, index: u32) -> Self {
        Sequence(self.0 + u64::from(index))
    }

    /// The number of the sender's event (0 is `init`).
    pub fn event(self) -> u64 {
        self.0 >> 24
    }

    /// The index of the send within that event, from 0.
    pub fn index(self) -> u32 {
        (self.0 & u64::from(SEND_LIMIT - 1)) as u32
    }

    /// Both halves as one number.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The sequence number with these [`bits`](Self::bits).
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Sequence(bits)
    }
}

/// The place of an event in the one order that all engines follow.
///
/// *Step* counts zero-delay hops at one instant, so an event always comes strictly after its cause.
/// Keys are unique within a run and depend on the model alone, never on the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventKey {
    /// When the event happens.
    pub time: VirtualTime,
    /// The number of zero-delay hops at this instant that led to it.
    pub step: u32,
    /// Its priority among events of the same time and step.
    pub priority: Priority,
    /// The sender.
    pub sender: LpId,
    /// The sender's sequence number.
    pub sequence: Sequence,
}

/// How events of equal time, step and priority are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The lower LP goes first: simple, and what most simulators do.
    #[default]
    BySender,
    /// A seeded hash of time, step and sender decides, so that no LP is favoured. Events of one
    /// sender stay in the order of sending.
    Unbiased {
        /// The seed of the hash: the seed of the run.
        seed: u64,
    },
}

impl TieBreak {
    /// The full order of two events.
    pub fn compare(self, a: &EventKey, b: &EventKey) -> Ordering {
        (a.time, a.step, a.priority)
            .cmp(&(b.time, b.step, b.priority))
            .then_with(|| match self {
                TieBreak::BySender => Ordering::Equal,
                TieBreak::Unbiased { .. } => self.tie_hash(a).cmp(&self.tie_hash(b)),
            })
            .then_with(|| (a.sender, a.sequence).cmp(&(b.sender, b.sequence)))
    }

    /// The seeded hash that decides a tie before the senders do; 0 if ties are decided by sender.
    pub fn tie_hash(self, key: &EventKey) -> u64 {
        match self {
            TieBreak::BySender => 0,
            TieBreak::Unbiased { seed } => key.tie_hash(seed),
        }
    }

    /// The part of the order after the time, compressed into 32 bits: at one time, `a` before `b`
    /// implies `prefix(a) <= prefix(b)`. Only keys with equal prefixes need to be compared.
    #[inline]
    pub fn prefix(self, key: &EventKey) -> u32 {
        const STEPS: u32 = 7;
        const RANKS: u32 = (1 << 21) - 1;
        if key.step >= STEPS {
            return u32::MAX;
        }
        let rank = match self {
            TieBreak::BySender => key.sender.0.min(RANKS),
            TieBreak::Unbiased { seed } => (key.tie_hash(seed) >> 43) as u32,
        };
        key.step << 29 | u32::from(key.priority.code()) << 21 | rank
    }
}

impl EventKey {
    #[inline(always)]
    fn tie_hash(&self, seed: u64) -> u64 {
        tie_hash(seed, self.time.bits(), self.sender.0, self.step)
    }
}

/// Out of line, because few models use it. It takes numbers, because a key would be passed through
/// memory.
#[inline(never)]
fn tie_hash(seed: u64, time: u64, sender: u32, step: u32) -> u64 {
    mix64(seed ^ mix64(time ^ mix64(u64::from(sender) << 32 | u64::from(step))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = EventKey> {
        let step = prop_oneof![0u32..10, Just(u32::MAX)];
        let sender = prop_oneof![0u32..4, ((1 << 21) - 3)..((1 << 21) + 3u32), Just(u32::MAX)];
        (0u64..3, step, -128i8..=127, sender, 0u64..3, 0u32..3).prop_map(
            |(time, step, priority, sender, event, index)| EventKey {
                time: VirtualTime::from_bits(time),
                step,
                priority: Priority::new(priority),
                sender: LpId(sender),
                sequence: Sequence::first_of(event).nth(index),
            },
        )
    }

    proptest! {
        #[test]
        fn prefix_agrees_with_order(a in key(), b in key(), seed: u64, unbiased: bool) {
            let ties = if unbiased { TieBreak::Unbiased { seed } } else { TieBreak::BySender };
            let b = EventKey { time: a.time, ..b };
            match ties.compare(&a, &b) {
                Ordering::Less => prop_assert!(ties.prefix(&a) <= ties.prefix(&b)),
                Ordering::Greater => prop_assert!(ties.prefix(&a) >= ties.prefix(&b)),
                Ordering::Equal => prop_assert_eq!(a, b),
            }
        }

        #[test]
        fn order_is_antisymmetric_and_transitive(keys in prop::collection::vec(key(), 3), seed: u64) {
            let ties = TieBreak::Unbiased { seed };
            let (a, b, c) = (&keys[0], &keys[1], &keys[2]);
            prop_assert_eq!(ties.compare(a, b), ties.compare(b, a).reverse());
            if ties.compare(a, b).is_le() && ties.compare(b, c).is_le() {
                prop_assert!(ties.compare(a, c).is_le());
            }
        }
    }

    /// Prefixes differ wherever 32 bits have room for the difference.
    #[test]
    fn prefix_tells_most_events_apart() {
        let key = |step, priority, sender| EventKey {
            time: VirtualTime::from_bits(5),
            step,
            priority: Priority::new(priority),
            sender: LpId(sender),
            sequence: Sequence::first_of(0),
        };
        let order = [
            key(0, -127, (1 << 21) - 2),
            key(0, 0, 0),
            key(0, 0, 1),
            key(0, 0, (1 << 21) - 2),
            key(0, 1, 0),
            key(0, 127, 0),
            key(1, -127, 0),
            key(6, 127, (1 << 21) - 2),
            key(7, 0, 0),
        ];
        for pair in order.windows(2) {
            assert!(
                TieBreak::BySender.prefix(&pair[0]) < TieBreak::BySender.prefix(&pair[1]),
                "{pair:?}"
            );
        }
        let ties = TieBreak::Unbiased { seed: 3 };
        let distinct: std::collections::BTreeSet<u32> =
            (0..1000).map(|sender| ties.prefix(&key(0, 0, sender))).collect();
        assert!(distinct.len() > 990, "{} of 1000 prefixes", distinct.len());
        assert!((0..1000).all(|sender| ties.prefix(&key(0, 0, sender)) >> 21 == 128
            && ties.prefix(&key(2, 0, sender)) >> 29 == 2));
    }

    /// The order of ties is the same on every platform and in every release.
    #[test]
    fn known_unbiased_ties() {
        let key = |sender| EventKey {
            time: VirtualTime::new(2.5).unwrap(),
            step: 1,
            priority: Priority::NORMAL,
            sender: LpId(sender),
            sequence: Sequence::first_of(0),
        };
        assert_eq!(
            [1, 2].map(|sender| key(sender).tie_hash(9)),
            [12_668_175_673_457_007_568, 9_659_157_333_363_734_621]
        );
    }

    #[test]
    fn halves_of_a_sequence_number_come_back() {
        for (event, index) in [(0, 0), (1, 0), (3, 5), (Sequence::EVENT_LIMIT - 1, SEND_LIMIT - 1)]
        {
            let sequence = Sequence::first_of(event).nth(index);
            assert_eq!(
                (sequence.event(), sequence.index(), sequence.bits()),
                (event, index, event << 24 | u64::from(index))
            );
            assert_eq!(Sequence::from_bits(sequence.bits()), sequence);
        }
    }

    #[test]
    fn priority_keeps_its_level() {
        for level in -127..=127 {
            assert_eq!(
                (Priority::new(level).level(), format!("{:?}", Priority::new(level))),
                (level, level.to_string())
            );
        }
        assert_eq!(Priority::new(0), Priority::NORMAL);
        assert!(Priority::new(-1) < Priority::NORMAL);
    }

    #[test]
    fn unbiased_ties_favour_no_sender() {
        let ties = TieBreak::Unbiased { seed: 3 };
        let at = |time, sender, event| EventKey {
            time: VirtualTime::from_bits(time),
            step: 0,
            priority: Priority::NORMAL,
            sender: LpId(sender),
            sequence: Sequence::first_of(event),
        };
        let first = (0..10_000)
            .filter(|&time| ties.compare(&at(time, 1, 0), &at(time, 2, 0)).is_lt())
            .count();
        assert!((4_700..5_300).contains(&first), "LP 1 went first {first} times of 10000");
        assert!(
            (0..100).all(|time| ties.compare(&at(time, 1, 7), &at(time, 1, 8)).is_lt()),
            "a sender's own order stays"
        );
    }
}
