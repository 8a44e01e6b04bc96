//! What a PE has executed and may have to undo.
//!
//! The [history](history::History) has a record of each executed event. Whatever else an event
//! leaves behind lies in a [side record](side_records::SideRecords): observations, what it saved
//! for its reverse code, and what it sent and may have to cancel. [`Copies`] decides when states
//! are copied. Under a journal, the [change log](change_log) has the changes of events. Under lazy
//! cancellation, [`PendingCancellations`] has what undone events had sent.

mod change_log;
mod commits;
mod copies;
mod executed;
mod history;
mod kps;
mod lazy;
mod observation_log;
mod pending_cancellations;
mod side_records;
mod timer_copies;
mod timers;
mod undone;

use std::num::NonZeroU32;

use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom};

use self::copies::Copies;
use self::history::History;
use self::kps::Kps;
use self::pending_cancellations::PendingCancellations;
use self::side_records::SideRecords;
use self::timer_copies::TimerCopies;
use crate::agenda::store::Incarnation;
use crate::{Tuning, Undoing};

pub(crate) use self::commits::RecordStatus;
pub(crate) use self::history::{Fate, Record, StateBefore};
pub(crate) use self::lazy::SentBefore;
pub(crate) use self::side_records::{SentAway, SideRecordId, Way};
pub(crate) use self::undone::Undone;

/// What a PE has executed and may have to undo.
///
/// Invariant: the open records of a KP are a chain in the order of their keys, and no open record
/// of a KP comes before a closed one.
#[derive(Debug)]
pub(crate) struct Past<S, E> {
    undoing: Undoing,
    history: History<S>,
    side_records: SideRecords<E>,
    timer_copies: TimerCopies,
    copies: Copies,
    /// What undone events had sent, and may send again.
    cancellations: PendingCancellations,
    kps: Kps,
    /// How often this PE has rolled back.
    incarnation: Incarnation,
    /// The last place at which the history was out of order. It is in order from here on.
    inversion: u64,
    /// The rank of the event executed last.
    last_rank: u128,
    /// The latest time of any event executed so far.
    latest: VirtualTime,
    /// Everything before this time has committed, if any record is open.
    committed_to: VirtualTime,
    /// How many records the last commit left open.
    left_open: u64,
    /// Processed events that were cancelled and have yet to be undone.
    cancelled: Vec<Handle>,
    /// LPs whose state has yet to be worked out from an earlier copy, by index.
    stale: Vec<usize>,
}

impl<S, E> Past<S, E> {
    /// The past of this many LPs.
    pub(crate) fn new(lps: usize, tuning: &Tuning) -> Self {
        // Where nothing is ever undone, nothing is copied.
        let copied = if tuning.lanes.has_speculative() { lps } else { 0 };
        let kps = Kps::new(lps, tuning.kps);
        Past {
            undoing: tuning.undoing,
            history: History::default(),
            side_records: SideRecords::default(),
            timer_copies: TimerCopies::default(),
            copies: Copies::new(tuning.undoing, copied),
            cancellations: PendingCancellations::new(tuning.cancellation, kps.len()),
            kps,
            incarnation: NonZeroU32::MIN,
            inversion: 0,
            last_rank: 0,
            latest: VirtualTime::ZERO,
            committed_to: VirtualTime::ZERO,
            left_open: 0,
            cancelled: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// Chooses the interval between copies anew, when a GVT has been found and this many events
    /// have been executed in all.
    pub(crate) fn on_gvt(&mut self, processed: u64) {
        self.copies.adapt(processed);
    }

    /// How many side records are in use when the run is over.
    pub(crate) fn side_records_in_use(&self) -> u64 {
        self.side_records.in_use()
    }

    /// How much memory the past takes, in bytes, in use or free, without what states and
    /// observations allocate themselves.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.cancelled.capacity() * size_of::<Handle>()
            + self.stale.capacity() * size_of::<usize>();
        self.history.bytes()
            + self.side_records.bytes()
            + self.copies.bytes()
            + self.timer_copies.bytes()
            + self.kps.bytes()
            + lists
    }

    /// How much more memory the longest lists would take, in bytes, for this many more events.
    pub(crate) fn growth(&self, events: usize) -> usize {
        self.history.growth(events) + self.side_records.growth(events)
    }

    /// Whether this many events could be executed without a longer history.
    pub(crate) fn has_room_for(&self, events: usize) -> bool {
        self.history.room() >= events
    }

    /// Makes room for this many more events and hardly more.
    pub(crate) fn make_little_room(&mut self, events: usize) {
        self.history.make_little_room(events);
        self.side_records.make_little_room(events);
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.history.give_back_room();
        self.side_records.give_back_room();
        self.cancelled.shrink_to_fit();
    }

    /// Whether any event may still be undone.
    #[inline(always)]
    pub(crate) fn has_open(&self) -> bool {
        self.open_len() > 0
    }

    /// How many records may be open.
    #[inline(always)]
    pub(crate) fn open_len(&self) -> u64 {
        self.history.open_len()
    }

    /// How many KPs there are.
    pub(crate) fn kps(&self) -> usize {
        self.kps.len()
    }

    /// The KP of an LP, by its index.
    #[inline(always)]
    pub(crate) fn kp_of(&self, index: usize) -> usize {
        self.kps.of(index)
    }

    /// The latest time of any event executed so far.
    pub(crate) fn latest(&self) -> VirtualTime {
        self.latest
    }

    /// How often this PE has rolled back.
    #[inline(always)]
    pub(crate) fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Whether the interval between copies is adapted.
    pub(crate) fn adapts_copies(&self) -> bool {
        self.copies.adapts()
    }

    /// The present number of events of an LP between copies.
    pub(crate) fn copy_interval(&self) -> u32 {
        self.copies.interval()
    }

    /// Sets how many events cost as much as a copy.
    pub(crate) fn set_copy_cost(&mut self, events: f64) {
        self.copies.set_cost(events);
    }

    /// Makes sure that the state of an LP is copied before its next speculative event, as it cannot
    /// be worked out from an earlier copy.
    #[inline(always)]
    pub(crate) fn copy_soon(&mut self, index: usize) {
        self.copies.soon(index);
    }

    /// The event that is recorded at a place.
    #[inline]
    pub(crate) fn event(&self, place: u64) -> Handle {
        self.history.get(place).event
    }

    /// The events that may still be undone, in the order of execution.
    pub(crate) fn open_events(&self) -> impl Iterator<Item = Handle> {
        (self.history.open()..self.history.end())
            .filter_map(|place| self.history.open_event_at(place))
    }

    /// The places of the events of a KP that may be undone, the last first.
    pub(crate) fn open_of(&self, k: usize) -> impl Iterator<Item = u64> {
        std::iter::successors(self.last_open(k), |place| {
            let before = self.history.get(*place).before?.get();
            self.history.is_open(before).then_some(before)
        })
    }

    /// The place of the last event of a KP, if it may be undone.
    #[inline]
    pub(crate) fn last_open(&self, k: usize) -> Option<u64> {
        let last = self.kps.last(k)?.get();
        self.history.is_open(last).then_some(last)
    }

    /// Closes all records before the first that is open.
    pub(crate) fn close_front(&mut self) {
        self.history.close_front();
    }

    /// Notes that a processed event was cancelled and has to be undone.
    pub(crate) fn cancel(&mut self, handle: Handle) {
        self.cancelled.make_room(1, "events that are undone");
        self.cancelled.push(handle);
    }

    /// Whether any processed event was cancelled and has yet to be undone.
    #[inline]
    pub(crate) fn has_cancelled(&self) -> bool {
        !self.cancelled.is_empty()
    }

    /// Takes out one of them.
    pub(crate) fn take_cancelled(&mut self) -> Option<Handle> {
        self.cancelled.pop()
    }
}
