//! The section on parallel execution: what it cost, where the time went, and what to do about it.

mod bars;
mod charts;
mod limits;
mod machine;
mod pes;
mod prose;
mod section;
mod shares;
mod speedup;
mod tiles;

pub(crate) use bars::Data;
pub use limits::{Limit, limits};
pub use machine::{LOSSES, Loss, Step, explanation, losses};
pub(crate) use section::section;
pub use shares::{SAMPLES_LEAST, is_sampled, taken_by_others};
pub use speedup::estimated_speedup;
