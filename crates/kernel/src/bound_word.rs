//! Bounds as the words that PEs publish.

use warpline_base::VirtualTime;

/// A bound as the word that is published: 0 until all LPs have been initialised.
#[inline]
pub(crate) fn word(bound: VirtualTime) -> u64 {
    bound.bits() + 1
}

/// The time that a word tells.
#[inline]
pub(crate) fn time_of(word: u64) -> Option<VirtualTime> {
    word.checked_sub(1).map(VirtualTime::from_bits)
}
