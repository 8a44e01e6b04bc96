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

/// An event that failed. It waits until GVT reaches it, as it may still turn out not to happen, or
/// another PE may fail before it. All later events of the PE wait with it.
#[derive(Debug)]
pub(crate) struct DeferredFault {
    pub(crate) key: EventKey,
    /// The LP that the event reached.
    pub(crate) lp: LpId,
    /// The event; `None` if its payload panicked when it was dropped.
    pub(crate) entry: Option<Entry>,
    pub(crate) fault: Fault,
    /// Whether nothing can undo the event any more. Then it is not tried again.
    pub(crate) certain: bool,
}

impl DeferredFault {
    /// Whether its event was cancelled.
    fn is_cancelled(&self, is_cancelled: impl FnOnce(Handle) -> bool) -> bool {
        !self.certain && self.entry.is_some_and(|entry| is_cancelled(entry.handle()))
    }
}

/// An LP whose state could not be worked out from an earlier copy. None of its events can be
/// executed until a rollback reaches a copy that is earlier still.
///
/// Its next event is held with that fault, and fails when GVT reaches it. If no event follows, the
/// run fails when the LP finishes. No sequential run has this failure, as it copies nothing.
#[derive(Debug)]
struct LostLp {
    /// Its index in the table of LPs.
    index: usize,
    fault: Fault,
}

/// An event that has arrived without what it carries.
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

/// Mistakes of the model, from when they are made until it is known whether they happened.
///
/// Invariant: no mistake is the failure of this PE before GVT has reached it.
///
/// A mistake is *held* from when its event fails. It is *dropped* if that event is cancelled or
/// tried again, and becomes *the failure* of this PE when GVT reaches it. Of several that GVT has
/// reached, the earliest counts. The fault of a *lost* LP is held for its next event. An
/// *unreadable* event is one that cannot even be tried: it is held from when it arrives, and
/// happens only before the end of the run.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Whether any of the next five but `init` is set: checked before every event.
    any: bool,
    held: Vec<DeferredFault>,
    unreadable: Vec<Unreadable>,
    lost: Vec<LostLp>,
    init: Option<Fault>,
    failure: Option<CommittedFault>,
    suspect: Suspect,
}

impl Faults {
    /// Whether no event is held back, no LP is lost, and nothing has failed.
    #[inline(always)]
    pub(crate) fn are_none(&self) -> bool {
        !self.any
    }

    fn changed(&mut self) {
        self.any = !(self.held.is_empty()
            && self.unreadable.is_empty()
            && self.lost.is_empty()
            && self.failure.is_none());
    }

    /// The code of the model runs for an event.
    #[inline(always)]
    pub(crate) fn begin_running(&mut self, entry: Entry) {
        self.suspect.set_running(Some(entry));
    }

    /// The code of the model has run.
    #[inline(always)]
    pub(crate) fn end_running(&mut self) {
        self.suspect.set_running(None);
    }

    /// The payload of an event that is over is about to be dropped.
    #[inline(always)]
    pub(crate) fn begin_dropping(&mut self, event: ExecutedEvent) {
        self.suspect.set_dropping(Some(event));
    }

    /// It has been dropped.
    #[inline(always)]
    pub(crate) fn end_dropping(&mut self) {
        self.suspect.set_dropping(None);
    }

    /// The event to blame for a panic; `None` if it was the engine that panicked.
    pub(crate) fn take_blamed(&mut self) -> Option<Blamed> {
        self.suspect.take()
    }

    /// Whether an event that is held back has been cancelled, as `is_cancelled` tells.
    pub(crate) fn is_any_cancelled(&self, is_cancelled: impl Fn(Handle) -> bool) -> bool {
        self.held.iter().any(|held| held.is_cancelled(&is_cancelled))
    }

    pub(crate) fn hold(&mut self, held: DeferredFault) {
        self.held.push(held);
        self.changed();
    }

    /// The time of the first event that is held back, unreadable or has failed.
    pub(crate) fn first_time(&self) -> Option<VirtualTime> {
        let waiting = self
            .held
            .iter()
            .map(|held| held.key.time)
            .chain(self.unreadable.iter().map(|event| event.key.time));
        waiting.chain(self.failure.as_ref().map(|failed| failed.time)).min()
    }

    /// Holds an event that cannot be executed, as it has arrived without what it carries.
    pub(crate) fn hold_unreadable(&mut self, event: UnreadableEvent) {
        let UnreadableEvent { incarnation, receiver: lp, key, why, .. } = event;
        self.unreadable.push(Unreadable { key, lp, incarnation, why });
        self.changed();
    }

    /// Drops an unreadable event that is cancelled. Returns whether there was one.
    pub(crate) fn cancel_unreadable(
        &mut self,
        Identity { sender, sequence, incarnation }: Identity,
    ) -> bool {
        let is_it = |event: &Unreadable| {
            (event.key.sender, event.key.sequence, event.incarnation)
                == (sender, sequence, Some(incarnation))
        };
        let found =
            self.unreadable.iter().position(is_it).map(|index| self.unreadable.swap_remove(index));
        self.changed();
        found.is_some()
    }

    /// How many unreadable events there are.
    pub(crate) fn unreadable(&self) -> usize {
        self.unreadable.len()
    }

    /// The earliest unreadable event before the end: one that comes later never happens.
    fn first_unreadable(&self, end: VirtualTime, ties: TieBreak) -> Option<usize> {
        let before =
            (0..self.unreadable.len()).filter(|&index| self.unreadable[index].key.time < end);
        before.min_by(|&a, &b| ties.compare(&self.unreadable[a].key, &self.unreadable[b].key))
    }

    /// The earliest moment of what is held back or unreadable before the end, and has not been
    /// cancelled.
    pub(crate) fn least(
        &self,
        end: VirtualTime,
        ties: TieBreak,
        is_cancelled: impl Fn(Handle) -> bool,
    ) -> Moment {
        let held = self.held.iter().filter(|held| !held.is_cancelled(&is_cancelled));
        let held =
            held.fold(Moment::Never, |least, held| least.earlier(Moment::Event(held.key), ties));
        self.first_unreadable(end, ties)
            .map_or(held, |index| held.earlier(self.unreadable[index].moment(), ties))
    }

    /// GVT has reached `until`: the first unreadable event up to then happens, and fails, if it
    /// comes before the end.
    pub(crate) fn raise_unreadable(&mut self, until: &Moment, end: VirtualTime, ties: TieBreak) {
        let Some(index) = self
            .first_unreadable(end, ties)
            .filter(|&index| self.unreadable[index].moment().compare(until, ties).is_le())
        else {
            return;
        };
        let event = self.unreadable.swap_remove(index);
        let (moment, time) = (event.moment(), event.key.time);
        let text = Some(FailedEvent { number: None, payload: UNREADABLE_EVENT.to_owned() });
        self.fail(
            CommittedFault {
                moment,
                lp: event.lp,
                time,
                event: text,
                fault: Fault::Unreadable(event.why),
            },
            ties,
        );
    }

    /// Whether an event must wait: for an earlier one that is held back, or for the end, after a
    /// failure. Of two events with the same key, one has been cancelled, and its anti-message may
    /// still be in transit.
    pub(crate) fn waits(&self, key: &EventKey, ties: TieBreak) -> bool {
        let comes_first = |held: &EventKey| ties.compare(held, key).is_le();
        self.failure.is_some()
            || self.held.iter().any(|held| comes_first(&held.key))
            || self.unreadable.iter().any(|event| comes_first(&event.key))
    }

    /// Releases the events that may still turn out differently, to be tried again.
    pub(crate) fn release(&mut self) -> Vec<Entry> {
        let entries =
            self.held.extract_if(.., |held| !held.certain).filter_map(|held| held.entry).collect();
        self.changed();
        entries
    }

    /// The state of an LP, by its index, could not be worked out.
    pub(crate) fn lose(&mut self, index: usize, fault: Fault) {
        self.lost.push(LostLp { index, fault });
        self.changed();
    }

    /// Why the state of an LP could not be worked out, if it could not.
    pub(crate) fn lost(&self, index: usize) -> Option<&Fault> {
        self.lost.iter().find(|lost| lost.index == index).map(|lost| &lost.fault)
    }

    /// The state of an LP is to be worked out again. Returns whether the LP was lost.
    pub(crate) fn find_again(&mut self, index: usize) -> bool {
        let lost = self.lost.extract_if(.., |lost| lost.index == index).count() > 0;
        if lost {
            self.changed();
        }
        lost
    }

    /// All LPs that are lost for good, by index, and why.
    pub(crate) fn take_lost(&mut self) -> Vec<(usize, Fault)> {
        let lost = self.lost.drain(..).map(|lost| (lost.index, lost.fault)).collect();
        self.changed();
        lost
    }

    /// The initialisation of the next LP failed.
    pub(crate) fn fail_init(&mut self, fault: Fault) {
        self.init = Some(fault);
    }

    pub(crate) fn init_failed(&self) -> bool {
        self.init.is_some()
    }

    /// GVT has reached the initialisation of `lp`, the next of this PE.
    pub(crate) fn raise_init(&mut self, lp: LpId) {
        if let Some(fault) = &self.init {
            let (moment, fault) = (Moment::Init(lp), fault.clone());
            self.failure =
                Some(CommittedFault { moment, lp, time: VirtualTime::ZERO, event: None, fault });
            self.changed();
        }
    }

    /// Takes out a held event that GVT has reached, unless it has been cancelled. GVT may already
    /// have passed an event that was executed when GVT was computed, and failed at its commit
    /// before the verdict came.
    pub(crate) fn take_held_at(
        &mut self,
        gvt: &Moment,
        ties: TieBreak,
        is_cancelled: impl Fn(Handle) -> bool,
    ) -> Option<DeferredFault> {
        let found = |held: &DeferredFault| match Moment::Event(held.key).compare(gvt, ties) {
            Ordering::Less => held.certain,
            Ordering::Equal => !held.is_cancelled(&is_cancelled),
            Ordering::Greater => false,
        };
        let held = self.held.iter().position(found).map(|index| self.held.swap_remove(index));
        self.changed();
        held
    }

    /// Notes a failure; only the earliest counts.
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
