//! Sends whose payload the engine has: the event's own, passed on, or that of a timer which is set
//! anew.
//!
//! A send by `Context::forward` has its place among the sends of its event, but no payload yet. The
//! engine fills it in when the handler is done: with the payload itself if the event will not be
//! executed again, otherwise with a copy. So the payload is still there for `commit` and for
//! errors, and no copy is wasted. A timer that is rescheduled gets a copy.

use warpline_base::EventKind;
use warpline_memory::Handle;

use super::limits::Outgoing;

/// Where the payload of a send comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// From the current event.
    Current,
    /// From the event of a timer.
    Timer(Handle),
}

#[derive(Debug)]
struct Forward {
    /// Its place in the outbox.
    place: usize,
    envelope: Outgoing<()>,
    source: Source,
}

/// Sends whose payload is filled in later.
///
/// Invariant: places ascend. Each is correct once all sends before it are filled in.
#[derive(Debug)]
pub(crate) struct Forwards<E> {
    list: Vec<Forward>,
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

    #[inline]
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
    pub(crate) fn push(&mut self, place: usize, envelope: Outgoing<()>, source: Source)
    where
        E: Clone,
    {
        self.list.push(Forward { place, envelope, source });
        self.copy = Some(E::clone);
    }

    /// The index of the send for this place in the outbox; otherwise how many come before it.
    pub(crate) fn find(&self, place: usize) -> Result<usize, usize> {
        self.list.binary_search_by_key(&place, |forward| forward.place)
    }

    /// What a send is, by its index.
    pub(crate) fn kind(&self, index: usize) -> EventKind {
        self.list[index].envelope.kind
    }

    /// Where the payload of a send comes from.
    pub(crate) fn source(&self, index: usize) -> Source {
        self.list[index].source
    }

    /// Cancels a send that is a timer.
    pub(crate) fn cancel(&mut self, index: usize) {
        self.list[index].envelope.kind = EventKind::CancelledTimer;
    }

    /// Fills in copies of payloads for all but the last `but` sends. `timer` has the payloads of
    /// timers. The outbox must have room for all.
    pub(crate) fn fill_in<'e>(
        &mut self,
        payload: &'e E,
        timer: impl Fn(Handle) -> &'e E,
        outbox: &mut Vec<Outgoing<E>>,
        but: usize,
    ) {
        let Some(copy) = self.copy else { return };
        let copies = self.list.len().saturating_sub(but);
        for Forward { place, envelope, source } in self.list.drain(..copies) {
            let payload = match source {
                Source::Current => payload,
                Source::Timer(event) => timer(event),
            };
            outbox.insert(place, envelope.with(copy(payload)));
        }
    }

    /// Fills the payload itself into the last send.
    pub(crate) fn fill_in_last(&mut self, payload: E, outbox: &mut Vec<Outgoing<E>>) {
        if let Some(Forward { place, envelope, .. }) = self.list.pop() {
            outbox.insert(place, envelope.with(payload));
        }
    }
}

impl Outgoing<()> {
    fn with<E>(self, event: E) -> Outgoing<E> {
        let Outgoing { time, to, step, priority, kind, event: () } = self;
        Outgoing { time, to, step, priority, kind, event }
    }
}
