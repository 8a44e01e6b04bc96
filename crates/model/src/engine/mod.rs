//! The engines' side of the model API. Modellers do not need it.
//!
//! An engine owns one [`Executor`] per thread. For each event it calls [`Executor::begin`], then
//! [`Model::handle`] with [the context](Executor::lp), and fills in what the event
//! [forwards](Executor::forwards). Then it takes the effects from [`Executor::outbox_mut`],
//! [`Executor::observations_mut`], [`Executor::saved_mut`] and [`Executor::take_fault`].

mod timers;

use std::sync::Arc;

use warpline_base::{LpId, SEND_LIMIT, TieBreak, VirtualTime};
#[doc(hidden)]
pub use warpline_derive::{PortableWith, Shareable};
use warpline_memory::DropEach;
pub use warpline_memory::{Activity, Beat, Handle, Shareable};

use crate::context::event_timers::Timers;
pub use crate::context::followed::Followed;
use crate::context::forwards::Forwards;
pub use crate::context::limits::{Limits, Outgoing};
use crate::context::sending::no_room_for;
pub use crate::context::streams::Streams;
pub use crate::context::timer_table::TimerTable;
pub use crate::context::timer_tables::{TimerTables, TimersOf};
use crate::journal::log::Log;
use crate::lookahead::Declared;
pub use crate::lookahead::{Lookahead, LookaheadError, Reach};
use crate::statistics::Observations;
use crate::{Commit, Context, Fault, Finish, HasEvent, Init, Model, Reverse};

impl Lookahead {
    /// The lookahead that `model`, with this many LPs, declares. Calls `Model::lookahead` once, and
    /// `links` and `lookahead_of` at most once per LP.
    ///
    /// # Errors
    /// For the first lookahead that is negative or not finite, the first link to an LP that does
    /// not exist, or if there is not enough memory.
    pub fn of<M: Model>(model: &M, lps: u32) -> Result<Self, LookaheadError> {
        let common = model.lookahead();
        Lookahead::declared(lps, common, |lp| match model.links(lp) {
            Some(links) => Declared::Links(links),
            None => Declared::Least(model.lookahead_of(lp).unwrap_or(common)),
        })
    }
}

/// The context behind that of `init`: for code that acts alike in `init` and `handle`.
#[inline]
pub fn context_of<'a, M: HasEvent>(init: &'a mut Init<'_, M>) -> &'a mut Context<M> {
    init.context
}

/// The limits in force for the current event.
#[inline]
pub fn limits_of<M: HasEvent>(context: &Context<M>) -> &Limits {
    &context.limits
}

/// How `model` orders events of equal time, step and priority.
pub fn tie_break<M: Model>(model: &M, seed: u64) -> TieBreak {
    if model.unbiased_ties() { TieBreak::Unbiased { seed } } else { TieBreak::BySender }
}

/// Executes a model's code for an engine. It owns the [`Context`] that the code gets, and the code
/// cannot reach the executor through it.
#[derive(Debug)]
pub struct Executor<M: Model> {
    context: Context<M>,
}

impl<M: Model> Executor<M> {
    /// An executor for `model` under `seed`, in a run without end. With `saving`, the context keeps
    /// what events save for reverse code.
    ///
    /// # Panics
    /// If the model's lookahead is invalid.
    pub fn new(model: &M, seed: u64, zero_delay_hops: u32, saving: bool) -> Self {
        let lps = model.lps();
        let lookahead = Lookahead::of(model, lps).unwrap_or_else(|why| panic!("the model {why}"));
        Executor::with_limits(
            Limits {
                lps,
                lookahead,
                zero_delay_hops,
                sends: SEND_LIMIT,
                end: f64::INFINITY,
                followed: Followed::default(),
            },
            seed,
            saving,
        )
    }

    /// An executor for a model with known limits.
    pub fn with_limits(limits: Limits, seed: u64, saving: bool) -> Self {
        let context = Context {
            beat: Arc::default(),
            now: 0.0,
            id: LpId(0),
            step: 0,
            event: 0,
            limits,
            streams: Streams::new(seed),
            outbox: DropEach::default(),
            forwards: Forwards::default(),
            timers: Timers::default(),
            observations: Observations::default(),
            saved: Vec::new(),
            saving,
            log: Log::default(),
            fault: None,
        };
        Executor { context }
    }

    /// The context, for the model's code.
    #[inline(always)]
    pub fn lp(&mut self) -> &mut Context<M> {
        &mut self.context
    }

    /// The time of the current event, in model units.
    #[inline]
    pub fn now(&self) -> f64 {
        self.context.now
    }

    /// The current LP.
    #[inline]
    pub fn id(&self) -> LpId {
        self.context.id
    }

    /// Points the context at the `event`-th event of `lp` (0 is `init`), which happens at `now`.
    #[inline]
    pub fn begin(&mut self, lp: LpId, event: u64, now: VirtualTime, step: u32) {
        self.context.now = now.get();
        self.context.id = lp;
        self.context.step = step;
        self.context.event = event;
        self.context.beat.begin(lp.0, event, self.context.now);
        self.context.streams.seek(lp, event);
    }

    /// Makes the initial state of `lp`.
    pub fn init(&mut self, model: &M, lp: LpId) -> M::State {
        self.begin(lp, 0, VirtualTime::ZERO, 0);
        model.init(&mut Init { context: &mut self.context })
    }

    /// Undoes the current event by reverse code, on the state that it left behind.
    pub fn reverse(&mut self, model: &M, state: &mut M::State, event: &M::Event) {
        self.context.streams.rewind();
        model.reverse(state, event, &mut Reverse { context: &mut self.context });
    }

    /// Starts logging changes of this state, until [`end_log`](Self::end_log), or until the event
    /// is undone or forgotten.
    #[inline]
    pub fn begin_log(&mut self, state: &M::State) {
        self.context.log.begin(state);
    }

    /// Stops logging.
    #[inline]
    pub fn end_log(&mut self) {
        self.context.log.end();
    }

    /// Whether changes are being logged.
    #[inline]
    pub fn logs(&self) -> bool {
        self.context.log.is_on()
    }

    /// The log of the current event. The engine takes it, and puts it back to undo the event.
    #[inline]
    pub fn logged_mut(&mut self) -> &mut Vec<u64> {
        self.context.log.words_mut()
    }

    /// Undoes all logged changes, on the state that the event left behind, and stops logging.
    /// Returns `false` if a changed part was not found again: the state was changed by other means.
    pub fn undo_logged(&mut self, state: &mut M::State) -> bool {
        M::ABILITIES.journal().is_some_and(|journal| self.context.log.undo(state, &journal))
    }

    /// Points the context at `lp` and the time `now`, for code that draws no random numbers.
    #[inline]
    pub fn visit(&mut self, lp: LpId, now: VirtualTime) {
        self.context.id = lp;
        self.context.now = now.get();
        self.context.beat.begin(lp.0, 0, self.context.now);
    }

    /// Discards everything that the current event did. It did not happen, so a panic while dropping
    /// its sends is ignored.
    pub fn forget(&mut self) {
        self.context.outbox.clear();
        self.context.forwards.clear();
        self.context.observations.clear();
        self.context.saved.clear();
        self.context.log.clear();
        self.context.timers.forget();
        self.context.fault = None;
    }

    /// Tells the model that the current event has committed.
    #[inline]
    pub fn commit(&mut self, model: &M, event: &M::Event) {
        model.commit(event, &mut Commit { context: &mut self.context });
    }

    /// Tells the model that `lp` has reached the end of the run.
    pub fn finish(&mut self, model: &M, lp: LpId, state: &M::State, end: VirtualTime) {
        self.visit(lp, end);
        model.finish(state, &mut Finish { context: &mut self.context });
    }

    /// Whether the current event forwards its payload.
    #[inline(always)]
    pub fn forwards(&self) -> bool {
        !self.context.forwards.is_empty()
    }

    /// Puts the forwards of the current event into the outbox, with copies of its payload, for an
    /// engine that may execute the event again, and those of timers that it has rescheduled.
    /// `timer` tells the payloads of the latter. The event may fail by this.
    pub fn copy_forwards<'e>(
        &mut self,
        payload: &'e M::Event,
        timer: impl Fn(Handle) -> &'e M::Event,
    ) {
        self.fill_in_forwards(payload, timer, 0);
    }

    /// Like [`copy_forwards`](Self::copy_forwards), for an engine that will not execute the event
    /// again: the last forward is left to [`move_forward`](Self::move_forward), which takes the
    /// payload itself, unless the LP has [timers](Self::has_timers).
    pub fn copy_forwards_but_last<'e>(
        &mut self,
        payload: &'e M::Event,
        timer: impl Fn(Handle) -> &'e M::Event,
    ) {
        let but = usize::from(!self.has_timers());
        self.fill_in_forwards(payload, timer, but);
    }

    /// Puts the last forward of the current event into the outbox, with the payload itself.
    pub fn move_forward(&mut self, payload: M::Event) {
        self.context.forwards.fill_in_last(payload, &mut self.context.outbox);
    }

    #[cold]
    #[inline(never)]
    fn fill_in_forwards<'e>(
        &mut self,
        payload: &'e M::Event,
        timer: impl Fn(Handle) -> &'e M::Event,
        but: usize,
    ) {
        let sends = self.context.outbox.len() + self.context.forwards.len();
        if sends > self.context.limits.sends as usize {
            self.context.set_fault(Fault::TooManySends { limit: self.context.limits.sends });
        } else if self.context.outbox.try_reserve(self.context.forwards.len()).is_err() {
            self.context.set_fault(Fault::Memory(no_room_for::<M::Event>(sends)));
        }
        if self.has_fault() {
            return self.context.forwards.clear();
        }
        self.context.forwards.fill_in(payload, timer, &mut self.context.outbox, but);
    }

    /// The sends of the current event, in order; the engine empties the list.
    #[inline]
    pub fn outbox_mut(&mut self) -> &mut Vec<Outgoing<M::Event>> {
        &mut self.context.outbox
    }

    /// The observations of the current event; the engine empties the list.
    #[inline]
    pub fn observations_mut(&mut self) -> &mut Observations {
        &mut self.context.observations
    }

    /// The observations of the current event, to be read.
    #[inline]
    pub fn observations(&self) -> &Observations {
        &self.context.observations
    }

    /// The observations of the current event, and what it saved for its reverse code.
    #[inline]
    pub fn observations_and_saved_mut(&mut self) -> (&mut Observations, &mut Vec<u64>) {
        (&mut self.context.observations, &mut self.context.saved)
    }

    /// What the current event saved for its reverse code.
    #[inline]
    pub fn saved_mut(&mut self) -> &mut Vec<u64> {
        &mut self.context.saved
    }

    /// The streams, for their positions.
    pub fn streams(&self) -> &Streams {
        &self.context.streams
    }

    /// Tells by this beat, which is that of other executors as well, what its thread is doing: they
    /// take turns in one thread.
    pub fn share_beat(&mut self, beat: &Arc<Beat>) {
        self.context.beat = beat.clone();
    }

    /// What the executor's thread is doing, for a thread that watches it.
    pub fn beat(&self) -> &Arc<Beat> {
        &self.context.beat
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.context.limits
    }

    /// Whether the current event made a mistake.
    #[inline]
    pub fn has_fault(&self) -> bool {
        self.context.fault.is_some()
    }

    /// The first mistake of the current event, if it made one.
    pub fn take_fault(&mut self) -> Option<Fault> {
        self.context.fault.take().map(|fault| *fault)
    }
}

#[cfg(test)]
mod tests;
