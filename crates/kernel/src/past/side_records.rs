use warpline_base::Sequence;
use warpline_memory::{DropEach, Exhausted, Handle, MakeRoom};
use warpline_model::statistics::{Observation, Observations};

use crate::Event;
use crate::agenda::store::Incarnation;
use crate::mail::SentByValue;
use crate::past::observation_log::{ObservationLog, ObservationPlace};

/// An event that was sent to another PE, with a copy to compare with what is sent again.
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

/// What an executed event left behind, if that is more than a few figures.
#[derive(Debug)]
pub(crate) struct SideRecord<E> {
    /// Where the figures that it observed are in the log.
    pub(crate) observed: Option<ObservationPlace>,
    /// What it observed that is not in the log: rows, acts, and very many figures.
    pub(crate) observations: Observations,
    /// What it saved for its reverse code.
    pub(crate) saved: Vec<u64>,
    /// What it sent by value.
    pub(crate) sent: Vec<SentByValue>,
    /// The timers that it cancelled, in the order of cancelling, with their events.
    pub(crate) cancelled_timers: Vec<(Sequence, Handle)>,
    /// Under lazy cancellation: what it sent to other PEs with copies, in reverse order of sending.
    pub(crate) away: DropEach<SentAway<E>>,
    /// Under lazy cancellation, once it is undone: what it sent to its own PE, in the order of
    /// sending.
    pub(crate) here: Vec<Handle>,
}

impl<E> Default for SideRecord<E> {
    fn default() -> Self {
        SideRecord {
            observed: None,
            observations: Observations::default(),
            saved: Vec::new(),
            sent: Vec::new(),
            cancelled_timers: Vec::new(),
            away: DropEach::default(),
            here: Vec::new(),
        }
    }
}

impl<E> SideRecord<E> {
    /// Empties its lists and keeps their memory.
    fn clear(&mut self) {
        self.observations.clear();
        self.saved.clear();
        self.sent.clear();
        self.cancelled_timers.clear();
        self.away.clear();
        self.here.clear();
    }
}

/// What an event left behind beside its record: nothing, figures in the log, or a side record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SideRecordId(u32);

/// What a [`SideRecordId`] stands for.
enum Kind {
    Nothing,
    Observed(ObservationPlace),
    SideRecord(usize),
}

impl SideRecordId {
    /// Nothing, as for most events.
    pub(crate) const NONE: SideRecordId = SideRecordId(u32::MAX);

    #[inline]
    fn of_place(place: ObservationPlace) -> Self {
        SideRecordId(place.bits())
    }

    /// Whether an event has observed figures, and left nothing else behind.
    #[inline(always)]
    pub(crate) fn is_figures(self) -> bool {
        self.0 < ObservationPlace::LIMIT
    }

    #[inline]
    fn of_number(number: usize) -> Self {
        SideRecordId(number as u32 | ObservationPlace::LIMIT)
    }

    #[inline]
    fn kind(self) -> Kind {
        match self {
            SideRecordId::NONE => Kind::Nothing,
            SideRecordId(bits) if bits < ObservationPlace::LIMIT => {
                Kind::Observed(ObservationPlace::from_bits(bits))
            }
            SideRecordId(bits) => Kind::SideRecord((bits - ObservationPlace::LIMIT) as usize),
        }
    }
}

/// How messages to users call what is in side records.
const SIDE_RECORDS: &str = "what events that may be undone have observed and saved";

/// What executed events left behind beside their records. Most observe a few figures and nothing
/// else, which go into the log. Others get a side record, from a pool that reuses their lists.
#[derive(Debug)]
pub(crate) struct SideRecords<E> {
    log: ObservationLog,
    all: Vec<SideRecord<E>>,
    free: Vec<usize>,
}

impl<E> Default for SideRecords<E> {
    fn default() -> Self {
        SideRecords { log: ObservationLog::default(), all: Vec::new(), free: Vec::new() }
    }
}

impl<E> SideRecords<E> {
    /// Takes an empty side record, and returns its number.
    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            if self.all.len() >= ObservationPlace::LIMIT as usize - 1 {
                Exhausted::Numbers.unwind();
            }
            self.all.make_room(1, SIDE_RECORDS);
            self.all.push(SideRecord::default());
            self.all.len() - 1
        })
    }

    /// Keeps what an event has observed and saved, and empties both lists. One of them is not
    /// empty.
    #[inline]
    pub(crate) fn keep(
        &mut self,
        observations: &mut Observations,
        saved: &mut Vec<u64>,
    ) -> SideRecordId {
        if saved.is_empty()
            && observations.is_plain()
            && let Some(place) = self.log.keep(observations)
        {
            return SideRecordId::of_place(place);
        }
        self.keep_side_record(observations, saved)
    }

    #[cold]
    fn keep_side_record(
        &mut self,
        observations: &mut Observations,
        saved: &mut Vec<u64>,
    ) -> SideRecordId {
        let number = self.take();
        let side_record = &mut self.all[number];
        if observations.is_plain() && !observations.is_empty() {
            side_record.observed = self.log.keep(observations);
        }
        observations.move_to(&mut side_record.observations);
        std::mem::swap(saved, &mut side_record.saved);
        SideRecordId::of_number(number)
    }

    /// The side record of an event, which gets an empty one if it has none yet.
    pub(crate) fn get_or_take(&mut self, id: SideRecordId) -> (SideRecordId, &mut SideRecord<E>) {
        let (number, observed) = match id.kind() {
            Kind::SideRecord(number) => return (id, &mut self.all[number]),
            Kind::Observed(place) => (self.take(), Some(place)),
            Kind::Nothing => (self.take(), None),
        };
        let side_record = &mut self.all[number];
        side_record.observed = observed;
        (SideRecordId::of_number(number), side_record)
    }

    /// The side record of an event, if it has one.
    #[inline]
    pub(crate) fn get(&mut self, id: SideRecordId) -> Option<&mut SideRecord<E>> {
        if let Kind::SideRecord(number) = id.kind() { Some(&mut self.all[number]) } else { None }
    }

    /// The figures that an event has observed. `observations` is the context's list.
    #[inline(always)]
    pub(crate) fn figures<'a>(
        &'a self,
        id: SideRecordId,
        observations: &'a Observations,
    ) -> &'a [Observation] {
        match id.kind() {
            Kind::Observed(place) => self.log.read(place, observations),
            Kind::SideRecord(number) => {
                self.all[number].observed.map_or(&[], |place| self.log.read(place, observations))
            }
            Kind::Nothing => &[],
        }
    }

    /// Forgets what the event of a side record has observed.
    pub(crate) fn forget_observed(&mut self, id: SideRecordId) {
        if let Some(side_record) = self.get(id) {
            side_record.observations.clear();
            if let Some(place) = side_record.observed.take() {
                self.log.release(place);
            }
        }
    }

    /// How much memory they take, in bytes, in use or free, without the lists in side records.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<SideRecord<E>>() * self.all.capacity()
            + size_of::<usize>() * self.free.capacity()
            + self.log.bytes()
    }

    /// How much more memory this many more side records would take, in bytes: if there is no room,
    /// their list doubles. Figures take little.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let room = self.all.capacity() - self.all.len() + self.free.len();
        if room < more { size_of::<SideRecord<E>>() * self.all.capacity() } else { 0 }
    }

    /// Makes room for this many more side records and hardly more.
    pub(crate) fn make_little_room(&mut self, more: usize) {
        self.all.make_little_room(more.saturating_sub(self.free.len()), SIDE_RECORDS);
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.free.sort_unstable();
        while self.free.last().is_some_and(|&number| number + 1 == self.all.len()) {
            self.free.pop();
            self.all.pop();
        }
        for &number in &self.free {
            self.all[number] = SideRecord::default();
        }
        self.all.shrink_to_fit();
        self.free.shrink_to_fit();
        self.log.give_back_room();
    }

    /// How many side records are in use, plus one if there are figures in the log.
    pub(crate) fn in_use(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64 + u64::from(!self.log.is_empty())
    }

    /// Forgets what an event has left behind.
    #[inline]
    pub(crate) fn give_back(&mut self, id: SideRecordId) {
        match id.kind() {
            Kind::Nothing => {}
            Kind::Observed(place) => self.log.release(place),
            Kind::SideRecord(number) => self.give_back_side_record(number),
        }
    }

    fn give_back_side_record(&mut self, number: usize) {
        let side_record = &mut self.all[number];
        side_record.clear();
        if let Some(place) = side_record.observed.take() {
            self.log.release(place);
        }
        self.free.make_room(1, SIDE_RECORDS);
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(side_records: &mut SideRecords<()>, word: u64) -> SideRecordId {
        side_records.keep(&mut Observations::default(), &mut vec![word])
    }

    #[test]
    fn memory_that_is_not_in_use_is_given_back_and_the_rest_stays_in_its_place() {
        let mut side_records = SideRecords::<()>::default();
        let ids: Vec<SideRecordId> = (0..100).map(|word| keep(&mut side_records, word)).collect();
        ids.iter()
            .enumerate()
            .filter(|(n, _)| ![2, 5].contains(n))
            .for_each(|(_, id)| side_records.give_back(*id));
        side_records.give_back_room();
        assert_eq!(
            (side_records.all.len(), side_records.all.capacity(), side_records.in_use()),
            (6, 6, 2)
        );
        assert_eq!(
            [2, 5].map(|n| side_records.get(ids[n]).map(|side_record| side_record.saved.clone())),
            [Some(vec![2]), Some(vec![5])]
        );
        // The four free ones are used again first.
        let more: Vec<SideRecordId> = (0..4).map(|word| keep(&mut side_records, word)).collect();
        assert_eq!((side_records.all.len(), side_records.in_use()), (6, 6));
        ids.iter()
            .enumerate()
            .filter(|(n, _)| [2, 5].contains(n))
            .for_each(|(_, id)| side_records.give_back(*id));
        more.into_iter().for_each(|id| side_records.give_back(id));
        side_records.give_back_room();
        assert_eq!(
            (side_records.bytes(), side_records.in_use()),
            (SideRecords::<()>::default().bytes(), 0)
        );
    }

    #[test]
    fn a_list_grows_by_as_much_as_it_has_unless_little_is_asked_for() {
        let mut side_records = SideRecords::<()>::default();
        assert_eq!(side_records.growth(3), 0, "there is nothing to double");
        side_records.make_little_room(80);
        assert_eq!((side_records.all.capacity(), side_records.growth(80)), (80, 0));
        assert_eq!(side_records.growth(81), 80 * size_of::<SideRecord<()>>());
        let ids: Vec<SideRecordId> = (0..80).map(|word| keep(&mut side_records, word)).collect();
        assert_eq!(side_records.growth(1), 80 * size_of::<SideRecord<()>>());
        side_records.make_little_room(1);
        assert_eq!(side_records.all.capacity(), 90);
        ids.into_iter().for_each(|id| side_records.give_back(id));
        assert_eq!(side_records.growth(90), 0);
    }
}
