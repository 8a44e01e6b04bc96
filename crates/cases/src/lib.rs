//! Cases: a model and how to run it, as the words of a command line. They are drawn from a seed,
//! run in processes that may hang or crash, judged beside the sequential run, and made smaller if
//! they fail.
//!
//! What is drawn, and what counts as wrong, is said once, here. The attack on the engine and the
//! command `torture` differ in which models they take, and in where they run them.

pub mod answer;
pub mod case;
pub mod draw;
pub mod shrink;
pub mod worker;

pub use answer::{Allowed, Answer, Done, Effort, Wrong, judge};
pub use case::Case;
pub use draw::Draw;
pub use shrink::{Probe, Shrunk, shrink};
pub use worker::{Worker, serve};
