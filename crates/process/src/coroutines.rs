//! A model of processes, as engines see it.

use std::any::Any;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_model::engine::{Limits, context_of, limits_of};
use warpline_model::record::{Deed, Stuck, View};
use warpline_model::{
    Abilities, Configure, Context, Declarations, Finish, Init, Link, Model, Observe, Outcome,
    Preset, Results, Text, Timer,
};

use crate::event::ProcessEvent;
use crate::keys::WaitKey;
use crate::lp::ProcessLp;
use crate::model::{Coroutines, ProcessModel};
use crate::running::Services;

impl<M: ProcessModel> Model for Coroutines<M> {
    type State = ProcessLp<M::Message>;
    type Event = ProcessEvent<M::Message>;

    const ABILITIES: Abilities<Self::State, Self::Event> = match M::WIRE {
        Some(wire) => Abilities::NONE.never_undone().with_wire(wire),
        None => Abilities::NONE.never_undone(),
    };

    fn lps(&self) -> u32 {
        self.model().lps()
    }

    fn lookahead(&self) -> f64 {
        self.model().lookahead()
    }

    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        self.model().lookahead_of(lp)
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        self.model().links(lp)
    }

    fn weight(&self, lp: LpId) -> f64 {
        self.model().weight(lp)
    }

    fn group(&self, lp: LpId) -> Option<u32> {
        self.model().group(lp)
    }

    fn kind(&self, lp: LpId) -> &str {
        self.model().kind(lp)
    }

    fn is_conservative(&self, _: LpId) -> bool {
        true
    }

    fn unbiased_ties(&self) -> bool {
        self.model().unbiased_ties()
    }

    fn declare(&self, declare: &mut Declarations) {
        self.model().declare(declare);
    }

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        let mut state = ProcessLp::default();
        state.begin(context_of(lp), |sim| Arc::clone(self.model()).run(sim));
        state
    }

    #[inline]
    fn handle(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Context<Self>) {
        match event {
            ProcessEvent::Wake(wait) => state.wake(*wait, lp),
            ProcessEvent::Message(message) => state.deliver(message.clone(), lp),
        }
    }

    fn finish(&self, state: &Self::State, lp: &mut Finish<Self>) {
        state.end(lp.id(), lp.now(), lp);
    }

    fn stuck(&self, lp: LpId, state: &Self::State, most: usize) -> Stuck {
        let (waits, lines) = state.stuck(most);
        let place = |line| if self.lps() > 1 { format!("{lp}: {line}") } else { line };
        Stuck { waits, lines: lines.into_iter().map(place).collect() }
    }

    fn results(&self, outcome: &Outcome) -> Results<Self> {
        self.model().results(outcome)
    }

    fn views(&self, outcome: &Outcome) -> Vec<View> {
        self.model().views(outcome)
    }
}

impl<M: ProcessModel + Configure> Configure for Coroutines<M> {
    type Parameters = M::Parameters;

    const NAME: &'static str = M::NAME;
    const ABOUT: &'static str = M::ABOUT;
    const TIME_UNIT: &'static str = M::TIME_UNIT;
    const DEFAULT_END: f64 = M::DEFAULT_END;

    fn configure(parameters: &M::Parameters) -> Result<Self, String> {
        M::configure(parameters).map(Coroutines::new)
    }

    fn notes(parameters: &M::Parameters) -> Vec<(&'static str, String)> {
        M::notes(parameters)
    }

    fn presets() -> &'static [Preset] {
        M::presets()
    }
}

impl<M: ProcessModel> Services for Context<Coroutines<M>> {
    #[inline]
    fn random(&mut self) -> &mut Random {
        Context::random(self)
    }

    #[inline]
    fn stream(&mut self, number: u8) -> &mut Random {
        Context::stream(self, number)
    }

    #[inline]
    fn send(&mut self, to: LpId, delay: f64, priority: i8, message: &mut dyn Any) {
        match message.downcast_mut::<Option<M::Message>>().and_then(Option::take) {
            Some(message) => {
                let event = ProcessEvent::Message(message);
                self.send_with_priority(to, delay, priority, event);
            }
            None => self.fail("a process used the `Sim` of another model to send a message"),
        }
    }

    #[inline]
    fn send_wake_up(&mut self, delay: f64, wait: WaitKey) {
        Context::send(self, self.id(), delay, ProcessEvent::Wake(wait));
    }

    #[inline]
    fn set_alarm(&mut self, delay: f64, wait: WaitKey) -> Timer {
        Context::send_later(self, delay, ProcessEvent::Wake(wait))
    }

    #[inline]
    fn cancel_alarm(&mut self, alarm: Timer) {
        Context::cancel(self, alarm);
    }

    fn act_when_settled(&mut self, act: Box<dyn Fn() + Send + Sync>) {
        Observe::when_settled(self, act);
    }

    #[inline]
    fn may_tell(&self) -> u32 {
        Context::may_tell(self)
    }

    fn tell(&mut self, who: Text, deed: Deed, what: Text) {
        Context::tell(self, who, deed, what);
    }

    fn fail(&mut self, why: String) {
        Context::fail(self, why);
    }

    #[inline]
    fn limits(&self) -> &Limits {
        limits_of(self)
    }
}
