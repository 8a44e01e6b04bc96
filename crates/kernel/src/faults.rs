use std::cmp::Ordering;

use warpline_base::{EventKey, LpId, Moment, TieBreak, VirtualTime};
use warpline_memory::Handle;
use warpline_model::Fault;

use crate::failure::Failed;
use crate::pending::Entry;

/// An event that did what it must not. It waits until GVT reaches it, as it may still turn out not to happen, or another PE may fail before
/// it; and all later events of the PE wait with it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) entry: Entry,
    pub(crate) key: EventKey,
    pub(crate) fault: Fault,
    /// Whether nothing can undo it any more, so that it is not tried again.
    pub(crate) certain: bool,
}

impl Held {
    pub(crate) fn event(&self) -> Handle {
        self.entry.handle()
    }
}

/// Mistakes of the model, from when they are made until they are known to have happened or not.
///
/// A mistake is *held* from when its event fails. It is *dropped* if that event is cancelled or tried again, and becomes *the failure* of this
/// PE when GVT reaches it. Of several that GVT has reached, the earliest counts.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    held: Vec<Held>,
    init: Option<Fault>,
    failure: Option<Failed>,
}

impl Faults {
    /// Whether no event is held back, and nothing has failed.
    #[inline(always)]
    pub(crate) fn are_none(&self) -> bool {
        self.held.is_empty() && self.failure.is_none()
    }

    pub(crate) fn held(&self) -> &[Held] {
        &self.held
    }

    pub(crate) fn hold(&mut self, held: Held) {
        self.held.push(held);
    }

    /// The time of the first event that is held back or has failed.
    pub(crate) fn first_time(&self) -> Option<VirtualTime> {
        self.held.iter().map(|held| held.key.time).chain(self.failure.as_ref().map(|failed| failed.time)).min()
    }

    /// Whether an event must wait for one that is held back, as it comes after it, or for the end, as there was a failure. Of two events with
    /// the same key one has been cancelled, of which an anti-message may still have to tell.
    pub(crate) fn waits(&self, key: &EventKey, ties: TieBreak) -> bool {
        self.failure.is_some() || self.held.iter().any(|held| ties.compare(&held.key, key).is_le())
    }

    /// Lets go of what may still come otherwise: it is to be tried again.
    pub(crate) fn release(&mut self) -> Vec<Entry> {
        self.held.extract_if(.., |held| !held.certain).map(|held| held.entry).collect()
    }

    /// The initialisation of the next LP went wrong.
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
            self.failure = Some(Failed { moment, lp, time: VirtualTime::ZERO, event: None, fault });
        }
    }

    /// Takes out one that is held back and that GVT has reached, unless its event has been cancelled. GVT may have passed an event that was
    /// executed when GVT was computed and that failed when it committed, before the verdict came.
    pub(crate) fn take_held_at(&mut self, gvt: &Moment, ties: TieBreak, is_cancelled: impl Fn(Handle) -> bool) -> Option<Held> {
        let found = |held: &Held| match Moment::Event(held.key).compare(gvt, ties) {
            Ordering::Less => held.certain,
            Ordering::Equal => !is_cancelled(held.event()),
            Ordering::Greater => false,
        };
        self.held.iter().position(found).map(|index| self.held.swap_remove(index))
    }

    /// Notes a failure, of which only the earliest counts.
    pub(crate) fn fail(&mut self, failed: Failed, ties: TieBreak) {
        if self.failure.as_ref().is_none_or(|earlier| failed.moment.is_before(&earlier.moment, ties)) {
            self.failure = Some(failed);
        }
    }

    pub(crate) fn failure(&self) -> Option<&Failed> {
        self.failure.as_ref()
    }

    /// Where this PE failed, or [`Moment::Never`].
    pub(crate) fn failure_moment(&self) -> Moment {
        self.failure.as_ref().map_or(Moment::Never, |failed| failed.moment)
    }

    pub(crate) fn into_failure(self) -> Option<Failed> {
        self.failure
    }
}
