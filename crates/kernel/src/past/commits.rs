//! How records commit and are reclaimed.

use warpline_base::VirtualTime;
use warpline_memory::Handle;
use warpline_model::statistics::{Observation, Observations};

use super::Past;
use super::history::{BLOCK, Fate, Record};
use super::side_records::SideRecordId;
use crate::agenda::store::OptionalHandle;

/// How a commit leaves a record.
pub(crate) enum RecordStatus {
    /// Its event has committed, or was undone.
    Closed,
    /// Its event may still be undone.
    Open,
}

/// A commit's scan of the history for events up to a time.
pub(crate) struct CommitScan {
    until: VirtualTime,
    next: u64,
    /// No record before this place is open.
    closed: u64,
}

impl CommitScan {
    /// Notes that the record at a place is closed.
    #[inline(always)]
    pub(crate) fn close(&mut self, place: u64) {
        self.closed += u64::from(self.closed == place);
    }
}

impl<S, E> Past<S, E> {
    /// The time before which everything has committed. If nothing is open, that is the `horizon`.
    #[inline]
    pub(crate) fn committed_to(&mut self, horizon: VirtualTime) -> VirtualTime {
        if !self.has_open() {
            self.committed_to = horizon;
        }
        self.committed_to
    }

    /// Notes that everything before this time has committed.
    pub(crate) fn commit_done(&mut self, before: VirtualTime) {
        self.committed_to = self.committed_to.max(before);
        self.left_open = self.open_len();
    }

    /// Whether enough has been executed since the last commit that a scan costs little per event.
    #[inline]
    pub(crate) fn is_worth_a_commit(&self) -> bool {
        const FEW: u64 = 64;
        self.open_len() >= FEW + 2 * self.left_open
    }

    /// Begins a scan for events up to a time. KPs roll back separately, so these may lie anywhere
    /// in the history.
    #[inline(always)]
    pub(crate) fn scan(&self, until: VirtualTime) -> CommitScan {
        let closed = self.history.open();
        CommitScan { until, next: self.history.skip_later_than(closed, until), closed }
    }

    /// The next place to look at.
    #[inline(always)]
    pub(crate) fn next(&self, scan: &mut CommitScan) -> Option<u64> {
        let place = scan.next;
        if place >= self.history.end() {
            return None;
        }
        scan.next += 1;
        if scan.next.is_multiple_of(BLOCK) {
            scan.next = self.history.skip_later_than(scan.next, scan.until);
        }
        Some(place)
    }

    /// Ends a scan.
    #[inline(always)]
    pub(crate) fn end_scan(&mut self, scan: &CommitScan) {
        self.history.close(scan.closed);
    }

    /// Whether the history is in order from this place on.
    #[inline(always)]
    pub(crate) fn is_in_order_from(&self, place: u64) -> bool {
        place >= self.inversion
    }

    /// The event recorded at a place, if there is one.
    #[inline(always)]
    pub(crate) fn event_at(&self, place: u64) -> Option<Handle> {
        self.history.event_at(place)
    }

    /// The event recorded at a place, if it may still be undone.
    #[inline(always)]
    pub(crate) fn open_event_at(&self, place: u64) -> Option<Handle> {
        self.history.open_event_at(place)
    }

    /// Begins the commit of the event whose record is at `place`, if it is open and due. Returns
    /// what `is_due` found, and the side record, which it takes out.
    ///
    /// # Errors
    /// The status of the record, if its event does not commit now.
    #[inline(always)]
    pub(crate) fn begin_commit<T>(
        &mut self,
        place: u64,
        is_due: impl FnOnce(Handle) -> Option<T>,
    ) -> Result<(T, SideRecordId), RecordStatus> {
        let record = self.history.get_mut(place);
        if record.fate != Fate::Open {
            return Err(RecordStatus::Closed);
        }
        let due = is_due(record.event).ok_or(RecordStatus::Open)?;
        Ok((due, std::mem::replace(&mut record.side_record, SideRecordId::NONE)))
    }

    /// Notes that the event of the record at `place` has committed.
    #[inline(always)]
    pub(crate) fn end_commit(&mut self, place: u64) {
        self.history.get_mut(place).fate = Fate::Committed;
    }

    /// The figures that an event has observed. `observations` is the context's list.
    #[inline(always)]
    pub(crate) fn figures<'a>(
        &'a self,
        side_record: SideRecordId,
        observations: &'a Observations,
    ) -> &'a [Observation] {
        self.side_records.figures(side_record, observations)
    }

    /// What an event has observed that is not in the log: rows, acts, and very many figures.
    pub(crate) fn observations(&mut self, side_record: SideRecordId) -> Option<&mut Observations> {
        self.side_records
            .get(side_record)
            .map(|side_record| &mut side_record.observations)
            .filter(|observations| !observations.is_empty())
    }

    /// The copies of what an event sent by value.
    pub(crate) fn copies_of_sent(
        &mut self,
        side_record: SideRecordId,
    ) -> impl Iterator<Item = OptionalHandle> {
        self.side_records
            .get(side_record)
            .into_iter()
            .flat_map(|side_record| side_record.sent.iter().map(|sent| sent.copy))
    }

    /// Whether committed records are kept for a while, as later states may have to be worked out
    /// from their copies.
    #[inline(always)]
    pub(crate) fn keeps_committed(&self) -> bool {
        self.undoing.lag() > 0
    }

    /// Takes out the first closed record if nothing needs it any more.
    #[inline]
    pub(crate) fn reclaim(&mut self) -> Option<Record<S>> {
        self.history.reclaim(self.undoing.lag())
    }

    /// Takes out the first closed record, needed or not: the run is over.
    pub(crate) fn reclaim_at_end(&mut self) -> Option<Record<S>> {
        self.history.reclaim(0)
    }

    /// Takes out the first record, whatever became of its event: the run has failed.
    pub(crate) fn take_first(&mut self) -> Option<Record<S>> {
        self.history.take_first()
    }

    /// Reclaims all records before the first that may be open. Their events were released when they
    /// committed.
    pub(crate) fn reclaim_closed(&mut self) {
        self.history.reclaim_closed();
    }

    /// The first place that has not been reclaimed.
    pub(crate) fn first(&self) -> u64 {
        self.history.first()
    }
}
