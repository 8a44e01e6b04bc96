//! How an event sets, cancels and reschedules timers.
//!
//! An engine points the context at the table of the LP's pending timers, if it has one. The event takes
//! timers out of it at once, so that it learns whether they were pending, and lists them. What it
//! sets has its place in the outbox, like any send. The engine does the rest when the handler is
//! done. If the event fails, everything is put back.

use warpline_base::{EventKind, Priority, Sequence};
use warpline_memory::MakeRoom;

use super::forwards::Source;
use super::timer::Timer;
use super::{Context, HasEvent};

/// Where a pending timer is.
enum Place {
    /// In the table.
    Table,
    /// In the outbox: the current event has set it.
    Outbox(usize),
    /// Among the forwards: the current event has rescheduled it.
    Forwards(usize),
}

impl<M: HasEvent> Context<M> {
    /// Sets a timer: sends an event to this LP after `delay` units of model time, which can be
    /// [cancelled](Self::cancel) until it happens. It is handled like any other event.
    ///
    /// A timer needs no lookahead, as no event to the own LP does. It costs a little more than
    /// [`send`](Self::send), so use that for what is never cancelled.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Sender;
    /// # #[derive(Clone, Debug, PartialEq)] enum Packet { Data, Acknowledgement, Timeout }
    /// # #[derive(Clone, Debug, Default)] struct State { timeout: Option<Timer>, lost: u32 }
    /// # impl Model for Sender {
    /// #     type State = State; type Event = Packet;
    /// #     fn lps(&self) -> u32 { 2 }
    /// #     fn init(&self, _: &mut Init<Self>) -> State { State::default() }
    /// fn handle(&self, state: &mut State, packet: &Packet, lp: &mut Context<Self>) {
    ///     match packet {
    ///         Packet::Data => {
    ///             lp.send(1, 0.1, Packet::Data);
    ///             state.timeout = Some(lp.send_later(1.0, Packet::Timeout));
    ///         }
    ///         Packet::Acknowledgement => {
    ///             if let Some(timer) = state.timeout.take() {
    ///                 lp.cancel(timer); // now it does not time out
    ///             }
    ///         }
    ///         Packet::Timeout => state.lost += 1,
    ///     }
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Sender, 1, 9, false);
    /// # let mut state = State::default();
    /// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Sender.handle(&mut state, &Packet::Data, executor.lp());
    /// # let timer = state.timeout.unwrap();
    /// # assert!(executor.lp().is_pending(timer) && executor.outbox_mut().len() == 2);
    /// # Sender.handle(&mut state, &Packet::Acknowledgement, executor.lp());
    /// # assert!(!executor.lp().is_pending(timer) && state.timeout.is_none() && state.lost == 0);
    /// ```
    ///
    /// # Faults
    /// Those of [`send`](Self::send) that do not concern the receiver. Then the timer is not set,
    /// and what is returned is not pending.
    pub fn send_later(&mut self, delay: f64, event: M::Event) -> Timer {
        let place = self.outbox.len() + self.forwards.len();
        self.post(self.id, delay, Priority::NORMAL, EventKind::Timer, event);
        self.timer_at(place)
    }

    /// Cancels a timer of this LP: it never happens. Returns whether it was pending; if it has
    /// fired or was cancelled before, nothing changes.
    ///
    /// The LP may cancel a timer at the very time at which it is due, as long as its turn has not
    /// come. [`send_later`](Self::send_later) has an example.
    ///
    /// Another LP cannot cancel it; send its LP an event that does. A timer of another LP is
    /// meaningless here, and may be taken for one of this LP.
    pub fn cancel(&mut self, timer: Timer) -> bool {
        match self.place_of(timer.sequence()) {
            None => false,
            Some(place) => {
                self.cancel_at(&place, timer.sequence());
                true
            }
        }
    }

    /// Cancels a timer and sets a new one, of the same payload, `delay` units of model time from
    /// now. Returns the new one; `None` if the old one had fired or was cancelled before, and then
    /// nothing changes.
    ///
    /// The payload is copied, as the cancellation may have to be undone.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Screen;
    /// # impl Model for Screen {
    /// #     type State = Option<Timer>; type Event = &'static str;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> Option<Timer> { None }
    /// fn handle(&self, off: &mut Option<Timer>, event: &&'static str, lp: &mut Context<Self>) {
    ///     if *event == "touch" { // stays on for another minute
    ///         let again = off.and_then(|timer| lp.reschedule(timer, 60.0));
    ///         *off = again.or_else(|| Some(lp.send_later(60.0, "turn off")));
    ///     }
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Screen, 1, 9, false);
    /// # let mut off = None;
    /// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Screen.handle(&mut off, &"touch", executor.lp());
    /// # let first = off.unwrap();
    /// # Screen.handle(&mut off, &"touch", executor.lp());
    /// # assert!(off != Some(first) && executor.lp().is_pending(off.unwrap()));
    /// # assert!(!executor.lp().is_pending(first));
    /// ```
    ///
    /// # Faults
    /// Those of [`send_later`](Self::send_later). Then the old timer stays as it is.
    pub fn reschedule(&mut self, timer: Timer, delay: f64) -> Option<Timer>
    where
        M::Event: Clone,
    {
        let old = timer.sequence();
        let place = self.place_of(old)?;
        let new = self.outbox.len() + self.forwards.len();
        match place {
            Place::Outbox(index) => {
                let event = self.outbox[index].event.clone();
                let priority = self.outbox[index].priority;
                self.post(self.id, delay, priority, EventKind::Timer, event);
            }
            Place::Forwards(index) => {
                let source = self.forwards.source(index);
                self.post_on(self.id, delay, Priority::NORMAL, source);
            }
            Place::Table => {
                let event = self.timers.table().and_then(|table| table.get(old))?;
                self.post_on(self.id, delay, Priority::NORMAL, Source::Timer(event));
            }
        }
        let set = self.timer_at(new);
        if set.sequence() != Timer::REFUSED {
            self.cancel_at(&place, old);
        }
        Some(set)
    }

    /// Whether a timer of this LP has neither fired nor been cancelled.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     let closing = lp.send_later(8.0, ());
    ///     assert!(lp.is_pending(closing));
    ///     lp.cancel(closing);
    ///     assert!(!lp.is_pending(closing));
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut (), &(), executor.lp());
    /// ```
    pub fn is_pending(&self, timer: Timer) -> bool {
        self.place_of(timer.sequence()).is_some()
    }

    /// The timer that was just sent, from this place among the sends of the event, if it was sent.
    fn timer_at(&mut self, place: usize) -> Timer {
        if self.outbox.len() + self.forwards.len() == place {
            return Timer::of(Timer::REFUSED);
        }
        self.timers.need_table();
        Timer::of(Sequence::first_of(self.event).nth(place as u32))
    }

    /// Where a timer is, if it is pending.
    fn place_of(&self, timer: Sequence) -> Option<Place> {
        let table = self.timers.table()?;
        if timer.event() != self.event {
            let pending = self.timers.fired != Some(timer) && table.get(timer).is_some();
            return pending.then_some(Place::Table);
        }
        let place = timer.index() as usize;
        let (kind, found) = match self.forwards.find(place) {
            Ok(index) => (self.forwards.kind(index), Place::Forwards(index)),
            Err(before) => {
                let index = place.checked_sub(before)?;
                (self.outbox.get(index)?.kind, Place::Outbox(index))
            }
        };
        (kind == EventKind::Timer).then_some(found)
    }

    fn cancel_at(&mut self, place: &Place, timer: Sequence) {
        match *place {
            Place::Outbox(index) => self.outbox[index].kind = EventKind::CancelledTimer,
            Place::Forwards(index) => self.forwards.cancel(index),
            Place::Table => {
                let event = self.timers.take(timer);
                self.timers.cancelled.make_room(1, "timers that an event cancels");
                self.timers.cancelled.extend(event.map(|event| (timer, event)));
            }
        }
    }
}
