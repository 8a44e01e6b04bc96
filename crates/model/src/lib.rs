//! The model API of Warpline: everything that a modeller writes against. It contains nothing of the
//! engines.
//!
//! A [`Model`] is a set of logical processes (LPs) that change their states when events reach them
//! and send events to each other. Write it as plain Rust. Every engine runs it and gives the same
//! answer.
//!
//! ```
//! use warpline_model::prelude::*;
//!
//! /// Tokens that hop from LP to LP for ever.
//! struct Hops { lps: u32 }
//!
//! #[derive(Debug)]
//! struct Hop;
//!
//! impl Model for Hops {
//!     type State = u64; // hops seen by an LP
//!     type Event = Hop;
//!
//!     fn lps(&self) -> u32 { self.lps }
//!
//!     fn init(&self, lp: &mut Init<Self>) -> u64 {
//!         lp.send(lp.id(), 1.0, Hop);
//!         0
//!     }
//!
//!     fn handle(&self, seen: &mut u64, _: &Hop, lp: &mut Context<Self>) {
//!         *seen += 1;
//!         let to = lp.random().below(self.lps);
//!         let delay = lp.random().exponential(1.0);
//!         lp.send(to, delay, Hop);
//!     }
//! }
//! ```
//!
//! Every run gives the same answer if the model keeps these rules:
//! - `handle` is a function of (model, state, event, context): no clocks, no global state, no
//!   randomness but the context's, no iteration over hash maps.
//! - Everything that changes is in a state. Interior mutability, in the model or shared between
//!   states, is not undone; `warpline verify` finds it.
//! - Prefer the context's distributions to `f64::ln` and friends, whose last bit depends on the
//!   platform.

// Derived code names this crate, inside the crate too.
extern crate self as warpline_model;

mod abilities;
mod context;
pub mod engine;
mod fault;
mod journal;
mod level;
mod lookahead;
mod model;
mod outside;
mod parameters;
mod results;
pub mod statistics;
mod tables;

pub use abilities::Abilities;
pub use abilities::comparable::Comparable;
#[doc(hidden)]
pub use abilities::types as model_support;
pub use abilities::wire::{PayloadVisitor, WireFormat};
pub use context::acting::Acting;
pub use context::phases::{Commit, Finish, Init, Reverse};
pub use context::timer::Timer;
pub use context::{Context, HasEvent};
pub use fault::Fault;
pub use journal::changing::Changing;
pub use journal::journaled::{Change, Journal, Journaled, Plain};
pub use journal::queue::Queue;
pub use journal::saved::Saved;
pub use level::Level;
pub use lookahead::Link;
pub use model::Model;
pub use outside::Act;
pub use parameters::configure::{Configure, Preset};
pub use parameters::configured::Configured;
#[doc(hidden)]
pub use parameters::support as parameter_support;
pub use parameters::{Choice, ParameterError, ParameterSpec, ParameterValue, Parameters, nearest};
pub use results::{List, Outcome, Results};
pub use statistics::{Counter, Declarations, Histogram, Mean, Observe, Statistics, TimeMean};
pub use tables::{Cell, Table, Text};
pub use warpline_base::LpId;
pub use warpline_base::random::{
    Continuous, Discrete, PointsError, Random, Weighted, WeightsError,
};
pub use warpline_derive::{Choices, Journaled, Parameters, Portable, model};
#[doc(hidden)]
pub use warpline_memory::Room;
pub use warpline_memory::{IsPortable, Payload, Portable};
pub use warpline_record as record;

/// JSON values, for [`Model::results`].
pub use serde_json;

/// Everything that a model usually needs, for one `use`.
pub mod prelude {
    pub use crate::{
        Acting, Cell, Choices, Commit, Configure, Context, Continuous, Counter, Declarations,
        Discrete, Fault, Finish, Histogram, Init, Journaled, Level, Link, LpId, Mean, Model,
        Observe, Outcome, Parameters, Payload, Portable, Queue, Random, Results, Reverse,
        Statistics, Table, TimeMean, Timer, Weighted, model,
    };
}

#[cfg(test)]
mod tests {
    use crate::Payload;

    #[test]
    fn payloads_are_lists_of_numbers_in_json() {
        let payload = Payload::from(vec![1, 2, 255]);
        let text = serde_json::to_string(&payload).unwrap();
        assert_eq!(text, "[1,2,255]");
        assert_eq!(serde_json::from_str::<Payload>(&text).unwrap(), payload);
        assert!(serde_json::from_str::<Payload>("[256]").is_err());
    }
}
