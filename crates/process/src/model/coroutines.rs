//! A model of processes, as engines see it.

use warpline_base::LpId;
use warpline_model::record::{Stuck, View};
use warpline_model::{
    Abilities, Configure, Context, Declarations, Finish, Init, Link, Model, Outcome, Preset,
    Results, WireFormat,
};

use crate::event::ProcessEvent;
use crate::model::lp::ProcessLp;
use crate::model::{Coroutines, ProcessModel};

/// The abilities of a model with processes, whose events leave their process of the system like
/// this, if they can.
pub(crate) const fn abilities<S, T>(
    wire: Option<WireFormat<ProcessEvent<T>>>,
) -> Abilities<S, ProcessEvent<T>> {
    match wire {
        Some(wire) => Abilities::NONE.never_undone().with_wire(wire),
        None => Abilities::NONE.never_undone(),
    }
}

/// What a model of processes says about itself, for engines.
macro_rules! as_the_model_says {
    () => {
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

        fn unbiased_ties(&self) -> bool {
            self.model().unbiased_ties()
        }

        fn declare(&self, declare: &mut Declarations) {
            self.model().declare(declare);
        }

        fn views(&self, outcome: &Outcome) -> Vec<View> {
            self.model().views(outcome)
        }
    };
}

/// How a model of processes is configured, apart from `configure`.
macro_rules! configured_as_the_model {
    () => {
        type Parameters = M::Parameters;

        const NAME: &'static str = M::NAME;
        const ABOUT: &'static str = M::ABOUT;
        const TIME_UNIT: &'static str = M::TIME_UNIT;
        const DEFAULT_END: f64 = M::DEFAULT_END;

        fn notes(parameters: &M::Parameters) -> Vec<(&'static str, String)> {
            M::notes(parameters)
        }

        fn presets() -> &'static [Preset] {
            M::presets()
        }
    };
}

/// What engines do with a model all of whose LPs are processes, once they have begun.
macro_rules! all_lps_are_processes {
    () => {
        fn is_conservative(&self, _: LpId) -> bool {
            true
        }

        #[inline]
        fn handle(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Context<Self>) {
            state.handle(event, lp);
        }

        fn finish(&self, state: &Self::State, lp: &mut Finish<Self>) {
            state.end(lp.id(), lp.now(), lp);
        }

        fn stuck(&self, lp: LpId, state: &Self::State, most: usize) -> Stuck {
            state.stuck_in(self.lps(), lp, most)
        }

        fn results(&self, outcome: &Outcome) -> Results<Self> {
            self.model().results(outcome)
        }
    };
}

pub(crate) use {all_lps_are_processes, as_the_model_says, configured_as_the_model};

impl<M: ProcessModel> Model for Coroutines<M> {
    type State = ProcessLp<M::Message>;
    type Event = ProcessEvent<M::Message>;

    const ABILITIES: Abilities<Self::State, Self::Event> = abilities(M::WIRE);

    as_the_model_says!();

    all_lps_are_processes!();

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        ProcessLp::begin(self.model(), lp)
    }
}

impl<M: ProcessModel + Configure> Configure for Coroutines<M> {
    configured_as_the_model!();

    fn configure(parameters: &M::Parameters) -> Result<Self, String> {
        M::configure(parameters).map(Coroutines::new)
    }
}
