//! What an engine does with the timers of an event: it [lends](Executor::lend_timers) the LP's table
//! before the event, if there is one. After it, if the LP [has timers](Executor::has_timers), it
//! takes what was [cancelled](Executor::cancelled_timers_mut) out of what is pending, notes the
//! events of [new timers](Executor::note_timer), and [settles](Executor::settle_timers) the table.

use warpline_base::{EventKind, Sequence};
use warpline_memory::Handle;

use super::Executor;
use crate::Model;
use crate::context::timer_tables::{TimerTables, TimersOf};

impl<M: Model> Executor<M> {
    /// The pending timers of all LPs.
    #[inline(always)]
    pub fn timers(&self) -> &TimerTables {
        &self.context.timers.tables
    }

    /// The same, to be changed between events.
    #[inline]
    pub fn timers_mut(&mut self) -> &mut TimerTables {
        &mut self.context.timers.tables
    }

    /// Whether any LP has ever set a timer.
    #[inline(always)]
    pub fn any_timers(&self) -> bool {
        !self.timers().is_empty()
    }

    /// Lends the pending timers of the LP to its coming event. `fired`: the event is this one.
    #[inline]
    pub fn lend_timers(&mut self, of: TimersOf, fired: Option<Sequence>) {
        self.context.timers.lend(of, fired);
    }

    /// Whether the LP of the current event has timers, or has had any.
    #[inline(always)]
    pub fn has_timers(&self) -> bool {
        self.context.timers.are_some()
    }

    /// The timers that the current event has cancelled, in the order of cancelling, with their
    /// events. None of them has been set by the event itself.
    pub fn cancelled_timers_mut(&mut self) -> &mut Vec<(Sequence, Handle)> {
        &mut self.context.timers.cancelled
    }

    /// The same, to be read.
    pub fn cancelled_timers(&self) -> &[(Sequence, Handle)] {
        &self.context.timers.cancelled
    }

    /// Notes the event of a timer that the current event has set.
    #[inline]
    pub fn note_timer(&mut self, timer: Sequence, event: Handle) {
        self.context.timers.insert(timer, event);
    }

    /// Gives the table back to its LP, which has this index in the engine, after the current event
    /// has been executed.
    #[inline]
    pub fn settle_timers(&mut self, index: usize) {
        if let Some(settled) = self.context.timers.settle() {
            self.timers_mut().set(index, settled);
        }
    }

    /// Gives the table back to its LP, if it was lent, as it was before the current event, which has
    /// failed or is undone at once.
    pub fn put_back_timers(&mut self, index: usize) {
        if let Some(unchanged) = self.context.timers.put_back() {
            self.timers_mut().set(index, unchanged);
        }
    }

    /// Gives a copy of the table back after the current event has been executed once more, whose
    /// timers have their events already. What it sent is forgotten.
    pub fn settle_repeated_timers(&mut self, of: &mut TimersOf) {
        let first = Sequence::first_of(self.context.event);
        let places = 0..self.context.outbox.len() + self.context.forwards.len();
        for place in places {
            let kind = match self.context.forwards.find(place) {
                Ok(index) => self.context.forwards.kind(index),
                Err(before) => self.context.outbox[place - before].kind,
            };
            if kind == EventKind::Timer {
                self.note_timer(first.nth(place as u32), Handle::from_bits(0));
            }
        }
        if let Some(settled) = self.context.timers.settle() {
            *of = settled;
        }
    }
}
