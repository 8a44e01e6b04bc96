//! Handing a run over from one engine to another. When everything before some time has committed
//! and nothing later has been executed, a run is its LPs and its pending events.

use warpline_base::{Moment, VirtualTime};
use warpline_memory::{DropEach, Pool};

use super::Pe;
use crate::agenda::store::OptionalHandle;
use crate::pe::types::{EventOf, PeTypes, StateOf};
use crate::step::Step;
use crate::{Event, Lp};

impl<T: PeTypes> Pe<'_, T> {
    /// Takes over its LPs from another engine, initialised and by id, with their pending events.
    /// Call this before its first step.
    ///
    /// # Panics
    /// If these are not as many LPs as it has. If there is no memory for the events, it
    /// [unwinds](warpline_memory::Exhausted::unwind).
    pub fn take_over(
        &mut self,
        lps: DropEach<Lp<StateOf<T>>>,
        pending: impl IntoIterator<Item = Event<EventOf<T>>>,
    ) {
        self.lps.take_over(lps);
        for event in pending {
            let timer = event.as_timer().map(|timer| (self.lps.index(event.receiver), timer));
            let handle = self.agenda.insert(event, OptionalHandle::default());
            if let Some((index, timer)) = timer {
                self.executor.timers_mut().push(index, timer, handle);
            }
            self.gauge.count(|counts| counts.taken_over += 1);
        }
        self.executor.timers_mut().sort();
    }

    /// Makes the first event before `end` that has arrived without its payload fail, as no engine
    /// can take it over. It is certain to happen, as all PEs have [finished](Step::Finished) before
    /// it.
    pub fn fail_unreadable(&mut self, end: VirtualTime) {
        self.faults.raise_unreadable(&Moment::Never, end, self.world.ties());
    }

    /// Takes out the events that are pending beyond the end. Call this when all PEs have
    /// [finished](Step::Finished): then everything that they sent has arrived, and nothing is open.
    ///
    /// # Panics
    /// If the PE has not finished.
    pub fn hand_over(&mut self) -> Pool<Event<EventOf<T>>> {
        assert_eq!(
            self.frontier.over(),
            Some(Step::Finished),
            "a run is handed over when everything before the end has committed"
        );
        let mut pending = Pool::default();
        self.agenda.take_back_before(VirtualTime::AFTER_ALL);
        while let Some(entry) = self.agenda.pop_before(VirtualTime::AFTER_ALL) {
            if self.agenda.is_cancelled(entry.handle()) {
                self.annihilate(entry.handle());
            } else {
                pending.insert(self.agenda.take(entry.handle()));
            }
        }
        self.gauge.count(|counts| counts.handed_over += pending.len() as u64);
        pending
    }
}
