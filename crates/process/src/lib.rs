//! Processes as coroutines: logical processes (LPs) that are written as they are thought.
//!
//! The behaviour of an LP is an `async fn`. It sleeps, waits for messages and resources, and starts
//! other processes:
//! ```
//! use std::sync::Arc;
//! use warpline_process::prelude::*;
//!
//! /// A clock that ticks.
//! struct Clock;
//!
//! const TICKS: Counter = Counter::slot(0);
//!
//! impl ProcessModel for Clock {
//!     type Message = ();
//!     fn lps(&self) -> u32 { 1 }
//!     fn declare(&self, declare: &mut Declarations) {
//!         declare.counter(TICKS, "ticks", "", "how often it ticked");
//!     }
//!     async fn run(self: Arc<Self>, sim: Sim<()>) {
//!         loop {
//!             sim.sleep(1.0).await;
//!             sim.count(TICKS, 1);
//!         }
//!     }
//! }
//! # let _ = Coroutines::new(Clock);
//! ```
//! [`Coroutines`] makes it a `Model`, which every engine runs.
//!
//! An LP has one process at first, [`ProcessModel::run`], and as many as it starts. All that is
//! ready within an event goes on in that event, in the order in which it became ready. What a
//! process waits for begins when the wait is made, not when it is first polled, and is withdrawn
//! when the wait is dropped. So a process that is cancelled leaves nothing behind, and gives back
//! what it holds.
//!
//! # What cannot be undone
//! The state of such an LP lies in its coroutines, which cannot be copied. So these LPs are
//! conservative: they execute only what is certain to happen. The other LPs of a [`MixedModel`] handle
//! events, and may go ahead of them.

// Derived code names this crate, inside the crate too.
extern crate self as warpline_process;

mod combine;
mod event;
mod keys;
mod model;
mod processes;
mod queues;
mod resources;
mod running;
mod sim;
#[cfg(test)]
mod test_support;

pub use combine::{
    AllIn, AllOf, AnyIn, AnyOf, Either, SomeIn, all_in, all_of, any_in, any_of, some_in,
};
pub use event::ProcessEvent;
pub use keys::WaitKey;
pub use model::any::{AnyCoroutines, PlainMessage};
pub use model::lp::ProcessLp;
pub use model::mixed::{Mixed, MixedLp, MixedModel};
pub use model::{Coroutines, ProcessModel};
pub use processes::interrupt::Interrupted;
pub use processes::process::{Cancelled, Ended, Process};
pub use resources::{
    Container, Gate, Get, Held, Passage, Put, Request, Resource, ResourceFigures, Shared, Signal,
    SignalWait, Store, Transfer,
};
pub use running::things::AtEnd;
pub use sim::{Interruptible, Join, Receive, Sim, Sleep, Timeout, WaitUntil};

/// What a model of processes usually needs, in one `use`.
pub mod prelude {
    pub use std::sync::Arc;

    pub use crate::{
        Cancelled, Container, Coroutines, Either, Ended, Gate, Held, Interrupted, Mixed,
        MixedModel, Process, ProcessModel, Resource, Shared, Signal, Sim, Store, all_in, all_of,
        any_in, any_of, some_in,
    };
    pub use warpline_model::prelude::*;
}
