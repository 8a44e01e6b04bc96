//! How far a sequential engine has come, and what it leaves behind.

use warpline_model::Model;
use warpline_model::engine::Executor;
use warpline_model::statistics::RowSink;

use super::Sequential;
use crate::Event;
use crate::agenda::pending::PendingSet;
use crate::sequential::outcome::SequentialParts;

impl<M: Model, Q: PendingSet, R: RowSink> Sequential<'_, M, Q, R> {
    /// The event executed last, unless its memory has been freed or its payload panicked on being
    /// dropped.
    pub fn running(&self) -> Option<&Event<M::Event>> {
        self.current.filter(|_| !self.dropping).map(|handle| self.events.get(handle))
    }

    /// The number of the event executed last among the events of its LP, from 1.
    pub fn running_number(&self) -> u64 {
        let events = self.lps[self.executor.id().index()].events;
        // Whether it has been counted depends on where it failed.
        if self.executor.beat().event() == events as u32 { events } else { events + 1 }
    }

    /// How far the run has got, in model units: to the event executed last.
    pub fn now(&self) -> f64 {
        self.executor.now()
    }

    /// How many events have committed.
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// How many events take memory.
    pub fn pending(&self) -> usize {
        self.events.len()
    }

    /// The context of its events, which knows the LP of the last one.
    pub fn executor(&self) -> &Executor<M> {
        &self.executor
    }

    /// Checks, at the end of a run that did not fail, that every event is accounted for.
    ///
    /// # Panics
    /// If one is not.
    pub fn balance(&self) {
        assert_eq!(
            self.events.len(),
            self.pending.len(),
            "every event is pending, or its memory is free"
        );
        assert_eq!(
            self.sent,
            self.committed + self.pending.len() as u64,
            "every event sent is committed or pending"
        );
    }

    /// The parts of an engine that is done.
    pub fn into_parts(mut self) -> SequentialParts<M, R> {
        self.end_timers();
        let Sequential { lps, executor, statistics, rows, committed, events: pending, .. } = self;
        SequentialParts { lps, executor, statistics, rows, committed, pending }
    }
}
