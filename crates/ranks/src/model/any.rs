//! Programs of ranks as one type.

use std::fmt;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_model::engine::context_of;
use warpline_model::record::{Stuck, View};
use warpline_model::{
    Abilities, Context, Declarations, Finish, Init, Model, Observe, Outcome, Results, WireFormat,
};

use crate::model::lp::{Coroutine, RankLp};
use crate::model::{RankProgram, Ranks, as_the_program_says, network};
use crate::packet::RankEvent;
use crate::rank::Rank;
use crate::target::Target;

/// What a program says about itself, whatever its type.
trait Says: Send + Sync {
    fn ranks(&self) -> u32;
    fn start(&self, rank: Rank) -> Coroutine;
    fn declare(&self, declare: &mut Declarations);
    fn finish(&self, rank: u32, time: f64, observe: &mut dyn Observe);
    fn results(&self, outcome: &Outcome) -> Results<AnyRanks>;
    fn views(&self, outcome: &Outcome) -> Vec<View>;
}

impl<P: RankProgram> Says for Ranks<P> {
    fn ranks(&self) -> u32 {
        self.program().ranks()
    }

    fn start(&self, rank: Rank) -> Coroutine {
        Ranks::start(self, rank)
    }

    fn declare(&self, declare: &mut Declarations) {
        self.program().declare(declare);
    }

    fn finish(&self, rank: u32, time: f64, observe: &mut dyn Observe) {
        self.program().finish(rank, time, observe);
    }

    fn results(&self, outcome: &Outcome) -> Results<AnyRanks> {
        self.program().results(outcome).of_another(self.clone())
    }

    fn views(&self, outcome: &Outcome) -> Vec<View> {
        self.program().views(outcome)
    }
}

/// Any program of ranks.
///
/// Engines are compiled for each type of model. To them, all programs that are this one type are
/// one model. So a binary with many programs is compiled faster, and takes less room. They run as
/// fast: once a rank has begun, the type of its program does not matter.
///
/// ```
/// use warpline_ranks::prelude::*;
/// use warpline_ranks::AnyRanks;
/// # struct Hello { target: Target }
/// # impl RankProgram for Hello {
/// #     fn ranks(&self) -> u32 { 4 }
/// #     fn target(&self) -> &Target { &self.target }
/// #     async fn run(self: Arc<Self>, _: Rank) {}
/// # }
/// let target = Target::flat(Wire::new(1e-6, 1e9));
/// let program: AnyRanks = Ranks::new(Hello { target }).into();
/// assert_eq!((program.lps(), program.lookahead()), (4, 1e-6));
/// ```
#[derive(Clone)]
pub struct AnyRanks {
    program: Arc<dyn Says>,
    target: Target,
}

impl AnyRanks {
    fn program(&self) -> &dyn Says {
        &*self.program
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn start(&self, rank: Rank) -> Coroutine {
        self.program.start(rank)
    }
}

impl<P: RankProgram> From<Ranks<P>> for AnyRanks {
    fn from(ranks: Ranks<P>) -> Self {
        let target = ranks.target().clone();
        AnyRanks { program: Arc::new(ranks), target }
    }
}

impl fmt::Debug for AnyRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyRanks").field("ranks", &self.program.ranks()).finish_non_exhaustive()
    }
}

impl Model for AnyRanks {
    as_the_program_says!();
}
