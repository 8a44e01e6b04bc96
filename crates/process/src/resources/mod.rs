//! What the processes of an LP share.

mod level;
mod resource;
mod resource_table;
mod shared;
pub(crate) mod shelf;
mod wait_queue;

pub use resource::{Held, Request, Resource};
pub use resource_table::ResourceFigures;
pub use shared::Shared;
