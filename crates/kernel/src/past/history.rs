use std::collections::VecDeque;
use std::num::NonZeroU64;

use warpline_base::{HistoryDigest, VirtualTime};
use warpline_memory::{Handle, MakeRoom, drop_each};

use crate::agenda::store::OptionalHandle;
use crate::past::change_log::{ChangeLog, LogPlace};
use crate::past::side_records::SideRecordId;

/// How messages to users call the history.
const HISTORY: &str = "the history of events that may be undone";
/// Commits skip records in blocks of this many places, a power of two.
pub(crate) const BLOCK: u64 = 64;

/// What became of an executed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It may still be undone.
    Open,
    /// It was undone, and the record is empty.
    Undone,
    /// It has committed.
    Committed,
}

/// How to restore the state that an LP had before an event.
#[derive(Debug)]
pub(crate) enum StateBefore<S> {
    /// By reverse code, or by working it out from an earlier copy.
    WorkedOut,
    /// By this copy.
    Copied(S),
    /// By undoing what the event changed, which is logged from this place on.
    Logged(LogPlace),
}

impl<S> StateBefore<S> {
    /// Takes the copy out, if there is one.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        match self {
            StateBefore::Logged(from) => StateBefore::Logged(*from),
            other => std::mem::replace(other, StateBefore::WorkedOut),
        }
    }

    /// The copy, if there is one.
    pub(crate) fn copy(&self) -> Option<&S> {
        match self {
            StateBefore::Copied(state) => Some(state),
            _ => None,
        }
    }
}

/// What is needed to undo an executed event, or to apply its effects when it commits.
#[derive(Debug)]
pub(crate) struct Record<S> {
    pub(crate) event: Handle,
    /// The last message that the event sent; each links to the previous one.
    pub(crate) sent: OptionalHandle,
    /// The place of the previous record in the same KP, if any. It may be closed or reclaimed.
    pub(crate) before: Option<NonZeroU64>,
    /// The LP's digest before the event.
    pub(crate) digest: HistoryDigest,
    pub(crate) side_record: SideRecordId,
    pub(crate) fate: Fate,
    pub(crate) state: StateBefore<S>,
}

/// The executed events of a PE that may still be undone, in the order of execution, preceded by
/// those that are kept a little longer because later states are worked out from their copies.
///
/// A *place* numbers records from the start of the run, from 1 on. Rollback empties records at any
/// place, and commit closes them; memory is reclaimed from the front. The records of a KP form a
/// chain, from the last to the first, in the order of their keys. The records of the PE as a whole
/// need not be in that order, as KPs roll back separately.
///
/// Execution appends, so there is no list per LP or KP to manage.
#[derive(Debug)]
pub(crate) struct History<S> {
    records: VecDeque<Record<S>>,
    /// The place of the first record.
    first: u64,
    /// No record before this place is open.
    open: u64,
    /// For each block of places, from that of the first record on, a lower bound on the times of
    /// its records.
    earliest: VecDeque<VirtualTime>,
    /// What the events have changed, under a journal. Undone records still have their places in it.
    log: ChangeLog,
}

impl<S> Drop for History<S> {
    fn drop(&mut self) {
        drop_each(self.records.drain(..));
    }
}

impl<S> Default for History<S> {
    fn default() -> Self {
        History {
            records: VecDeque::new(),
            first: 1,
            open: 1,
            earliest: VecDeque::new(),
            log: ChangeLog::default(),
        }
    }
}

impl<S> History<S> {
    /// Adds the record of an event that is about to be executed at `time`. Inlined, so that its
    /// fields are written straight into their place: to copy them there as a whole, the core would
    /// have to read them back right after writing them, and stall.
    #[inline(always)]
    pub(crate) fn push(&mut self, record: Record<S>, time: VirtualTime) -> &mut Record<S> {
        self.note_time(self.end(), time);
        self.records.make_room(1, HISTORY);
        self.records.push_back(record);
        let last = self.records.len() - 1;
        &mut self.records[last]
    }

    #[inline(always)]
    fn note_time(&mut self, place: u64, time: VirtualTime) {
        let block = (place / BLOCK - self.first / BLOCK) as usize;
        // Records removed from the end leave their times behind. The time of a block is replaced
        // when the block is begun again.
        match self.earliest.get_mut(block) {
            Some(earliest) if !place.is_multiple_of(BLOCK) => *earliest = time.min(*earliest),
            Some(earliest) => *earliest = time,
            None => {
                self.earliest.make_room(1, HISTORY);
                self.earliest.push_back(time);
            }
        }
    }

    /// The first place at or after `place` that is not in a block whose records all come after
    /// `time`.
    #[inline]
    pub(crate) fn skip_later_than(&self, mut place: u64, time: VirtualTime) -> u64 {
        while self
            .earliest
            .get((place / BLOCK - self.first / BLOCK) as usize)
            .is_some_and(|earliest| *earliest > time)
        {
            place = (place / BLOCK + 1) * BLOCK;
        }
        place.min(self.end())
    }

    /// Notes that the event of the last record, which is about to be executed, logs its changes.
    #[inline]
    pub(crate) fn begin_changes(&mut self) {
        if let Some(record) = self.records.back_mut() {
            record.state = StateBefore::Logged(self.log.end());
        }
    }

    /// Appends what the event of the last record has changed to the log, and empties the list.
    #[inline]
    pub(crate) fn log_changes(&mut self, changes: &mut Vec<u64>) {
        self.log.append(changes);
    }

    /// Copies what the event of the record at `place` has changed to the end of a list.
    pub(crate) fn read_changes(&self, place: u64, into: &mut Vec<u64>) {
        let begin = |place: u64| match self.records.get((place - self.first) as usize)?.state {
            StateBefore::Logged(from) => Some(from),
            _ => None,
        };
        if let Some(from) = begin(place) {
            self.log.read(from, begin(place + 1).unwrap_or(self.log.end()), into);
        }
    }

    /// Removes the last record. Its event has failed or was parked, so it has nothing in the log.
    pub(crate) fn pop(&mut self) -> Option<Record<S>> {
        self.records.pop_back()
    }

    /// The last record.
    pub(crate) fn last(&self) -> Option<&Record<S>> {
        self.records.back()
    }

    /// The place of the next record.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// The first place that has not been reclaimed.
    #[inline]
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The first place that may be open.
    #[inline]
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// Whether the event at `place` may be undone.
    #[inline]
    pub(crate) fn is_open(&self, place: u64) -> bool {
        place >= self.open && self.get(place).fate == Fate::Open
    }

    /// Whether there is a record at `place`.
    pub(crate) fn holds(&self, place: u64) -> bool {
        place >= self.first && place < self.end()
    }

    #[inline]
    pub(crate) fn get(&self, place: u64) -> &Record<S> {
        &self.records[(place - self.first) as usize]
    }

    /// The event of the record at `place`, if there is one.
    #[inline]
    pub(crate) fn event_at(&self, place: u64) -> Option<Handle> {
        self.records.get((place - self.first) as usize).map(|record| record.event)
    }

    /// The same if the event may still be undone.
    #[inline]
    pub(crate) fn open_event_at(&self, place: u64) -> Option<Handle> {
        self.records
            .get((place - self.first) as usize)
            .filter(|record| record.fate == Fate::Open)
            .map(|record| record.event)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: u64) -> &mut Record<S> {
        &mut self.records[(place - self.first) as usize]
    }

    /// Drops undone records at the end.
    #[inline]
    pub(crate) fn trim(&mut self) {
        while self.end() > self.open
            && self.records.back().is_some_and(|record| record.fate == Fate::Undone)
        {
            if let Some(Record { state: StateBefore::Logged(from), .. }) = self.records.pop_back() {
                self.log.truncate(from);
            }
        }
    }

    /// Notes that no record before `place` is open.
    pub(crate) fn close(&mut self, place: u64) {
        self.open = place;
    }

    /// Closes all records before the first that is open.
    pub(crate) fn close_front(&mut self) {
        while self.open < self.end() && self.get(self.open).fate != Fate::Open {
            self.open += 1;
        }
    }

    /// Reclaims all records before the first that may be open. A panic on dropping a copy of a
    /// state is ignored, as the engine made the copy.
    pub(crate) fn reclaim_closed(&mut self) {
        drop_each(self.records.drain(..(self.open - self.first) as usize));
        self.set_first(self.open);
        match self.records.front() {
            Some(Record { state: StateBefore::Logged(from), .. }) => self.log.reclaim_before(*from),
            Some(_) => {}
            None => self.log.reclaim_before(self.log.end()),
        }
    }

    /// Takes out the first record if it lies more than `lag` places before all that may be open.
    #[inline]
    pub(crate) fn reclaim(&mut self, lag: u64) -> Option<Record<S>> {
        if self.first + lag >= self.open {
            return None;
        }
        self.set_first(self.first + 1);
        self.records.pop_front()
    }

    #[inline]
    fn set_first(&mut self, first: u64) {
        let blocks = (first / BLOCK - self.first / BLOCK) as usize;
        if blocks > 0 {
            self.earliest.drain(..blocks.min(self.earliest.len()));
        }
        self.first = first;
    }

    /// Takes out the first record, whatever became of its event: the run is over.
    pub(crate) fn take_first(&mut self) -> Option<Record<S>> {
        self.records.pop_front()
    }

    /// How many records could be added without taking more memory.
    pub(crate) fn room(&self) -> usize {
        self.records.capacity() - self.records.len()
    }

    /// How much more memory this many more records would take, in bytes: if there is no room, their
    /// list doubles.
    pub(crate) fn growth(&self, records: usize) -> usize {
        if self.room() < records { size_of::<Record<S>>() * self.records.capacity() } else { 0 }
    }

    /// Makes room for this many more records and hardly more.
    pub(crate) fn make_little_room(&mut self, records: usize) {
        self.records.make_little_room(records, HISTORY);
    }

    /// How much memory the records and the log take, in bytes, in use or free.
    pub(crate) fn bytes(&self) -> usize {
        let records = size_of::<Record<S>>() * self.records.capacity()
            + size_of::<VirtualTime>() * self.earliest.capacity();
        records + self.log.bytes()
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.records.shrink_to_fit();
        self.earliest.shrink_to_fit();
        self.log.give_back_room();
    }

    /// How many records may be open.
    pub(crate) fn open_len(&self) -> u64 {
        self.end() - self.open
    }
}

#[cfg(test)]
mod tests;
