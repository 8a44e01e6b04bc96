//! Faults that are certain: GVT reaches them, and they become failures of the run. How events that
//! fail are deferred until then, see `lanes/deferred.rs`.

use std::any::Any;
use std::panic::resume_unwind;

use warpline_base::{EventKey, LpId, Moment};
use warpline_model::Fault;

use super::Pe;
use crate::agenda::pending::Entry;
use crate::faults::failure::{CommittedFault, FailedEvent, drop_fault, event_text};
use crate::faults::panics::panic_message;
use crate::faults::{Blamed, DeferredFault, ExecutedEvent};
use crate::pe::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// Raises deferred faults that GVT has reached: they become failures.
    pub(super) fn raise_faults(&mut self, gvt: Moment) {
        let next = self.lps.next();
        if gvt == Moment::Init(next) {
            self.faults.raise_init(next);
        }
        while let Some(deferred) = self
            .faults
            .take_deferred_at(&gvt, self.world.ties(), |event| self.agenda.is_cancelled(event))
        {
            self.fail_certain(deferred);
        }
        self.faults.raise_unreadable(&gvt, self.world.end(), self.world.ties());
        if gvt == Moment::Never {
            // No event is left for which these faults could be deferred.
            for (index, fault) in self.faults.take_lost() {
                let lp = self.lps.id(index);
                let time = self.world.end();
                self.faults.fail(
                    CommittedFault { moment: Moment::Finish(lp), lp, time, event: None, fault },
                    self.world.ties(),
                );
            }
        }
    }

    /// Notes that the event that was committing, or being dropped, panicked.
    pub(super) fn fail_panicked(&mut self, panic: Box<dyn Any + Send>) {
        match self.faults.take_blamed() {
            Some(Blamed::Running(entry)) => self.fail(entry, Fault::Panic(panic_message(panic))),
            Some(Blamed::Dropped(over)) => self.fail_dropped(over, panic),
            // The engine itself panicked.
            None => resume_unwind(panic),
        }
    }

    /// Notes that the payload of an event that is over panicked when it was dropped.
    #[cold]
    pub(super) fn fail_dropped(
        &mut self,
        ExecutedEvent { key, lp }: ExecutedEvent,
        panic: Box<dyn Any + Send>,
    ) {
        self.executor.forget();
        self.fail_certain(DeferredFault {
            key,
            lp,
            entry: None,
            fault: drop_fault(panic),
            certain: true,
        });
    }

    /// Notes that an event failed when it committed.
    pub(super) fn fail(&mut self, entry: Entry, fault: Fault) {
        // What the model observed on commit is forgotten.
        self.executor.forget();
        let event = self.agenda.event(entry.handle());
        let key = event.key();
        let lp = event.receiver;
        self.fail_certain(DeferredFault { key, lp, entry: Some(entry), fault, certain: true });
    }

    /// The number of a failed event among those of its LP, counted from 1. Any other open events of
    /// the LP are later.
    fn number_of(&self, key: &EventKey, lp: LpId) -> u64 {
        let this = Moment::Event(*key);
        let open = self.past.open_events().map(|handle| self.agenda.event(handle));
        let from_here = open
            .filter(|event| {
                event.receiver == lp
                    && !Moment::Event(event.key()).is_before(&this, self.world.ties())
            })
            .count();
        self.lps.get(self.lps.index(lp)).events - from_here as u64 + 1
    }

    /// Notes a fault that is certain. If GVT has reached it, it is a failure, of which only the
    /// earliest counts. Otherwise it is deferred, as other PEs may fail earlier. When the run is
    /// over, everything that has committed came before any failure.
    fn fail_certain(&mut self, certain: DeferredFault) {
        let moment = Moment::Event(certain.key);
        if self.frontier.over().is_none()
            && self.frontier.gvt().is_before(&moment, self.world.ties())
        {
            return self.faults.defer(certain);
        }
        let DeferredFault { key, lp, entry, fault, .. } = certain;
        let event = entry.map_or_else(FailedEvent::dropped, |entry| FailedEvent {
            number: Some(self.number_of(&key, lp)),
            payload: event_text(&self.agenda.event(entry.handle()).payload),
        });
        self.faults.fail(
            CommittedFault { moment, lp, time: key.time, event: Some(event), fault },
            self.world.ties(),
        );
    }
}
