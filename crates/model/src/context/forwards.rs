//! What an event passes on as it came.
//!
//! A send by `Context::forward` has its place among the sends of its event, but no payload yet.
//! Whoever executes the event fills it in when the handler is done: with the payload itself where
//! nothing will execute the event again, with a copy where something may. So a model says it once,
//! the payload is there for `commit` and for errors, and nothing is copied in vain.

use super::limits::Outgoing;

/// Sends whose payload is that of the event being executed. It is filled in once the event is done:
/// by a copy, or by the payload itself where the engine has no further use for it.
///
/// Invariant: places ascend, and each is right once those before it are filled in.
#[derive(Debug)]
pub(crate) struct Forwards<E> {
    /// Each with its place in the outbox.
    list: Vec<(usize, Outgoing<()>)>,
    copy: Option<fn(&E) -> E>,
}

impl<E> Default for Forwards<E> {
    fn default() -> Self {
        Forwards { list: Vec::new(), copy: None }
    }
}

impl<E> Forwards<E> {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    /// Makes room for another, and returns whether there is any.
    pub(crate) fn make_room(&mut self) -> bool {
        self.list.try_reserve(1).is_ok()
    }

    /// Adds what is to stand at this place of the outbox.
    pub(crate) fn push(&mut self, place: usize, envelope: Outgoing<()>)
    where
        E: Clone,
    {
        self.list.push((place, envelope));
        self.copy = Some(E::clone);
    }

    /// Fills in copies of the payload, for all but this many. There must be room for all.
    pub(crate) fn fill_in(&mut self, payload: &E, outbox: &mut Vec<Outgoing<E>>, but: usize) {
        let Some(copy) = self.copy else { return };
        let copies = self.list.len().saturating_sub(but);
        for (place, envelope) in self.list.drain(..copies) {
            outbox.insert(place, envelope.with(copy(payload)));
        }
    }

    /// Fills the payload itself into the last one.
    pub(crate) fn fill_in_last(&mut self, payload: E, outbox: &mut Vec<Outgoing<E>>) {
        if let Some((place, envelope)) = self.list.pop() {
            outbox.insert(place, envelope.with(payload));
        }
    }
}

impl Outgoing<()> {
    fn with<E>(self, event: E) -> Outgoing<E> {
        let Outgoing { time, to, step, priority, event: () } = self;
        Outgoing { time, to, step, priority, event }
    }
}
