//! What changes states.

/// What changes states, and may have to log it: [`Context`](crate::Context), and for code that sets
/// states up or undoes them, [`Init`](crate::Init) and [`Reverse`](crate::Reverse).
pub trait Changing: Sealed {
    /// Logs that `place` is about to change, if changes are logged. `keep` writes its old value, in
    /// this many words.
    #[doc(hidden)]
    fn note_change<T>(&mut self, place: &T, words: usize, keep: impl FnOnce(&mut Vec<u64>));
}

/// Nothing but contexts changes states.
pub trait Sealed {}

/// Where something lies, as a number: it is only compared, and nothing is accessed through it.
#[inline(always)]
pub(crate) fn address<T>(place: &T) -> usize {
    std::ptr::from_ref(place).addr()
}
