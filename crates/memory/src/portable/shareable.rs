use super::Portable;
use crate::sync::{Apart, SpinLock};

/// What may lie in a [`Region`](crate::Region), where processes share it: portable values, and what
/// guards them, such as locks. It is derived, for types all of whose fields are shareable.
///
/// # Safety
/// All bytes of a value mean the same in every process of the run, at any time.
pub unsafe trait Shareable {}

// SAFETY: as promised for portable values. The addresses in them are those of payloads, which have
// been moved to shared memory.
unsafe impl<T: Portable> Shareable for T {}

// SAFETY: there is nothing else in it.
unsafe impl<T: Shareable> Shareable for Apart<T> {}

// SAFETY: a number and a value.
unsafe impl<T: Shareable> Shareable for SpinLock<T> {}
