//! Models in which some LPs are processes and the others handle events.

use std::fmt::{self, Debug};
use std::sync::Arc;

use warpline_base::LpId;
use warpline_model::record::{Stuck, View};
use warpline_model::{
    Abilities, Configure, Context, Declarations, Finish, Init, Link, Model, Outcome, Preset,
    Results,
};

use crate::event::ProcessEvent;
use crate::model::coroutines::{abilities, as_the_model_says, configured_as_the_model};
use crate::model::lp::ProcessLp;
use crate::model::{Coroutines, ProcessModel};

/// A model in which some LPs are processes, and the others handle events.
///
/// Those that handle events have a state that can be copied. So they may go ahead in an optimistic
/// run, which is mixed: processes wait until it is certain what happens. [`Mixed`] makes it a
/// `Model`.
///
/// Both kinds of LP send each other the same messages. An LP that handles events sends
/// `message.into()`:
/// ```
/// use warpline_process::prelude::*;
///
/// /// LP 0 is a smith, to whom the others bring what breaks.
/// struct Village;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Portable)]
/// enum Message { Breaks, Broken(LpId), Mended }
///
/// #[model]
/// impl ProcessModel for Village {
///     type Message = Message;
///     fn lps(&self) -> u32 { 5 }
///     fn lookahead(&self) -> f64 { 1.0 }
///     async fn run(self: Arc<Self>, sim: Sim<Message>) {
///         loop {
///             let Message::Broken(owner) = sim.receive().await else { continue };
///             sim.sleep(sim.exponential(2.0)).await;
///             sim.send(owner, 1.0, Message::Mended);
///         }
///     }
/// }
///
/// impl MixedModel for Village {
///     type State = u32; // how often it broke
///
///     fn is_process(&self, lp: LpId) -> bool { lp == LpId(0) }
///
///     fn init(&self, lp: &mut Init<Mixed<Self>>) -> u32 {
///         lp.send(lp.id(), 10.0, Message::Breaks.into());
///         0
///     }
///
///     fn handle(&self, broken: &mut u32, message: &Message, lp: &mut Context<Mixed<Self>>) {
///         match message {
///             Message::Breaks => {
///                 *broken += 1;
///                 lp.send(0, 1.0, Message::Broken(lp.id()).into());
///             }
///             _ => lp.send(lp.id(), 10.0, Message::Breaks.into()),
///         }
///     }
/// }
/// # let village = Mixed::new(Village);
/// # assert!(Model::is_conservative(&village, LpId(0)) && !Model::is_conservative(&village, LpId(1)));
/// ```
pub trait MixedModel: ProcessModel {
    /// The state of an LP that handles events; see `Model::State`.
    type State: Clone + Debug + Send;

    /// Whether `lp` is a process, which does what [`run`](ProcessModel::run) says. It must always
    /// say the same.
    fn is_process(&self, lp: LpId) -> bool;

    /// Makes the state of an LP that handles events, and sends its first messages; see
    /// `Model::init`.
    fn init(&self, lp: &mut Init<Mixed<Self>>) -> Self::State;

    /// What an LP does with a message that reaches it; see `Model::handle`.
    fn handle(
        &self,
        state: &mut Self::State,
        message: &Self::Message,
        lp: &mut Context<Mixed<Self>>,
    );

    /// Observes an LP that handles events when the run has ended; see `Model::finish`. Processes
    /// have `Sim::at_end` for that.
    fn finish(&self, state: &Self::State, lp: &mut Finish<Mixed<Self>>) {
        let _ = (state, lp);
    }
}

/// A model of processes and of LPs that handle events, as engines run it.
///
/// The engine copies the states of LPs that handle events, to undo them. Nothing undoes what
/// processes do, so settings cannot have them go ahead.
pub struct Mixed<M>(Coroutines<M>);

/// The state of an LP of a [`MixedModel`].
#[derive(Clone)]
pub enum MixedLp<S, T: 'static> {
    /// It is a process.
    Process(Box<ProcessLp<T>>),
    /// It handles events, in this state.
    Events(S),
}

impl<M> Mixed<M> {
    /// Makes a model for engines.
    pub fn new(model: M) -> Self {
        Mixed(Coroutines::new(model))
    }

    /// The model of processes and of LPs that handle events.
    pub fn model(&self) -> &Arc<M> {
        self.0.model()
    }
}

impl<S, T> MixedLp<S, T> {
    /// The state of an LP that handles events.
    pub fn state(&self) -> Option<&S> {
        match self {
            MixedLp::Process(_) => None,
            MixedLp::Events(state) => Some(state),
        }
    }
}

impl<M> From<M> for Mixed<M> {
    fn from(model: M) -> Self {
        Mixed::new(model)
    }
}

impl<M> Clone for Mixed<M> {
    fn clone(&self) -> Self {
        Mixed(self.0.clone())
    }
}

impl<M: Debug> Debug for Mixed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mixed").field(self.model()).finish()
    }
}

impl<S: Debug, T: Debug> Debug for MixedLp<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MixedLp::Process(process) => process.fmt(f),
            MixedLp::Events(state) => state.fmt(f),
        }
    }
}

impl<M: MixedModel> Model for Mixed<M> {
    type State = MixedLp<M::State, M::Message>;
    type Event = ProcessEvent<M::Message>;

    const ABILITIES: Abilities<Self::State, Self::Event> = abilities(M::WIRE);

    as_the_model_says!();

    fn is_conservative(&self, lp: LpId) -> bool {
        self.model().is_process(lp)
    }

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        if self.model().is_process(lp.id()) {
            MixedLp::Process(Box::new(ProcessLp::begin(self.model(), lp)))
        } else {
            MixedLp::Events(self.model().init(lp))
        }
    }

    #[inline]
    fn handle(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Context<Self>) {
        match (state, event) {
            (MixedLp::Events(state), ProcessEvent::Message(message)) => {
                self.model().handle(state, message, lp);
            }
            (MixedLp::Process(process), event) => process.handle(event, lp),
            // Only processes wake themselves.
            (MixedLp::Events(_), ProcessEvent::Wake(_)) => {}
        }
    }

    fn finish(&self, state: &Self::State, lp: &mut Finish<Self>) {
        match state {
            MixedLp::Process(process) => process.end(lp.id(), lp.now(), lp),
            MixedLp::Events(state) => self.model().finish(state, lp),
        }
    }

    fn stuck(&self, lp: LpId, state: &Self::State, most: usize) -> Stuck {
        match state {
            MixedLp::Process(process) => process.stuck_in(self.lps(), lp, most),
            MixedLp::Events(_) => Stuck::default(),
        }
    }

    fn results(&self, outcome: &Outcome) -> Results<Self> {
        self.model().results(outcome).of_part(|mixed: &Self| &mixed.0)
    }
}

impl<M: MixedModel + Configure> Configure for Mixed<M> {
    configured_as_the_model!();

    fn configure(parameters: &M::Parameters) -> Result<Self, String> {
        M::configure(parameters).map(Mixed::new)
    }
}
