//! Warpline: a discrete event simulation engine. A model is written once, as plain Rust that knows
//! nothing of threads or rollback, and gives the same answer wherever it runs.
//!
//! ```
//! use warpline::prelude::*;
//!
//! struct Hops { lps: u32 }
//!
//! #[derive(Debug)]
//! struct Hop;
//!
//! impl Model for Hops {
//!     type State = u64;
//!     type Event = Hop;
//!     fn lps(&self) -> u32 { self.lps }
//!     fn init(&self, lp: &mut Init<Self>) -> u64 {
//!         lp.send(lp.id(), 1.0, Hop);
//!         0
//!     }
//!     fn handle(&self, seen: &mut u64, _: &Hop, lp: &mut Context<Self>) {
//!         *seen += 1;
//!         let to = lp.random().below(self.lps);
//!         let delay = lp.random().exponential(1.0);
//!         lp.send(to, delay, Hop);
//!     }
//! }
//!
//! let run = Simulation::new(Hops { lps: 1000 }).end(100.0).seed(7).run()?;
//! assert_eq!(run.states.iter().sum::<u64>(), run.record.committed_events);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Where to look
//! - To write a model: [`Model`]; what it may do in an event: [`Context`], [`Observe`] and
//!   [`Random`].
//! - To observe it: [`statistics`], [`Level`], [`Table`].
//! - To give it parameters: [`#[derive(Parameters)]`](macro@Parameters),
//!   [`#[derive(Choices)]`](macro@Choices) and [`Configure`].
//! - To run it: [`Simulation`]; its outcome: [`Run`] or an [`Error`]. In parallel:
//!   [`Simulation::threads`]. All settings in one table, with defaults and when they hurt:
//!   [`settings`](mod@settings).
//! - To trust it: [`Simulation::verify`].
//! - To learn how fast it could be, and what limits it: [`Simulation::explain`].
//!
//! # In parallel
//! The same model on several PEs, each in a thread. All other [settings](Settings::table) have
//! defaults:
//! ```
//! # use warpline::prelude::*;
//! # struct Hops;
//! # impl Model for Hops {
//! #     type State = u64; type Event = ();
//! #     fn lps(&self) -> u32 { 100 }
//! #     fn init(&self, lp: &mut Init<Self>) -> u64 { lp.send(lp.id(), 1.0, ()); 0 }
//! #     fn handle(&self, seen: &mut u64, _: &(), lp: &mut Context<Self>) {
//! #         *seen += 1;
//! #         let to = lp.random().below(100);
//! #         let delay = lp.random().exponential(1.0);
//! #         lp.send(to, delay, ());
//! #     }
//! # }
//! let alone = Simulation::new(Hops).end(20.0).run()?;
//! let together = Simulation::new(Hops).end(20.0).threads(2).run()?;
//! assert_eq!(together.record.digest, alone.record.digest);
//! assert_eq!((together.record.results, together.states), (alone.record.results, alone.states));
//! let parallel = together.record.parallel.expect("there were two PEs");
//! assert!(parallel.processed_events >= together.record.committed_events);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Guarantees
//! - **One answer.** The committed history, the final states, statistics and rows are a function of
//!   model, parameters, seed and end time alone: not of the engine, the number of PEs, how their
//!   threads happen to be scheduled, or any setting of how events are found, undone or committed.
//!   Two runs with equal [digests](record::RunRecord::digest) committed the same events in the same
//!   order at every LP.
//! - **Order.** Events are executed by (time, step, priority, sender, sequence); what an event
//!   sends comes strictly after it, even without delay. A run covers `[0, end)`.
//! - **Speculation leaves no trace.** In a parallel run `handle` and `reverse` may be called for
//!   events that are undone later or never really happen, several times for one event, and for
//!   several LPs at the same time. What they observe, record, send or do wrong counts only when the
//!   event commits. [`Model::commit`] is called once per committed event, in the order of events
//!   for each LP, and in no order between LPs of different PEs. `finish`, `results` and `views` are
//!   called in one thread, after all events.
//! - **Mistakes are values.** A mistake of the model or the user comes back as an [`Error`] that
//!   says where it is, which value is wrong, what to do and what remains. A mistake of the model
//!   ends a parallel run where it would end a sequential one, with the same error after as many
//!   committed events; a panic in an event that turns out not to happen is ignored. For panics in
//!   `Clone` and `Drop`, see [`Model::State`] and [`Model::Event`].

// Derived code names this crate `warpline`, inside it as well.
extern crate self as warpline;

pub use warpline_base as base;
pub use warpline_calibration::{Calibration, calibrate};
#[cfg(feature = "command")]
pub use warpline_command::{self as command, command};
pub use warpline_explain::{
    BusiestPe, CoreFindings, Findings, LpDelay, LpWork, PathFindings, Slice,
};
pub use warpline_kernel::{Position, pending};
pub use warpline_memory::{Allocator, Exhausted};
pub use warpline_model::*;
pub use warpline_process as process;
pub use warpline_ranks as ranks;
pub use warpline_run::{
    Barrier, BufferPool, CORES, Cancellation, Carrier, Communication, CommunicationRing,
    Conservative, CopyInterval, DividedGroups, Error, EventCost, Explanation, Failure, FigureGroup,
    FossilCollection, GoAhead, GvtAlgorithm, GvtIntervalControl, GvtStart, HAS_BOOST, Horizon,
    LongEvent, LpChoice, MachineScale, Mailbox, MemoryLimit, Messages, Mismatch, Pending, Place,
    PlannedSetting, PoolOrder, Progress, Records, Replicated, Run, SettingError, Settings, Share,
    Simulation, Spread, StopSwitch, SubPool, Synchronisation, TableRows, TraceSummary, Undo,
    UnequalRuns, Verification, VerifiedKind, VerifyError, VerifyLimits, settings,
};

/// What a program around a model usually needs, in one `use`.
pub mod prelude {
    pub use crate::{Error, Pending, Records, Run, Simulation, Undo, VerifyError};
    pub use warpline_model::prelude::*;
}

/// The model in the project's README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
