//! Models, as their author writes them and as engines run them.

pub(crate) mod any;
pub(crate) mod coroutines;
pub(crate) mod lp;
pub(crate) mod mixed;

use std::fmt::{self, Debug};
use std::future::Future;
use std::sync::Arc;

use warpline_model::record::View;
use warpline_model::{Declarations, Link, LpId, Outcome, Results, WireFormat};

use crate::event::ProcessEvent;
use crate::sim::Sim;

/// A model whose LPs are processes: what all LPs share, and what an LP does.
///
/// Mark the implementation with `#[model]`, so that its runs may use several processes of the
/// system. The crate's page has an example.
pub trait ProcessModel: Sized + Send + Sync + 'static {
    /// What LPs send each other; `()` if they do not.
    type Message: Clone + Debug + Send + 'static;

    /// How events leave their process of the system, if they can. `#[model]` finds it out.
    const WIRE: Option<WireFormat<ProcessEvent<Self::Message>>> = None;

    /// The number of LPs, at least 1.
    fn lps(&self) -> u32;

    /// What an LP does, from time 0 on: `sim.id()` says which LP it is. When this has come to its
    /// end, processes that it started go on.
    fn run(self: Arc<Self>, sim: Sim<Self::Message>) -> impl Future<Output = ()> + Send + 'static;

    /// The least delay of any message to another LP; see `Model::lookahead`. Default: 0.
    fn lookahead(&self) -> f64 {
        0.0
    }

    /// The least delay of any message that `lp` sends to another LP; see `Model::lookahead_of`.
    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        let _ = lp;
        None
    }

    /// The LPs that `lp` may send to; see `Model::links`.
    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let _ = lp;
        None
    }

    /// The work of `lp` relative to other LPs; see `Model::weight`. Default: 1.
    fn weight(&self, lp: LpId) -> f64 {
        let _ = lp;
        1.0
    }

    /// The group of `lp`; see `Model::group`.
    fn group(&self, lp: LpId) -> Option<u32> {
        let _ = lp;
        None
    }

    /// The kind of `lp`; see `Model::kind`. Default: empty.
    fn kind(&self, lp: LpId) -> &str {
        let _ = lp;
        ""
    }

    /// Whether events of equal time are ordered by a seeded hash; see `Model::unbiased_ties`.
    fn unbiased_ties(&self) -> bool {
        false
    }

    /// Declares the statistics and tables that processes write; see `Model::declare`.
    fn declare(&self, declare: &mut Declarations) {
        let _ = declare;
    }

    /// The model's outputs as JSON; see `Model::results`. Default: every declared statistic.
    fn results(&self, outcome: &Outcome) -> Results<Coroutines<Self>> {
        Results::of(outcome.statistics)
    }

    /// What the model adds to the report; see `Model::views`.
    fn views(&self, outcome: &Outcome) -> Vec<View> {
        outcome.statistics.histogram_views()
    }
}

/// A model of processes, as engines run it.
///
/// ```
/// use warpline_process::prelude::*;
/// # struct Clock;
/// # impl ProcessModel for Clock {
/// #     type Message = ();
/// #     fn lps(&self) -> u32 { 3 }
/// #     async fn run(self: Arc<Self>, sim: Sim<()>) { sim.sleep(1.0).await; }
/// # }
/// let model = Coroutines::new(Clock);
/// assert_eq!((Model::lps(&model), model.is_conservative(LpId(0))), (3, true));
/// ```
pub struct Coroutines<M> {
    model: Arc<M>,
}

impl<M> Coroutines<M> {
    /// Makes a model for engines out of a model of processes.
    pub fn new(model: M) -> Self {
        Coroutines { model: Arc::new(model) }
    }

    /// The model of processes.
    pub fn model(&self) -> &Arc<M> {
        &self.model
    }
}

impl<M> From<M> for Coroutines<M> {
    fn from(model: M) -> Self {
        Coroutines::new(model)
    }
}

impl<M> Clone for Coroutines<M> {
    fn clone(&self) -> Self {
        Coroutines { model: Arc::clone(&self.model) }
    }
}

impl<M: fmt::Debug> fmt::Debug for Coroutines<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Coroutines").field(&self.model).finish()
    }
}
