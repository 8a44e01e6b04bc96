//! The contexts that change states.

/// A context that changes states and may log the changes: [`Context`](crate::Context).
/// [`Init`](crate::Init) and [`Reverse`](crate::Reverse) never log.
pub trait Changing: Sealed {
    /// If changes are logged, logs that `place` is about to change. `keep` writes its old value, in
    /// this many words.
    #[doc(hidden)]
    fn note_change<T>(&mut self, place: &T, words: usize, keep: impl FnOnce(&mut Vec<u64>));
}

/// Only contexts implement [`Changing`].
pub trait Sealed {}

/// The address of a value. It is only compared; nothing is accessed through it.
#[inline(always)]
pub(crate) fn address<T>(place: &T) -> usize {
    std::ptr::from_ref(place).addr()
}
