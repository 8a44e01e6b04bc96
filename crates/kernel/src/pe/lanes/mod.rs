//! How a PE executes events: for good in the safe lane, or ahead in the speculative lane.

mod deferred;
mod flow;
mod initialise;
mod safe;
mod speculative;

use warpline_memory::catch_panic;

use super::Pe;
use crate::agenda::fetch::{fetch_ahead, fetch_payload};
use crate::gauge::phases::Phase;
use crate::gvt::Gvt;
use crate::pe::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// Executes a batch of events, or initialises LPs, and returns how many.
    pub(in crate::pe) fn execute(&mut self, watched: bool) -> u32 {
        let executed = self.execute_batch(watched);
        self.caution.on_step(executed);
        self.gauge.lap(Phase::Execute);
        executed
    }

    fn execute_batch(&mut self, watched: bool) -> u32 {
        if !self.lps.all_initialised() {
            return self.initialise_lps();
        }
        if self.gvt.is_paused() || self.faults.failure().is_some() || self.mail.is_clogged() {
            return 0;
        }
        self.agenda.begin_batch(self.lps.bytes());
        self.retry_if_cancelled();
        if self.world.tuning().crowded {
            self.fetch_batch();
        }
        let start = self.gauge.counts().processed;
        // Panics are caught once per batch, not per event.
        loop {
            let left = self.world.tuning().batch - (self.gauge.counts().processed - start) as u32;
            match catch_panic(|| {
                if watched { self.execute_watched(left) } else { self.execute_lanes::<false>(left) }
            }) {
                Ok(()) => break,
                Err(panic) => self.defer_panicked(panic),
            }
        }
        (self.gauge.counts().processed - start) as u32
    }

    /// Executes a batch that is traced, or timed event by event as a sample.
    #[cold]
    #[inline(never)]
    fn execute_watched(&mut self, most: u32) {
        self.execute_lanes::<true>(most);
    }

    /// Prefetches what a batch of certain events needs, if there is any. One by one, each of them would
    /// wait for its own. Not inlined, as most runs have no use for it.
    #[inline(never)]
    fn fetch_batch(&mut self) {
        let horizon = self.frontier.horizon();
        if self.first_time() < horizon {
            self.lps.prefetch_few();
            self.agenda.prefetch_before(horizon);
        }
    }

    /// Executes up to `most` events: certain ones first, and others only if none is certain.
    fn execute_lanes<const WATCHED: bool>(&mut self, most: u32) {
        let before = self.gauge.counts().processed;
        if self.world.tuning().lanes.has_safe() {
            // If all PEs have come just as far, the instant has more events than the log of commits
            // holds, and waiting would make no room in it.
            let must_wait = self.effects.must_wait_for_others(self.memory.is_short());
            if must_wait && self.first_time() > self.frontier.floor() || self.waits_for_memory() {
                return;
            }
            if self.agenda.has_aside() {
                self.agenda.take_back_before(self.frontier.horizon());
            }
            self.execute_certain::<WATCHED>(most.min(self.stride.events()));
            self.stride.note((self.gauge.counts().processed - before) as u32);
        }
        if self.gauge.counts().processed == before {
            self.execute_at_gvt::<WATCHED>();
        }
        if self.world.tuning().lanes.has_speculative()
            && !self.caution.waits()
            && self.gauge.counts().processed == before
        {
            self.execute_speculative::<WATCHED>(most);
        }
        // Counts the search for an event that was not found.
        self.gauge.event_lap::<WATCHED>(Phase::PendingSet);
    }

    /// Executes up to `most` events for good. A turn that only drops cancelled events is repeated:
    /// otherwise the speculative lane would execute an event that is certain.
    #[inline(always)]
    fn execute_certain<const WATCHED: bool>(&mut self, most: u32) {
        let horizon = self.frontier.horizon();
        loop {
            let processed = self.gauge.counts().processed;
            let pending = self.agenda.len();
            self.execute_safe::<WATCHED>(horizon, most);
            let dropped = self.agenda.len() < pending;
            if !dropped || self.gauge.counts().processed > processed {
                break;
            }
        }
    }

    /// Prefetches coming events, and the LPs, payloads and timers of nearer ones.
    #[inline(always)]
    pub(in crate::pe) fn fetch_ahead(&self) {
        fetch_ahead(
            |distance| self.agenda.upcoming(distance),
            |event| self.agenda.prefetch(event),
            |event| {
                let event = self.agenda.event(event);
                self.lps.prefetch(self.lps.index(event.receiver));
                fetch_payload::<T::Model>(&event.payload);
            },
        );
        if self.executor.any_timers() {
            self.fetch_timers_ahead();
        }
    }
}
