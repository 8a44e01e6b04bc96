//! Sends that pass on the event's own payload.
//!
//! A send by `Context::forward` has its place among the sends of its event, but no payload yet. The
//! engine fills it in when the handler is done: with the payload itself if the event will not be
//! executed again, otherwise with a copy. So the payload is still there for `commit` and for
//! errors, and no copy is wasted.

use super::limits::Outgoing;

/// Sends whose payload, that of the current event, is filled in later.
///
/// Invariant: places ascend. Each is correct once all sends before it are filled in.
#[derive(Debug)]
pub(crate) struct Forwards<E> {
    /// The sends, each with its place in the outbox.
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

    /// Makes room for one more. Returns `false` if there is no memory.
    pub(crate) fn make_room(&mut self) -> bool {
        self.list.try_reserve(1).is_ok()
    }

    /// Adds a send for this place in the outbox.
    pub(crate) fn push(&mut self, place: usize, envelope: Outgoing<()>)
    where
        E: Clone,
    {
        self.list.push((place, envelope));
        self.copy = Some(E::clone);
    }

    /// Fills in copies of the payload for all but the last `but` sends. The outbox must have room
    /// for all.
    pub(crate) fn fill_in(&mut self, payload: &E, outbox: &mut Vec<Outgoing<E>>, but: usize) {
        let Some(copy) = self.copy else { return };
        let copies = self.list.len().saturating_sub(but);
        for (place, envelope) in self.list.drain(..copies) {
            outbox.insert(place, envelope.with(copy(payload)));
        }
    }

    /// Fills the payload itself into the last send.
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
