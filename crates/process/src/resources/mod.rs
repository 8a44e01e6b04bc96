//! What the processes of an LP share: resources, containers, stores, gates and values.

mod container;
mod gate;
mod level;
mod resource;
mod resource_table;
mod shared;
mod signal;
mod store;

pub use container::{Container, Transfer};
pub use gate::{Gate, Passage};
pub use resource::{Held, Request, Resource};
pub use resource_table::ResourceFigures;
pub use shared::Shared;
pub use signal::{Signal, SignalWait};
pub use store::{Get, Put, Store};
