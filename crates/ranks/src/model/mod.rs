//! Programs of ranks, as engines see them.

pub(crate) mod any;
pub(crate) mod lp;

use std::future::Future;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_model::engine::{Limits, context_of, limits_of};
use warpline_model::record::{Stuck, View};
use warpline_model::{
    Abilities, Configure, Context, Declarations, Finish, HasEvent, Init, Model, Observe, Outcome,
    Preset, Results, WireFormat,
};

use crate::model::lp::{Coroutine, RankLp};
use crate::network::{Network, Services};
use crate::packet::RankEvent;
use crate::rank::Rank;
use crate::target::Target;

/// A program of MPI: what all ranks share, and what each does. The crate's page has an example.
pub trait RankProgram: Sized + Send + Sync + 'static {
    /// The number of ranks, at least 1.
    fn ranks(&self) -> u32;

    /// The network between them.
    fn target(&self) -> &Target;

    /// What a rank does, from time 0 on: `rank.id()` says which it is. When it returns, the rank
    /// has left MPI, as by `MPI_Finalize`.
    fn run(self: Arc<Self>, rank: Rank) -> impl Future<Output = ()> + Send + 'static;

    /// Declares the statistics and tables that ranks write; see `Model::declare`.
    fn declare(&self, declare: &mut Declarations) {
        let _ = declare;
    }

    /// A rank has left MPI, or the run has ended before: its time then, in seconds. See
    /// `Model::finish`.
    fn finish(&self, rank: u32, time: f64, observe: &mut dyn Observe) {
        let _ = (rank, time, observe);
    }

    /// The program's outputs as JSON; see `Model::results`. Default: every declared statistic.
    fn results(&self, outcome: &Outcome) -> Results<Ranks<Self>> {
        Results::of(outcome.statistics)
    }

    /// What the program adds to the report; see `Model::views`.
    fn views(&self, outcome: &Outcome) -> Vec<View> {
        outcome.statistics.histogram_views()
    }
}

/// A program of ranks, as a model that engines run. Each rank is an LP.
#[derive(Debug)]
pub struct Ranks<P> {
    program: Arc<P>,
}

impl<P> Ranks<P> {
    /// Makes a model for engines out of a program.
    pub fn new(program: P) -> Self {
        Ranks { program: Arc::new(program) }
    }

    /// The program.
    pub fn program(&self) -> &Arc<P> {
        &self.program
    }
}

impl<P> Clone for Ranks<P> {
    fn clone(&self) -> Self {
        Ranks { program: Arc::clone(&self.program) }
    }
}

impl<P: RankProgram> Ranks<P> {
    pub(crate) fn target(&self) -> &Target {
        self.program.target()
    }

    /// The coroutine of a rank.
    pub(crate) fn start(&self, rank: Rank) -> Coroutine {
        Box::pin(Arc::clone(&self.program).run(rank))
    }
}

/// A program of ranks, as engines see it, in terms of `program()`, `target()` and `start(rank)`.
macro_rules! as_the_program_says {
    () => {
        type State = RankLp;
        type Event = RankEvent;

        const ABILITIES: Abilities<RankLp, RankEvent> =
            Abilities::NONE.never_undone().with_wire(WireFormat::portable());

        fn lps(&self) -> u32 {
            self.program().ranks()
        }

        fn lookahead(&self) -> f64 {
            self.target().lookahead()
        }

        fn group(&self, lp: LpId) -> Option<u32> {
            let target = self.target();
            target.has_nodes().then(|| target.node(lp.0))
        }

        fn is_conservative(&self, _: LpId) -> bool {
            true
        }

        fn declare(&self, declare: &mut Declarations) {
            self.program().declare(declare);
        }

        fn init(&self, lp: &mut Init<Self>) -> RankLp {
            let rank = Rank::new(lp.id().0, self.lps());
            let mut state = RankLp::new();
            state.begin(|| self.start(rank), network(self.target(), context_of(lp)));
            state
        }

        #[inline]
        fn handle(&self, state: &mut RankLp, event: &RankEvent, lp: &mut Context<Self>) {
            state.handle(event, network(self.target(), lp));
        }

        fn finish(&self, state: &RankLp, lp: &mut Finish<Self>) {
            self.program().finish(lp.id().0, state.clock(), lp);
        }

        fn stuck(&self, lp: LpId, state: &RankLp, most: usize) -> Stuck {
            let (waits, lines) = state.stuck(lp.0, most);
            Stuck { waits, lines }
        }

        fn results(&self, outcome: &Outcome) -> Results<Self> {
            self.program().results(outcome)
        }

        fn views(&self, outcome: &Outcome) -> Vec<View> {
            self.program().views(outcome)
        }
    };
}

pub(crate) use as_the_program_says;

impl<P: RankProgram> Model for Ranks<P> {
    as_the_program_says!();
}

/// The target's network, as an event of an LP sees it.
pub(crate) fn network<'a, M>(target: &'a Target, lp: &'a mut Context<M>) -> Network<'a>
where
    M: HasEvent<Event = RankEvent> + 'static,
{
    Network { now: lp.now(), me: lp.id().0, target, services: lp }
}

impl<P: RankProgram + Configure> Configure for Ranks<P> {
    type Parameters = P::Parameters;

    const NAME: &'static str = P::NAME;
    const ABOUT: &'static str = P::ABOUT;
    const TIME_UNIT: &'static str = P::TIME_UNIT;
    const DEFAULT_END: f64 = P::DEFAULT_END;

    fn configure(parameters: &P::Parameters) -> Result<Self, String> {
        P::configure(parameters).map(Ranks::new)
    }

    fn notes(parameters: &P::Parameters) -> Vec<(&'static str, String)> {
        P::notes(parameters)
    }

    fn presets() -> &'static [Preset] {
        P::presets()
    }
}

impl<M: HasEvent<Event = RankEvent> + 'static> Services for Context<M> {
    #[inline]
    fn send(&mut self, to: u32, delay: f64, event: RankEvent) {
        Context::send(self, to, delay, event);
    }

    #[inline]
    fn stream(&mut self, number: u8) -> &mut Random {
        Context::stream(self, number)
    }

    fn fail(&mut self, why: String) {
        Context::fail(self, why);
    }

    #[inline]
    fn limits(&self) -> &Limits {
        limits_of(self)
    }
}
