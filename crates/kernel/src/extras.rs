use warpline_base::{EventKey, LpId};
use warpline_memory::{DropEach, Handle, MakeRoom};
use warpline_model::statistics::Notes;

use crate::Event;
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

/// What an executed event left behind beside its record, if it left anything.
#[derive(Debug)]
pub(crate) struct Extra<E> {
    /// What it observed.
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

/// Which extra belongs to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtraId(u32);

impl ExtraId {
    /// No extra, as for most events.
    pub(crate) const NONE: ExtraId = ExtraId(u32::MAX);
}

/// What extras are to whoever runs a model.
const EXTRAS: &str = "what events that may be undone have observed and saved";

/// A pool of extras. Their lists are swapped with those of the context, so observations are never copied and memory is reused.
#[derive(Debug)]
pub(crate) struct Extras<E> {
    all: Vec<Extra<E>>,
    free: Vec<u32>,
}

impl<E> Default for Extras<E> {
    fn default() -> Self {
        Extras { all: Vec::new(), free: Vec::new() }
    }
}

impl<E> Extras<E> {
    /// Takes an empty extra.
    pub(crate) fn take(&mut self) -> (ExtraId, &mut Extra<E>) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.all.make_room(1, EXTRAS);
            self.all.push(Extra::default());
            // There are no more extras than event buffers, whose numbers are 32 bits long.
            self.all.len() as u32 - 1
        });
        (ExtraId(id), &mut self.all[id as usize])
    }

    /// An extra in use, or an empty one for [`ExtraId::NONE`].
    pub(crate) fn get_or_take(&mut self, id: ExtraId) -> (ExtraId, &mut Extra<E>) {
        if id == ExtraId::NONE { self.take() } else { (id, &mut self.all[id.0 as usize]) }
    }

    /// An extra in use; `None` for [`ExtraId::NONE`].
    pub(crate) fn get(&mut self, id: ExtraId) -> Option<&mut Extra<E>> {
        self.all.get_mut(id.0 as usize)
    }

    /// Swaps the notes of an extra with `notes`, which are empty, and frees the extra.
    pub(crate) fn swap_notes(&mut self, id: ExtraId, notes: &mut Notes) {
        if let Some(extra) = self.get(id) {
            std::mem::swap(notes, &mut extra.notes);
        }
        self.give_back(id);
    }

    /// How much memory they take, in bytes, in use or free, without that of what is in them.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Extra<E>>() * self.all.capacity() + size_of::<u32>() * self.free.capacity()
    }

    /// Frees the memory of what was in those that are free.
    pub(crate) fn give_back_room(&mut self) {
        for &id in &self.free {
            self.all[id as usize] = Extra::default();
        }
    }

    /// How many are in use.
    pub(crate) fn in_use(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64
    }

    /// Empties an extra for the next event.
    #[inline]
    pub(crate) fn give_back(&mut self, id: ExtraId) {
        if id != ExtraId::NONE {
            let extra = &mut self.all[id.0 as usize];
            extra.notes.clear();
            extra.saved.clear();
            extra.sent.clear();
            extra.away.clear();
            extra.here.clear();
            self.free.make_room(1, EXTRAS);
            self.free.push(id.0);
        }
    }
}
