use std::fmt;

/// Compares events with those sent before, for runs with lazy cancellation.
///
/// The sends of an undone event need not be wrong: the event may soon be executed again and send
/// the same. Lazy cancellation compares the sends then, and keeps those that are equal.
pub struct Comparable<E> {
    are_equal: fn(&E, &E) -> bool,
    copy: fn(&E) -> E,
}

impl<E> Clone for Comparable<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Comparable<E> {}

impl<E: PartialEq + Clone> Comparable<E> {
    /// Compares by `==`. Events that go to other PEs are cloned.
    #[expect(clippy::new_without_default, reason = "it is the one way to make it")]
    pub const fn new() -> Self {
        Comparable { are_equal: E::eq, copy: E::clone }
    }
}

impl<E> Comparable<E> {
    /// Whether two events are equal.
    #[doc(hidden)]
    pub fn are_equal(&self, one: &E, other: &E) -> bool {
        (self.are_equal)(one, other)
    }

    /// A copy of an event.
    #[doc(hidden)]
    pub fn copy(&self, event: &E) -> E {
        (self.copy)(event)
    }
}

impl<E> fmt::Debug for Comparable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comparable").finish_non_exhaustive()
    }
}
