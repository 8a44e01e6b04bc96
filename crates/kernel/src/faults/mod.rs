pub(crate) mod failure;
pub(crate) mod panics;
mod suspect;

use std::cmp::Ordering;

use warpline_base::{EventKey, LpId, Moment, TieBreak, VirtualTime};
use warpline_memory::Handle;
use warpline_model::Fault;

use self::suspect::Suspect;
pub(crate) use self::suspect::{Blamed, ExecutedEvent};
use crate::agenda::Identity;
use crate::agenda::pending::Entry;
use crate::agenda::store::Incarnation;
use crate::faults::failure::{CommittedFault, FailedEvent, UNREADABLE_EVENT};
use crate::mail::wires::UnreadableEvent;

/// An event that failed. It is deferred until GVT reaches it: it may turn out never to happen, or
/// another PE may fail before it. All later events of the PE wait meanwhile.
#[derive(Debug)]
pub(crate) struct DeferredFault {
    pub(crate) key: EventKey,
    /// The LP that the event reached.
    pub(crate) lp: LpId,
    /// The event; `None` if its payload panicked when it was dropped.
    pub(crate) entry: Option<Entry>,
    pub(crate) fault: Fault,
    /// Whether nothing can undo the event any more, so that it is not tried again.
    pub(crate) certain: bool,
}

impl DeferredFault {
    /// Whether its event was cancelled.
    fn is_cancelled(&self, is_cancelled: impl FnOnce(Handle) -> bool) -> bool {
        !self.certain && self.entry.is_some_and(|entry| is_cancelled(entry.handle()))
    }
}

/// An LP whose state could not be worked out from an earlier copy. None of its events can be
/// executed until a rollback reaches a still earlier copy.
///
/// Its next event is deferred with that fault, and fails when GVT reaches it. If no event follows,
/// the run fails when the LP finishes. Sequential runs never fail like this, as they copy nothing.
#[derive(Debug)]
struct LostLp {
    /// Its index in the table of LPs.
    index: usize,
    fault: Fault,
}

/// An event that has arrived without its payload.
#[derive(Debug)]
struct Unreadable {
    key: EventKey,
    lp: LpId,
    /// What an anti-message would name; `None` if nobody can cancel the event.
    incarnation: Option<Incarnation>,
    why: String,
}

impl Unreadable {
    fn moment(&self) -> Moment {
        Moment::Event(self.key)
    }
}

/// Mistakes of the model, from when they are made until it is certain whether they happened.
///
/// Invariant: no mistake is the failure of this PE before GVT has reached it.
///
/// A mistake is *deferred* when its event fails. It is *dropped* if that event is cancelled or
/// tried again, and becomes *the failure* of this PE when GVT reaches it. Of several that GVT has
/// reached, the earliest counts. The fault of a *lost* LP is deferred for its next event. An
/// *unreadable* event cannot even be tried: it is deferred when it arrives, and happens only if it
/// comes before the end of the run.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Whether `deferred`, `unreadable`, `lost` or `failure` has anything in it: checked before
    /// every event.
    any: bool,
    deferred: Vec<DeferredFault>,
    unreadable: Vec<Unreadable>,
    lost: Vec<LostLp>,
    init: Option<Fault>,
    failure: Option<CommittedFault>,
    suspect: Suspect,
}

impl Faults {
    /// Whether no event is deferred, no LP is lost, and nothing has failed.
    #[inline(always)]
    pub(crate) fn are_none(&self) -> bool {
        !self.any
    }

    /// Brings `any` up to date after a change.
    fn changed(&mut self) {
        self.any = !(self.deferred.is_empty()
            && self.unreadable.is_empty()
            && self.lost.is_empty()
            && self.failure.is_none());
    }

    /// Notes that the code of the model is about to run for an event.
    #[inline(always)]
    pub(crate) fn begin_running(&mut self, entry: Entry) {
        self.suspect.set_running(Some(entry));
    }

    /// Notes that the code of the model has run.
    #[inline(always)]
    pub(crate) fn end_running(&mut self) {
        self.suspect.set_running(None);
    }

    /// Notes that the payload of an event that is over is about to be dropped.
    #[inline(always)]
    pub(crate) fn begin_dropping(&mut self, event: ExecutedEvent) {
        self.suspect.set_dropping(Some(event));
    }

    /// Notes that the payload has been dropped.
    #[inline(always)]
    pub(crate) fn end_dropping(&mut self) {
        self.suspect.set_dropping(None);
    }

    /// The event to blame for a panic; `None` if it was the engine that panicked.
    pub(crate) fn take_blamed(&mut self) -> Option<Blamed> {
        self.suspect.take()
    }

    /// Whether any deferred event has been cancelled, as `is_cancelled` tells.
    pub(crate) fn is_any_cancelled(&self, is_cancelled: impl Fn(Handle) -> bool) -> bool {
        self.deferred.iter().any(|deferred| deferred.is_cancelled(&is_cancelled))
    }

    /// Defers the fault of an event.
    pub(crate) fn defer(&mut self, deferred: DeferredFault) {
        self.deferred.push(deferred);
        self.changed();
    }

    /// The time of the first event that is deferred or unreadable, or has failed.
    pub(crate) fn first_time(&self) -> Option<VirtualTime> {
        let deferred = self.deferred.iter().map(|deferred| deferred.key.time);
        let unreadable = self.unreadable.iter().map(|event| event.key.time);
        let failed = self.failure.as_ref().map(|failed| failed.time);
        deferred.chain(unreadable).chain(failed).min()
    }

    /// Defers an event that cannot be executed, as it has arrived without its payload.
    pub(crate) fn defer_unreadable(&mut self, event: UnreadableEvent) {
        let UnreadableEvent { incarnation, receiver: lp, key, why, .. } = event;
        self.unreadable.push(Unreadable { key, lp, incarnation, why });
        self.changed();
    }

    /// Drops the unreadable event that an anti-message cancels. Returns whether there was one.
    pub(crate) fn cancel_unreadable(
        &mut self,
        Identity { sender, sequence, incarnation }: Identity,
    ) -> bool {
        let is_it = |event: &Unreadable| {
            (event.key.sender, event.key.sequence, event.incarnation)
                == (sender, sequence, Some(incarnation))
        };
        let Some(index) = self.unreadable.iter().position(is_it) else { return false };
        self.unreadable.swap_remove(index);
        self.changed();
        true
    }

    /// How many unreadable events there are.
    pub(crate) fn unreadable(&self) -> usize {
        self.unreadable.len()
    }

    /// The index of the earliest unreadable event before the end. Later ones never happen.
    fn first_unreadable(&self, end: VirtualTime, ties: TieBreak) -> Option<usize> {
        let before =
            (0..self.unreadable.len()).filter(|&index| self.unreadable[index].key.time < end);
        before.min_by(|&a, &b| ties.compare(&self.unreadable[a].key, &self.unreadable[b].key))
    }

    /// The earliest moment of all events that are deferred, or unreadable and before the end, and
    /// have not been cancelled.
    pub(crate) fn least(
        &self,
        end: VirtualTime,
        ties: TieBreak,
        is_cancelled: impl Fn(Handle) -> bool,
    ) -> Moment {
        let deferred = self
            .deferred
            .iter()
            .filter(|deferred| !deferred.is_cancelled(&is_cancelled))
            .map(|deferred| Moment::Event(deferred.key));
        let unreadable =
            self.first_unreadable(end, ties).map(|index| self.unreadable[index].moment());
        deferred.chain(unreadable).fold(Moment::Never, |least, moment| least.earlier(moment, ties))
    }

    /// GVT has reached `until`: the first unreadable event up to then happens if it comes before
    /// the end, and so fails.
    pub(crate) fn raise_unreadable(&mut self, until: &Moment, end: VirtualTime, ties: TieBreak) {
        let Some(index) = self
            .first_unreadable(end, ties)
            .filter(|&index| self.unreadable[index].moment().compare(until, ties).is_le())
        else {
            return;
        };
        let event = self.unreadable.swap_remove(index);
        let failed = FailedEvent { number: None, payload: UNREADABLE_EVENT.to_owned() };
        self.fail(
            CommittedFault {
                moment: event.moment(),
                lp: event.lp,
                time: event.key.time,
                event: Some(failed),
                fault: Fault::Unreadable(event.why),
            },
            ties,
        );
    }

    /// Whether an event must wait for an earlier one that is deferred or, after a failure, for the
    /// end. Two events may have the same key: one of them has been cancelled, and its anti-message
    /// may still be in transit.
    pub(crate) fn waits(&self, key: &EventKey, ties: TieBreak) -> bool {
        let comes_first = |other: &EventKey| ties.compare(other, key).is_le();
        self.failure.is_some()
            || self.deferred.iter().any(|deferred| comes_first(&deferred.key))
            || self.unreadable.iter().any(|event| comes_first(&event.key))
    }

    /// Takes out the events that may turn out differently when they are tried again.
    pub(crate) fn take_uncertain(&mut self) -> Vec<Entry> {
        let entries = self
            .deferred
            .extract_if(.., |deferred| !deferred.certain)
            .filter_map(|deferred| deferred.entry)
            .collect();
        self.changed();
        entries
    }

    /// Notes that the state of an LP, by its index, could not be worked out.
    pub(crate) fn lose(&mut self, index: usize, fault: Fault) {
        self.lost.push(LostLp { index, fault });
        self.changed();
    }

    /// Why the state of an LP could not be worked out, if it could not.
    pub(crate) fn lost(&self, index: usize) -> Option<&Fault> {
        self.lost.iter().find(|lost| lost.index == index).map(|lost| &lost.fault)
    }

    /// Forgets that an LP was lost, as its state is about to be worked out again. Returns whether
    /// it was.
    pub(crate) fn find_again(&mut self, index: usize) -> bool {
        let lost = self.lost.extract_if(.., |lost| lost.index == index).count() > 0;
        if lost {
            self.changed();
        }
        lost
    }

    /// Takes out all lost LPs, by index, and why they are lost.
    pub(crate) fn take_lost(&mut self) -> Vec<(usize, Fault)> {
        let lost = self.lost.drain(..).map(|lost| (lost.index, lost.fault)).collect();
        self.changed();
        lost
    }

    /// Notes that the initialisation of the next LP failed.
    pub(crate) fn fail_init(&mut self, fault: Fault) {
        self.init = Some(fault);
    }

    pub(crate) fn init_failed(&self) -> bool {
        self.init.is_some()
    }

    /// GVT has reached the initialisation of `lp`, the next of this PE: if it failed, that is the
    /// failure.
    pub(crate) fn raise_init(&mut self, lp: LpId) {
        if let Some(fault) = &self.init {
            self.failure = Some(CommittedFault {
                moment: Moment::Init(lp),
                lp,
                time: VirtualTime::ZERO,
                event: None,
                fault: fault.clone(),
            });
            self.changed();
        }
    }

    /// Takes out a deferred event that GVT has reached, unless it has been cancelled. GVT may
    /// already have passed an event that had been executed when GVT was computed, and that failed
    /// at its commit before the verdict came.
    pub(crate) fn take_deferred_at(
        &mut self,
        gvt: &Moment,
        ties: TieBreak,
        is_cancelled: impl Fn(Handle) -> bool,
    ) -> Option<DeferredFault> {
        let found = |deferred: &DeferredFault| match Moment::Event(deferred.key).compare(gvt, ties)
        {
            Ordering::Less => deferred.certain,
            Ordering::Equal => !deferred.is_cancelled(&is_cancelled),
            Ordering::Greater => false,
        };
        let index = self.deferred.iter().position(found)?;
        let deferred = self.deferred.swap_remove(index);
        self.changed();
        Some(deferred)
    }

    /// Notes a failure. Only the earliest counts.
    pub(crate) fn fail(&mut self, failed: CommittedFault, ties: TieBreak) {
        if self
            .failure
            .as_ref()
            .is_none_or(|earlier| failed.moment.is_before(&earlier.moment, ties))
        {
            self.failure = Some(failed);
            self.changed();
        }
    }

    pub(crate) fn failure(&self) -> Option<&CommittedFault> {
        self.failure.as_ref()
    }

    /// Where this PE failed, or [`Moment::Never`].
    pub(crate) fn failure_moment(&self) -> Moment {
        self.failure.as_ref().map_or(Moment::Never, |failed| failed.moment)
    }

    pub(crate) fn into_failure(self) -> Option<CommittedFault> {
        self.failure
    }
}
