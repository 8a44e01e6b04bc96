use warpline_base::{EventKey, LpId};
use warpline_memory::{DropEach, Handle, MakeRoom};
use warpline_model::statistics::{Note, Notes};

use crate::Event;
use crate::note_log::{NoteLog, NoteSpan};
use crate::store::{Incarnation, OptionalHandle};

/// An event that was sent by value and may have to be cancelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentByValue {
    pub(crate) to: u32,
    pub(crate) receiver: LpId,
    pub(crate) key: EventKey,
    pub(crate) incarnation: Incarnation,
    /// The sender's copy, if it keeps one.
    pub(crate) copy: OptionalHandle,
}

/// An event that was sent to another PE, with a copy of it that this PE can compare with what is sent again.
#[derive(Debug)]
pub(crate) struct SentAway<E> {
    pub(crate) way: Way,
    pub(crate) copy: Event<E>,
}

/// How it went there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// In the buffer that has this handle here.
    Buffer(Handle),
    /// By value, to this PE.
    Value(u32, Incarnation),
}

/// What an executed event left behind beside its record and its observations, if it left anything.
#[derive(Debug)]
pub(crate) struct Extra<E> {
    /// What it observed, if that is more than figures: rows and acts.
    pub(crate) notes: Notes,
    /// What it saved for its reverse code.
    pub(crate) saved: Vec<u64>,
    /// What it sent by value.
    pub(crate) sent: Vec<SentByValue>,
    /// Under lazy cancellation: what it sent to other PEs and can be compared, the last first.
    pub(crate) away: DropEach<SentAway<E>>,
    /// The same of what it sent to its own PE, the first first, once it is undone.
    pub(crate) here: Vec<Handle>,
}

impl<E> Default for Extra<E> {
    fn default() -> Self {
        Extra { notes: Notes::default(), saved: Vec::new(), sent: Vec::new(), away: DropEach::default(), here: Vec::new() }
    }
}

impl<E> Extra<E> {
    /// Empties it, and keeps the memory.
    fn clear(&mut self) {
        self.notes.clear();
        self.saved.clear();
        self.sent.clear();
        self.away.clear();
        self.here.clear();
    }
}

/// Which extra belongs to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtraId(u32);

impl ExtraId {
    /// No extra, as for most events.
    pub(crate) const NONE: ExtraId = ExtraId(u32::MAX);
}

/// What extras are to whoever runs a model.
const EXTRAS: &str = "what events that may be undone have observed and saved";

/// What there is of an extra.
#[derive(Clone, Copy, Debug, Default)]
struct Contents {
    /// Observations that are figures.
    span: NoteSpan,
    /// Whether there is anything else.
    more: bool,
}

/// A pool of extras. Most have nothing but observations, which lie in the log, so that these take a cache line where all others take several.
#[derive(Debug)]
pub(crate) struct Extras<E> {
    log: NoteLog,
    contents: Vec<Contents>,
    /// The same numbers. Those of which the contents do not tell are empty.
    all: Vec<Extra<E>>,
    free: Vec<u32>,
}

impl<E> Default for Extras<E> {
    fn default() -> Self {
        Extras { log: NoteLog::default(), contents: Vec::new(), all: Vec::new(), free: Vec::new() }
    }
}

impl<E> Extras<E> {
    /// Takes an empty extra.
    #[inline]
    fn take(&mut self) -> u32 {
        match self.free.pop() {
            Some(id) => id,
            None => self.grow(),
        }
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.all.make_room(1, EXTRAS);
        self.contents.make_room(1, EXTRAS);
        self.all.push(Extra::default());
        self.contents.push(Contents::default());
        // There are no more extras than event buffers, whose numbers are 32 bits long.
        self.all.len() as u32 - 1
    }

    /// Keeps what an event has observed and saved, which is not nothing, and empties both.
    #[inline]
    pub(crate) fn keep(&mut self, notes: &mut Notes, saved: &mut Vec<u64>) -> ExtraId {
        let id = self.take();
        let span = match (notes.is_empty(), notes.is_plain()) {
            (true, _) => Some(NoteSpan::default()),
            (false, true) => self.log.keep(notes),
            (false, false) => None,
        };
        let more = span.is_none() || !saved.is_empty();
        self.contents[id as usize] = Contents { span: span.unwrap_or_default(), more };
        if more {
            let extra = &mut self.all[id as usize];
            if span.is_none() {
                notes.move_to(&mut extra.notes);
            }
            std::mem::swap(saved, &mut extra.saved);
        }
        ExtraId(id)
    }

    /// An extra in use, or an empty one for [`ExtraId::NONE`], to which more is about to be added.
    pub(crate) fn get_or_take(&mut self, id: ExtraId) -> (ExtraId, &mut Extra<E>) {
        let id = if id == ExtraId::NONE { self.take() } else { id.0 };
        self.contents[id as usize].more = true;
        (ExtraId(id), &mut self.all[id as usize])
    }

    /// An extra in use; `None` if it has nothing but observations in the log, and for [`ExtraId::NONE`].
    pub(crate) fn get(&mut self, id: ExtraId) -> Option<&mut Extra<E>> {
        let more = self.contents.get(id.0 as usize).is_some_and(|contents| contents.more);
        if more { self.all.get_mut(id.0 as usize) } else { None }
    }

    /// The observations in the log that belong to an extra in use, where `notes` are those of the context.
    #[inline]
    pub(crate) fn observed<'a>(&'a self, id: ExtraId, notes: &'a Notes) -> &'a [Note] {
        self.log.read(self.contents[id.0 as usize].span, notes)
    }

    /// Forgets what the event of an extra in use has observed.
    pub(crate) fn forget_observed(&mut self, id: ExtraId) {
        self.release_observed(id);
        self.get(id).into_iter().for_each(|extra| extra.notes.clear());
    }

    #[inline]
    fn release_observed(&mut self, id: ExtraId) {
        let span = std::mem::take(&mut self.contents[id.0 as usize].span);
        if !span.is_empty() {
            self.log.release(span);
        }
    }

    /// How much memory they take, in bytes, in use or free, without that of what else is in them than figures.
    pub(crate) fn bytes(&self) -> usize {
        let extra = size_of::<Extra<E>>() + size_of::<Contents>();
        extra * self.all.capacity() + size_of::<u32>() * self.free.capacity() + self.log.bytes()
    }

    /// Frees the memory of what was in those that are free.
    pub(crate) fn give_back_room(&mut self) {
        for &id in &self.free {
            self.all[id as usize] = Extra::default();
        }
        self.log.give_back_room();
    }

    /// How many are in use.
    pub(crate) fn in_use(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64
    }

    /// Empties an extra for the next event.
    #[inline]
    pub(crate) fn give_back(&mut self, id: ExtraId) {
        if id != ExtraId::NONE {
            self.release_observed(id);
            if std::mem::take(&mut self.contents[id.0 as usize].more) {
                self.all[id.0 as usize].clear();
            }
            self.free.make_room(1, EXTRAS);
            self.free.push(id.0);
        }
    }
}
