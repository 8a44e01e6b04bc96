use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Figure;

/// A point in virtual time: a finite number of model units, zero or later.
///
/// It is stored as the bits of the `f64`. The bits of numbers that are not negative are ordered
/// like the numbers, so comparing two times takes one integer comparison.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "f64", try_from = "f64")]
pub struct VirtualTime(u64);

impl VirtualTime {
    /// The start of every run.
    pub const ZERO: VirtualTime = VirtualTime(0);
    /// The latest possible time.
    pub const MAX: VirtualTime = VirtualTime(f64::MAX.to_bits());
    /// Later than every time, and not a time itself. "Before this" includes [`MAX`](Self::MAX);
    /// "before `MAX`" does not.
    pub const AFTER_ALL: VirtualTime = VirtualTime(f64::MAX.to_bits() + 1);

    /// `time` as a virtual time; `None` if it is NaN, infinite or negative.
    #[inline]
    pub fn new(time: f64) -> Option<Self> {
        // Adding zero turns -0.0 into 0.0, whose bits fit the order.
        (0.0..f64::INFINITY).contains(&time).then(|| VirtualTime((time + 0.0).to_bits()))
    }

    /// The time in model units.
    #[inline]
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// The bits, whose integer order is the order in time.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The time whose [`bits`](Self::bits) these are.
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        VirtualTime(bits)
    }
}

impl fmt::Display for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Figure(self.get()).fmt(f)
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl From<VirtualTime> for f64 {
    fn from(time: VirtualTime) -> f64 {
        time.get()
    }
}

impl TryFrom<f64> for VirtualTime {
    type Error = String;

    fn try_from(time: f64) -> Result<Self, String> {
        VirtualTime::new(time).ok_or_else(|| {
            format!("{time} is not a virtual time: it must be finite and not negative")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_bits_is_order_of_times() {
        let times =
            [0.0, f64::MIN_POSITIVE / 4.0, 1e-300, 0.1, 1.0, 1.0 + f64::EPSILON, 1e300, f64::MAX];
        for pair in times.windows(2) {
            assert!(VirtualTime::new(pair[0]) < VirtualTime::new(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn a_time_reads_and_prints_as_its_number() {
        let time = VirtualTime::new(2.5).unwrap();
        assert_eq!(
            (format!("{time} {time:?} {time:.2}"), f64::from(time), time.get()),
            ("2.5 2.5 2.50".into(), 2.5, 2.5)
        );
        assert_eq!(
            (VirtualTime::try_from(2.5), VirtualTime::from_bits(time.bits())),
            (Ok(time), time)
        );
        let refused = VirtualTime::try_from(-1.0).unwrap_err();
        assert!(refused.contains("-1") && refused.contains("not negative"), "{refused}");
    }

    #[test]
    fn invalid_times_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE] {
            assert_eq!(VirtualTime::new(bad), None, "{bad}");
        }
        assert_eq!(VirtualTime::new(-0.0), Some(VirtualTime::ZERO));
    }
}
