use std::fmt::Debug;

use serde_json::Value;
use warpline_base::LpId;
use warpline_base::record::View;

use crate::{Commit, Context, Declarations, Finish, Init, Parameters, Reverse, Statistics};

/// A simulation model: parameters and topology shared by all LPs, and what an LP does with an event.
///
/// The model itself never changes during a run. What changes lives in one [`State`](Self::State) per LP.
pub trait Model: Sized + Send + Sync {
    /// The state of one LP. Models with several kinds of LP make it an enum.
    ///
    /// The engine clones it to undo events, unless the model brings [`reverse`](Self::reverse) code.
    type State: Clone + Debug + Send;

    /// What LPs send each other. A payload of up to 16 bytes keeps a pending event in one cache line;
    /// share large payloads with an `Arc`.
    type Event: Debug + Send;

    /// Whether [`reverse`](Self::reverse) is written, and may be used in place of copies of the state.
    const REVERSIBLE: bool = false;

    /// The number of LPs; their ids are `0..lps`.
    fn lps(&self) -> u32;

    /// The least delay of any event sent to *another* LP, in model time. Events that an LP sends to itself may
    /// have any delay. The larger it is, the more a conservative engine can do in parallel.
    fn lookahead(&self) -> f64 {
        0.0
    }

    /// The LPs that `lp` may send to, itself excepted; `None` if that may be any. `warpline verify` holds the
    /// model to it.
    fn neighbours(&self, lp: LpId) -> Option<Vec<LpId>> {
        let _ = lp;
        None
    }

    /// Whether events of equal time, step and priority are ordered by a seeded hash, which favours no LP,
    /// instead of by the sender's id.
    fn unbiased_ties(&self) -> bool {
        false
    }

    /// Declares the statistics and tables that the model writes.
    fn declare(&self, declare: &mut Declarations) {
        let _ = declare;
    }

    /// Makes the state of one LP at time 0 and sends its first events.
    fn init(&self, lp: &mut Init<Self>) -> Self::State;

    /// Executes one event: changes the state, sends events, observes.
    fn handle(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Context<Self>);

    /// Undoes [`handle`](Self::handle) on the state it left behind. Random draws come again as they came forward, and
    /// [`Reverse::restore`] returns what [`Context::save`] kept, last first. Sends, statistics and rows are undone by the engine.
    ///
    /// Set [`REVERSIBLE`](Self::REVERSIBLE) when it is written; `warpline verify` tests it event by event.
    fn reverse(&self, state: &mut Self::State, event: &Self::Event, lp: &mut Reverse<Self>) {
        let _ = (state, event, lp);
    }

    /// Called once for every event when it can no longer be undone, in the LP's order: the place for statistics
    /// and rows that need only the event.
    fn commit(&self, event: &Self::Event, lp: &mut Commit<Self>) {
        let _ = (event, lp);
    }

    /// Called once per LP after the last event, in the order of LPs, at the end time.
    fn finish(&self, state: &Self::State, lp: &mut Finish<Self>) {
        let _ = (state, lp);
    }

    /// The model's outputs as JSON: every declared statistic, unless the model says otherwise.
    fn results(&self, outcome: &Outcome) -> Value {
        outcome.statistics.to_json()
    }

    /// What the model adds to the report: a histogram for each declared one, unless the model says otherwise.
    fn views(&self, outcome: &Outcome) -> Vec<View> {
        outcome.statistics.histogram_views()
    }
}

/// What is known when a run has ended, for [`Model::results`] and [`Model::views`].
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The statistics of the whole run.
    pub statistics: &'a Statistics,
    /// The end of the run, in model time.
    pub end: f64,
    /// Where observation began, in model time.
    pub warmup: f64,
}

/// A model that can be made from named parameters: what the command and scenario files need.
pub trait Configure: Model {
    /// Its parameters, made by [`parameters!`](crate::parameters).
    type Parameters: Parameters;

    /// The name on the command line.
    const NAME: &'static str;

    /// One line on what is simulated.
    const ABOUT: &'static str;

    /// The unit of model time, such as `s`; empty where time is a pure number.
    const TIME_UNIT: &'static str;

    /// The end of a run that names none, in model time.
    const DEFAULT_END: f64;

    /// Makes the model.
    ///
    /// # Errors
    /// A message for the user: which parameters do not go together, or which file is at fault, and what to do.
    fn configure(parameters: &Self::Parameters) -> Result<Self, String>;
}
