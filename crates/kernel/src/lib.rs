//! What one processing element (PE) is made of. So far: events and the pending event set.

mod event;
pub mod pending;

pub use event::Event;
