use warpline_base::{EventKey, LpId};
use warpline_memory::{DropEach, Exhausted, Handle, MakeRoom};
use warpline_model::statistics::{Note, Notes};

use crate::Event;
use crate::note_log::{NoteLog, NotePlace};
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

/// What an executed event left behind that is more than a few figures.
#[derive(Debug)]
pub(crate) struct Extra<E> {
    /// Where the figures are that it observed.
    pub(crate) observed: Option<NotePlace>,
    /// What it observed, if that is not for the log: rows, acts, and very many figures.
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
        Extra { observed: None, notes: Notes::default(), saved: Vec::new(), sent: Vec::new(), away: DropEach::default(), here: Vec::new() }
    }
}

impl<E> Extra<E> {
    /// Empties its lists, and keeps the memory.
    fn clear(&mut self) {
        self.notes.clear();
        self.saved.clear();
        self.sent.clear();
        self.away.clear();
        self.here.clear();
    }
}

/// What a record says of what its event left behind beside it: nothing; observations in the log; or an extra, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtraId(u32);

/// What an [`ExtraId`] stands for.
enum Kind {
    Nothing,
    Observed(NotePlace),
    Extra(usize),
}

impl ExtraId {
    /// Nothing, as for most events.
    pub(crate) const NONE: ExtraId = ExtraId(u32::MAX);

    #[inline]
    fn of_place(place: NotePlace) -> Self {
        ExtraId(place.bits())
    }

    /// Where the figures are that an event has observed, if it has left nothing else behind.
    #[inline(always)]
    pub(crate) fn place(self) -> Option<NotePlace> {
        if self.0 < NotePlace::LIMIT { Some(NotePlace::from_bits(self.0)) } else { None }
    }

    #[inline]
    fn extra(number: usize) -> Self {
        ExtraId(number as u32 | NotePlace::LIMIT)
    }

    #[inline]
    fn kind(self) -> Kind {
        match self {
            ExtraId::NONE => Kind::Nothing,
            ExtraId(bits) if bits < NotePlace::LIMIT => Kind::Observed(NotePlace::from_bits(bits)),
            ExtraId(bits) => Kind::Extra((bits - NotePlace::LIMIT) as usize),
        }
    }
}

/// What extras are to whoever runs a model.
const EXTRAS: &str = "what events that may be undone have observed and saved";

/// What executed events left behind beside their records. Most observe a few figures and nothing else: for these the log suffices. Others have an
/// extra, out of a pool whose lists are used again.
#[derive(Debug)]
pub(crate) struct Extras<E> {
    log: NoteLog,
    all: Vec<Extra<E>>,
    free: Vec<usize>,
}

impl<E> Default for Extras<E> {
    fn default() -> Self {
        Extras { log: NoteLog::default(), all: Vec::new(), free: Vec::new() }
    }
}

impl<E> Extras<E> {
    /// The number of an empty extra.
    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            if self.all.len() >= NotePlace::LIMIT as usize - 1 {
                Exhausted::Numbers.unwind();
            }
            self.all.make_room(1, EXTRAS);
            self.all.push(Extra::default());
            self.all.len() - 1
        })
    }

    /// Keeps what an event has observed and saved, which is not nothing, and empties both.
    #[inline]
    pub(crate) fn keep(&mut self, notes: &mut Notes, saved: &mut Vec<u64>) -> ExtraId {
        if saved.is_empty()
            && notes.is_plain()
            && let Some(place) = self.log.keep(notes)
        {
            return ExtraId::of_place(place);
        }
        self.keep_extra(notes, saved)
    }

    #[cold]
    fn keep_extra(&mut self, notes: &mut Notes, saved: &mut Vec<u64>) -> ExtraId {
        let number = self.take();
        let extra = &mut self.all[number];
        if notes.is_plain() && !notes.is_empty() {
            extra.observed = self.log.keep(notes);
        }
        notes.move_to(&mut extra.notes);
        std::mem::swap(saved, &mut extra.saved);
        ExtraId::extra(number)
    }

    /// The extra of an event that leaves more behind; an empty one, if it had none so far.
    pub(crate) fn get_or_take(&mut self, id: ExtraId) -> (ExtraId, &mut Extra<E>) {
        let (number, observed) = match id.kind() {
            Kind::Extra(number) => return (id, &mut self.all[number]),
            Kind::Observed(place) => (self.take(), Some(place)),
            Kind::Nothing => (self.take(), None),
        };
        let extra = &mut self.all[number];
        extra.observed = observed;
        (ExtraId::extra(number), extra)
    }

    /// The extra of an event, if it has one.
    #[inline]
    pub(crate) fn get(&mut self, id: ExtraId) -> Option<&mut Extra<E>> {
        if let Kind::Extra(number) = id.kind() { Some(&mut self.all[number]) } else { None }
    }

    /// The figures that an event has observed, which are at a place in the log; `notes` are those of the context.
    #[inline(always)]
    pub(crate) fn read<'a>(&'a self, place: NotePlace, notes: &'a Notes) -> &'a [Note] {
        self.log.read(place, notes)
    }

    /// Forgets the figures at a place in the log, of an event that has no extra.
    #[inline(always)]
    pub(crate) fn release(&mut self, place: NotePlace) {
        self.log.release(place);
    }

    /// Forgets what the event of an extra has observed.
    pub(crate) fn forget_observed(&mut self, id: ExtraId) {
        if let Some(extra) = self.get(id) {
            extra.notes.clear();
            let observed = extra.observed.take();
            observed.into_iter().for_each(|place| self.log.release(place));
        }
    }

    /// How much memory they take, in bytes, in use or free, without that of what is in extras.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Extra<E>>() * self.all.capacity() + size_of::<usize>() * self.free.capacity() + self.log.bytes()
    }

    /// How much more memory extras take, in bytes, if there is no room for this many more: their list doubles. Figures take little.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let room = self.all.capacity() - self.all.len() + self.free.len();
        if room < more { size_of::<Extra<E>>() * self.all.capacity() } else { 0 }
    }

    /// Makes room for this many more extras and hardly more.
    pub(crate) fn make_little_room(&mut self, more: usize) {
        self.all.make_little_room(more.saturating_sub(self.free.len()), EXTRAS);
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.free.sort_unstable();
        while self.free.last().is_some_and(|&number| number + 1 == self.all.len()) {
            self.free.pop();
            self.all.pop();
        }
        for &number in &self.free {
            self.all[number] = Extra::default();
        }
        self.all.shrink_to_fit();
        self.free.shrink_to_fit();
        self.log.give_back_room();
    }

    /// How many extras are in use, and one more if there are observations in the log.
    pub(crate) fn in_use(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64 + u64::from(!self.log.is_empty())
    }

    /// Forgets what an event has left behind.
    #[inline]
    pub(crate) fn give_back(&mut self, id: ExtraId) {
        match id.kind() {
            Kind::Nothing => {}
            Kind::Observed(place) => self.log.release(place),
            Kind::Extra(number) => self.give_back_extra(number),
        }
    }

    fn give_back_extra(&mut self, number: usize) {
        let extra = &mut self.all[number];
        extra.clear();
        if let Some(place) = extra.observed.take() {
            self.log.release(place);
        }
        self.free.make_room(1, EXTRAS);
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(extras: &mut Extras<()>, word: u64) -> ExtraId {
        extras.keep(&mut Notes::default(), &mut vec![word])
    }

    #[test]
    fn memory_that_is_not_in_use_is_given_back_and_the_rest_stays_in_its_place() {
        let mut extras = Extras::<()>::default();
        let ids: Vec<ExtraId> = (0..100).map(|word| keep(&mut extras, word)).collect();
        ids.iter().enumerate().filter(|(n, _)| ![2, 5].contains(n)).for_each(|(_, id)| extras.give_back(*id));
        extras.give_back_room();
        assert_eq!((extras.all.len(), extras.all.capacity(), extras.in_use()), (6, 6, 2));
        assert_eq!([2, 5].map(|n| extras.get(ids[n]).map(|extra| extra.saved.clone())), [Some(vec![2]), Some(vec![5])]);
        // The four free ones are used again first.
        let more: Vec<ExtraId> = (0..4).map(|word| keep(&mut extras, word)).collect();
        assert_eq!((extras.all.len(), extras.in_use()), (6, 6));
        ids.iter().enumerate().filter(|(n, _)| [2, 5].contains(n)).for_each(|(_, id)| extras.give_back(*id));
        more.into_iter().for_each(|id| extras.give_back(id));
        extras.give_back_room();
        assert_eq!((extras.bytes(), extras.in_use()), (Extras::<()>::default().bytes(), 0));
    }

    #[test]
    fn a_list_grows_by_as_much_as_it_has_unless_little_is_asked_for() {
        let mut extras = Extras::<()>::default();
        assert_eq!(extras.growth(3), 0, "there is nothing to double");
        extras.make_little_room(80);
        assert_eq!((extras.all.capacity(), extras.growth(80)), (80, 0));
        assert_eq!(extras.growth(81), 80 * size_of::<Extra<()>>());
        let ids: Vec<ExtraId> = (0..80).map(|word| keep(&mut extras, word)).collect();
        assert_eq!(extras.growth(1), 80 * size_of::<Extra<()>>());
        extras.make_little_room(1);
        assert_eq!(extras.all.capacity(), 90);
        ids.into_iter().for_each(|id| extras.give_back(id));
        assert_eq!(extras.growth(90), 0);
    }
}
