//! Bounds as the numbers that PEs publish.

use warpline_base::VirtualTime;

/// The number that stands for a bound. It is never 0, which PEs publish while LPs are still being
/// initialised.
#[inline]
pub(crate) fn bits(bound: VirtualTime) -> u64 {
    bound.bits() + 1
}

/// The bound that a number stands for, if it stands for one.
#[inline]
pub(crate) fn time_of(number: u64) -> Option<VirtualTime> {
    number.checked_sub(1).map(VirtualTime::from_bits)
}
