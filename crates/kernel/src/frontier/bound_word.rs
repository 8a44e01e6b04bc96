//! Bounds as the words that PEs publish.

use warpline_base::VirtualTime;

/// The word that publishes a bound. Before the first, while LPs are still being initialised, the word is 0.
#[inline]
pub(crate) fn word(bound: VirtualTime) -> u64 {
    bound.bits() + 1
}

/// The bound that a word publishes, if it publishes one.
#[inline]
pub(crate) fn time_of(word: u64) -> Option<VirtualTime> {
    word.checked_sub(1).map(VirtualTime::from_bits)
}
