use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A time of a machine, or a span of it, in whole picoseconds: 213 days at most. Whole numbers make
/// the machine's time the same on every host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// Picoseconds in a second.
const PER_SECOND: f64 = 1e12;

impl Time {
    /// The beginning, or no time at all.
    pub const ZERO: Time = Time(0);

    /// Later than anything.
    pub const MAX: Time = Time(u64::MAX);

    /// So many picoseconds.
    pub const fn picoseconds(picoseconds: u64) -> Self {
        Time(picoseconds)
    }

    /// So many nanoseconds.
    pub const fn nanoseconds(nanoseconds: u64) -> Self {
        Time(nanoseconds * 1000)
    }

    /// So many picoseconds, rounded; negative ones count as none.
    pub(crate) fn rounded(picoseconds: f64) -> Self {
        Time(picoseconds.round() as u64)
    }

    /// So many times as long.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Time::rounded(self.0 as f64 * factor)
    }

    /// As a number of picoseconds.
    pub const fn as_picoseconds(self) -> u64 {
        self.0
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PER_SECOND
    }

    /// So much later, but no later than [`MAX`](Self::MAX).
    pub fn saturating_add(self, more: Time) -> Time {
        Time(self.0.saturating_add(more.0))
    }

    /// How much later than `earlier` it is; none if it is not.
    pub fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Time;

    fn add(self, more: Time) -> Time {
        Time(self.0 + more.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, more: Time) {
        self.0 += more.0;
    }
}

impl Sub for Time {
    type Output = Time;

    fn sub(self, less: Time) -> Time {
        Time(self.0 - less.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;

    fn mul(self, times: u64) -> Time {
        Time(self.0 * times)
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(all: I) -> Time {
        all.fold(Time::ZERO, Add::add)
    }
}
