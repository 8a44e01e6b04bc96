//! What becomes of values: those that went in, and why others did not.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Why a value was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// All places have values that the consumer has not read.
    Full,
    /// Another producer has reserved a place and is still writing its value.
    InProgress,
    /// Another producer has reserved the same place first.
    Collision,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Full => "the ring is full",
            Refusal::InProgress => "another producer is writing",
            Refusal::Collision => "another producer was first",
        })
    }
}

/// A value that was not taken, and why. The caller may try again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Refused<T> {
    /// The value.
    pub value: T,
    /// The reason.
    pub why: Refusal,
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("why", &self.why).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl<T> std::error::Error for Refused<T> {}

/// How often a producer, or several, put a value into a ring, and how often they were refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CasCounts {
    /// Values that went in.
    pub pushed: u64,
    /// Refusals because the ring was [full](Refusal::Full).
    pub full: u64,
    /// Refusals because another producer was [writing](Refusal::InProgress).
    pub in_progress: u64,
    /// Refusals because another producer was [first](Refusal::Collision).
    pub collisions: u64,
}

impl Add for CasCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        CasCounts {
            pushed: self.pushed + other.pushed,
            full: self.full + other.full,
            in_progress: self.in_progress + other.in_progress,
            collisions: self.collisions + other.collisions,
        }
    }
}

impl Sum for CasCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(CasCounts::default(), Add::add)
    }
}
