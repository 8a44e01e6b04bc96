use std::cmp::Ordering;

use warpline_base::{EventKey, TieBreak};
use warpline_memory::{Handle, Pool};

use crate::Event;
use crate::agenda::pending::Ties;

/// The memory of events, which knows each event's key.
pub(crate) trait Keyed {
    fn key(&self, handle: Handle) -> EventKey;
}

impl<E> Keyed for Pool<Event<E>> {
    #[inline]
    fn key(&self, handle: Handle) -> EventKey {
        self.get(handle).key()
    }
}

/// Orders entries of equal rank by the keys of their events.
pub(crate) struct KeyOrder<'a, S> {
    pub(crate) events: &'a S,
    pub(crate) ties: &'a TieBreak,
}

impl<S: Keyed> Ties for KeyOrder<'_, S> {
    #[cold]
    fn order(&self, a: Handle, b: Handle) -> Ordering {
        // Keys are equal only for a cancelled event and its replacement; their order does not
        // matter.
        self.ties.compare(&self.events.key(a), &self.events.key(b))
    }
}
