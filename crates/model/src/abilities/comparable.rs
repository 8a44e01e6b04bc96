use std::fmt;

/// How events are compared with what was sent before, for runs with lazy cancellation.
///
/// When an event is undone, what it has sent need not be wrong: the event may soon be executed
/// again and send the same. Under lazy cancellation it is compared then, and what is equal stands.
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
    /// By `==`. Copies are made of events that go to other PEs.
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
