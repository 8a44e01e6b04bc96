//! How events send events.

use warpline_base::{EventKind, LpId, Priority, VirtualTime};
use warpline_memory::Exhausted;
use warpline_record::LostDelays;

use super::forwards::Source;
use super::limits::{Limits, Outgoing};
use super::{Context, HasEvent};
use crate::Fault;

impl<M: HasEvent> Context<M> {
    /// Sends an event that reaches LP `to` after `delay` units of model time.
    ///
    /// With delay 0 it happens at the same time, after the event that sent it. Other simultaneous
    /// events are ordered by priority, then by sender (with [unbiased
    /// ties](crate::Model::unbiased_ties), by a hash), then in the order of sending.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = &'static str;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, _: &mut u32, _: &&'static str, lp: &mut Context<Self>) {
    ///     lp.send(3, 0.25, "letter"); // reaches LP 3 at time 2.75
    ///     lp.send(lp.id(), 0.0, "remember"); // at 2.5 again, after this event
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &"go", executor.lp());
    /// # let sent: Vec<_> = executor.outbox_mut().iter().map(|event| (event.to.0, event.time.get())).collect();
    /// # assert_eq!(sent, [(3, 2.75), (2, 2.5)]);
    /// # assert!(!executor.has_fault());
    /// ```
    ///
    /// # Faults
    /// A delay that is negative or not finite, or below the declared
    /// [lookahead](crate::Model::lookahead) to another LP; a receiver that does not exist or to
    /// which there is no [link](crate::Model::links); a time beyond the largest virtual time; too
    /// many sends of one event; too many hops without delay. The event is not sent, and the run
    /// ends with the [`Fault`] if the sending event commits.
    ///
    /// The event must be of the model's type:
    /// ```compile_fail,E0308
    /// # use warpline_model::prelude::*;
    /// enum Letter { Plain, Express }
    /// # fn handle<M: Model<Event = Letter>>(lp: &mut Context<M>) {
    /// lp.send(3, 0.25, "express"); // error: mismatched types: expected `Letter`, found `&str`
    /// # }
    /// ```
    #[inline(always)]
    pub fn send(&mut self, to: impl Into<LpId>, delay: f64, event: M::Event) {
        self.post(to.into(), delay, Priority::NORMAL, EventKind::Plain, event);
    }

    /// Like [`send`](Self::send), with a priority among events of the same time and step. Lower
    /// goes first. The range is `-127..=127`, the default 0; -128 counts as -127.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = &'static str;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, _: &mut u32, _: &&'static str, lp: &mut Context<Self>) {
    ///     lp.send(3, 1.0, "arrival");
    ///     lp.send_with_priority(3, 1.0, -1, "departure"); // makes room before the arrival
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &"go", executor.lp());
    /// # let sent = executor.outbox_mut();
    /// # assert!(sent[1].time == sent[0].time && sent[1].priority < sent[0].priority);
    /// ```
    #[inline]
    pub fn send_with_priority(
        &mut self,
        to: impl Into<LpId>,
        delay: f64,
        priority: i8,
        event: M::Event,
    ) {
        self.post(to.into(), delay, Priority::new(priority), EventKind::Plain, event);
    }

    /// Sends an event that reaches LP `to` exactly at `time`, in units of model time from the
    /// beginning of the run. To some times, no delay leads exactly, because of rounding.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = &'static str;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, _: &mut u32, _: &&'static str, lp: &mut Context<Self>) {
    ///     lp.send_at(lp.id(), 24.0, "closing time"); // not 24 hours from now
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &"go", executor.lp());
    /// # assert_eq!(executor.outbox_mut()[0].time.get(), 24.0);
    /// # assert!(!executor.has_fault());
    /// ```
    ///
    /// # Faults
    /// A time that is over, or NaN; else those of [`send`](Self::send). An event to another LP may
    /// be as early as the sum of this time and the lookahead, as it is rounded.
    pub fn send_at(&mut self, to: impl Into<LpId>, time: f64, event: M::Event) {
        let to = to.into();
        let sends = self.outbox.len();
        let Limits { zero_delay_hops, sends: most, .. } = self.limits;
        let step = if time > self.now { 0 } else { self.step.saturating_add(1) };
        // Written so that NaN fails.
        let due = time < f64::INFINITY
            && self.lookahead_to(to).is_some_and(|lookahead| time >= self.now + lookahead)
            && step <= zero_delay_hops
            && sends < most as usize;
        if due && (sends < self.outbox.capacity() || self.grow_outbox()) {
            self.outbox.push(Outgoing {
                time: VirtualTime::from_bits(time.to_bits()),
                to,
                step,
                priority: Priority::NORMAL,
                kind: EventKind::Plain,
                event,
            });
        } else {
            self.refuse_at(to, time, sends, due);
        }
    }

    /// Records the fault of a send at a time, as [`refuse`](Self::refuse) does after a delay.
    #[cold]
    fn refuse_at(&mut self, to: LpId, time: f64, sends: usize, due: bool) {
        let delay = time - self.now;
        let is_over = time.is_nan() || time < self.now;
        match self.lookahead_to(to) {
            _ if is_over => self.set_fault(Fault::Past { to, time }),
            _ if time == f64::INFINITY => self.set_fault(Fault::EndOfTime { to, delay }),
            Some(lookahead) if time < self.now + lookahead => {
                self.set_fault(Fault::Lookahead { to, delay, lookahead });
            }
            // Rounding may have made the delay less than the lookahead, which is no mistake.
            lookahead => self.refuse(to, delay.max(lookahead.unwrap_or_default()), sends, due),
        }
    }

    /// The least delay of an event to LP `to`; `None` if none may be sent there.
    fn lookahead_to(&self, to: LpId) -> Option<f64> {
        let Limits { lps, lookahead, .. } = &self.limits;
        if to.0 < *lps { lookahead.between(self.id, to) } else { None }
    }

    /// Sends this event's payload on, unchanged, to LP `to`, which it reaches after `delay` units
    /// of model time.
    ///
    /// It works like [`send`](Self::send) with a copy of the payload, but copies nothing if the
    /// engine has no further use for the event, as in sequential and conservative runs. So it pays
    /// for payloads on the heap. An event may be forwarded to several LPs; all but one get copies.
    /// If a copy panics, it counts as a panic of [`Model::handle`](crate::Model::handle).
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Post;
    /// # impl Model for Post {
    /// #     type State = u32; type Event = String;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, read: &mut u32, letter: &String, lp: &mut Context<Self>) {
    ///     if letter.starts_with("to all") {
    ///         *read += 1;
    ///         lp.forward((lp.id().0 + 1) % lp.lps(), 0.5);
    ///     }
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Post, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # let letter = "to all who wait".to_owned();
    /// # Post.handle(&mut state, &letter, executor.lp());
    /// # assert!(executor.forwards());
    /// # executor.copy_forwards(&letter, |_| &letter);
    /// # let sent: Vec<_> = executor.outbox_mut().iter().map(|sent| (sent.to.0, sent.time.get(), sent.event.as_str())).collect();
    /// # assert_eq!(sent, [(3, 3.0, "to all who wait")]);
    /// ```
    ///
    /// # Faults
    /// Those of [`send`](Self::send).
    pub fn forward(&mut self, to: impl Into<LpId>, delay: f64)
    where
        M::Event: Clone,
    {
        self.post_on(to.into(), delay, Priority::NORMAL, Source::Current);
    }

    /// Like [`forward`](Self::forward), with a priority as in
    /// [`send_with_priority`](Self::send_with_priority).
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Post;
    /// # impl Model for Post {
    /// #     type State = u32; type Event = String;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, _: &mut u32, telegram: &String, lp: &mut Context<Self>) {
    ///     lp.forward_with_priority(3, 1.0, -1); // before any letters that arrive then
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Post, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Post.handle(&mut state, &"stop".to_owned(), executor.lp());
    /// # let telegram = "stop".to_owned();
    /// # executor.copy_forwards(&telegram, |_| &telegram);
    /// # assert_eq!(executor.outbox_mut()[0].priority, warpline_base::Priority::new(-1));
    /// ```
    pub fn forward_with_priority(&mut self, to: impl Into<LpId>, delay: f64, priority: i8)
    where
        M::Event: Clone,
    {
        self.post_on(to.into(), delay, Priority::new(priority), Source::Current);
    }

    /// The usual case, inlined wherever a model sends.
    #[inline(always)]
    pub(super) fn post(
        &mut self,
        to: LpId,
        delay: f64,
        priority: Priority,
        kind: EventKind,
        event: M::Event,
    ) {
        let sends = self.outbox.len();
        match self.due(to, delay) {
            Some((time, step))
                if sends < self.outbox.capacity()
                    && sends < self.limits.sends as usize
                    && (step == 0 || delay <= 0.0) =>
            {
                self.outbox.push(Outgoing { time, to, step, priority, kind, event });
            }
            _ => self.post_slowly(to, delay, priority, kind, event),
        }
    }

    /// The unusual cases of [`post`](Self::post): the outbox must grow, no time passes, or
    /// something is wrong.
    #[cold]
    #[inline(never)]
    fn post_slowly(
        &mut self,
        to: LpId,
        delay: f64,
        priority: Priority,
        kind: EventKind,
        event: M::Event,
    ) {
        let sends = self.outbox.len();
        let due = self.due(to, delay).filter(|_| sends < self.limits.sends as usize);
        match due {
            Some((time, step)) if self.grow_outbox() => {
                self.outbox.push(Outgoing { time, to, step, priority, kind, event });
                self.note_if_lost(to, delay);
            }
            _ => self.refuse(to, delay, sends, due.is_some()),
        }
    }

    /// Sends an event whose payload is filled in later: a timer if it comes from one.
    pub(super) fn post_on(&mut self, to: LpId, delay: f64, priority: Priority, source: Source)
    where
        M::Event: Clone,
    {
        let place = self.outbox.len() + self.forwards.len();
        let due = self.due(to, delay).filter(|_| place < self.limits.sends as usize);
        match due {
            Some((time, step)) if self.fault.is_none() && self.forwards.make_room() => {
                let kind = match source {
                    Source::Current => EventKind::Plain,
                    Source::Timer(_) => EventKind::Timer,
                };
                let envelope = Outgoing { time, to, step, priority, kind, event: () };
                self.forwards.push(place, envelope, source);
                self.note_if_lost(to, delay);
            }
            _ => self.refuse(to, delay, place, due.is_some()),
        }
    }

    /// The time and step of a send; `None` if the send is not allowed.
    #[inline(always)]
    fn due(&self, to: LpId, delay: f64) -> Option<(VirtualTime, u32)> {
        let time = self.now + delay;
        let Limits { lps, lookahead, zero_delay_hops, .. } = &self.limits;
        let least = if to == self.id { 0.0 } else { lookahead.least() };
        // Written so that NaN fails.
        let valid = delay >= least
            && time < f64::INFINITY
            && to.0 < *lps
            && lookahead.allows(self.id, to, delay);
        let step = if time > self.now { 0 } else { self.step.saturating_add(1) };
        (valid && step <= *zero_delay_hops).then(|| (VirtualTime::from_bits(time.to_bits()), step))
    }

    /// Whether a delay is lost to rounding: it is positive, but does not change the time.
    #[inline(always)]
    fn is_lost(&self, delay: f64) -> bool {
        self.now + delay == self.now && delay > 0.0
    }

    #[cold]
    fn note_if_lost(&mut self, to: LpId, delay: f64) {
        if self.is_lost(delay) {
            self.observations.lose(to, self.beat.event(), delay);
        }
    }

    /// Records the fault of a send that the event made after `sends` others. If `due`, the only
    /// fault is a lack of memory.
    #[cold]
    fn refuse(&mut self, to: LpId, delay: f64, sends: usize, due: bool) {
        let Limits { lps, ref lookahead, zero_delay_hops, sends: most, .. } = self.limits;
        let fault = if due {
            Fault::Memory(no_room_for::<M::Event>(sends + 1))
        } else if !(0.0..f64::INFINITY).contains(&delay) {
            Fault::Delay { to, delay }
        } else if to.0 >= lps {
            Fault::UnknownLp { to, lps }
        } else if self.now + delay == f64::INFINITY {
            Fault::EndOfTime { to, delay }
        } else {
            match lookahead.between(self.id, to) {
                None => Fault::NoLink { to },
                Some(lookahead) if delay < lookahead => Fault::Lookahead { to, delay, lookahead },
                Some(_) if sends >= most as usize => Fault::TooManySends { limit: most },
                Some(_) if self.is_lost(delay) => Fault::LostDelay {
                    to,
                    delay,
                    step: LostDelays::step_at(self.now),
                    limit: zero_delay_hops,
                },
                Some(_) => Fault::ZeroDelayLoop { limit: zero_delay_hops },
            }
        };
        self.set_fault(fault);
    }

    /// Makes room for one more send. Returns `false` if there is no memory, or if the event has
    /// already failed, to save further attempts.
    #[cold]
    fn grow_outbox(&mut self) -> bool {
        self.fault.is_none() && self.outbox.try_reserve(1).is_ok()
    }
}

/// The error that there is no memory for this many sends.
pub(crate) fn no_room_for<E>(sends: usize) -> Exhausted {
    Exhausted::Memory { what: "what an event sends", bytes: size_of::<Outgoing<E>>() * sends }
}

#[cfg(test)]
#[path = "sending_tests.rs"]
mod tests;
