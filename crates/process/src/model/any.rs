//! Models of processes as one type.

use std::fmt;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_model::record::{Stuck, View};
use warpline_model::{
    Abilities, Context, Declarations, Finish, Init, Link, Model, Outcome, Portable, Results,
    WireFormat,
};

use crate::event::ProcessEvent;
use crate::model::coroutines::{abilities, all_lps_are_processes, as_the_model_says};
use crate::model::lp::ProcessLp;
use crate::model::{Coroutines, ProcessModel};

/// What LPs of [`AnyCoroutines`] send each other: plain data, or `()`.
pub trait PlainMessage: Portable + Clone + fmt::Debug + Send + 'static {}

impl<T: Portable + Clone + fmt::Debug + Send + 'static> PlainMessage for T {}

/// What a model says about itself, whatever its type.
trait Says<T: PlainMessage>: Send + Sync {
    fn lps(&self) -> u32;
    fn lookahead(&self) -> f64;
    fn lookahead_of(&self, lp: LpId) -> Option<f64>;
    fn links(&self, lp: LpId) -> Option<Vec<Link>>;
    fn weight(&self, lp: LpId) -> f64;
    fn group(&self, lp: LpId) -> Option<u32>;
    fn kind(&self, lp: LpId) -> &str;
    fn unbiased_ties(&self) -> bool;
    fn declare(&self, declare: &mut Declarations);
    fn views(&self, outcome: &Outcome) -> Vec<View>;
    fn results(&self, outcome: &Outcome) -> Results<AnyCoroutines<T>>;
    fn begin(&self, lp: &mut Init<AnyCoroutines<T>>) -> ProcessLp<T>;
}

impl<M> Says<M::Message> for Coroutines<M>
where
    M: ProcessModel<Message: PlainMessage>,
{
    as_the_model_says!();

    fn results(&self, outcome: &Outcome) -> Results<AnyCoroutines<M::Message>> {
        self.model().results(outcome).of_another(self.clone())
    }

    fn begin(&self, lp: &mut Init<AnyCoroutines<M::Message>>) -> ProcessLp<M::Message> {
        ProcessLp::begin(self.model(), lp)
    }
}

/// Any model of processes whose LPs send each other `T`.
///
/// Engines are compiled for each type of model. To them, all models that are this one type are one
/// model. So a program with many models of processes is compiled faster, and takes less room. They
/// run as fast: once an LP has begun, its type does not matter.
///
/// ```
/// use warpline_process::AnyCoroutines;
/// use warpline_process::prelude::*;
/// # struct Clock;
/// # impl ProcessModel for Clock {
/// #     type Message = ();
/// #     fn lps(&self) -> u32 { 3 }
/// #     async fn run(self: Arc<Self>, sim: Sim<()>) { sim.sleep(1.0).await; }
/// # }
/// # struct Bell;
/// # impl ProcessModel for Bell {
/// #     type Message = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     async fn run(self: Arc<Self>, sim: Sim<()>) { sim.sleep(60.0).await; }
/// # }
/// let models: [AnyCoroutines<()>; 2] = [Coroutines::new(Clock).into(), Coroutines::new(Bell).into()];
/// assert_eq!(models.map(|model| model.lps()), [3, 1]);
/// ```
pub struct AnyCoroutines<T: PlainMessage> {
    model: Arc<dyn Says<T>>,
}

impl<T: PlainMessage> AnyCoroutines<T> {
    fn model(&self) -> &dyn Says<T> {
        &*self.model
    }
}

impl<M> From<Coroutines<M>> for AnyCoroutines<M::Message>
where
    M: ProcessModel<Message: PlainMessage>,
{
    fn from(model: Coroutines<M>) -> Self {
        AnyCoroutines { model: Arc::new(model) }
    }
}

impl<T: PlainMessage> Clone for AnyCoroutines<T> {
    fn clone(&self) -> Self {
        AnyCoroutines { model: Arc::clone(&self.model) }
    }
}

impl<T: PlainMessage> fmt::Debug for AnyCoroutines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyCoroutines").field("lps", &self.model.lps()).finish_non_exhaustive()
    }
}

impl<T: PlainMessage> Model for AnyCoroutines<T> {
    type State = ProcessLp<T>;
    type Event = ProcessEvent<T>;

    const ABILITIES: Abilities<Self::State, Self::Event> = abilities(Some(WireFormat::portable()));

    as_the_model_says!();

    all_lps_are_processes!();

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        self.model.begin(lp)
    }
}
