//! Boost.Interprocess as a carrier of messages between the processes of a run, to compare
//! Warpline's own carriers with.
//!
//! Whoever plans a run passes `BoostCarriers` to `warpline-transport`, which knows nothing of it.
//! Without the feature `boost` there is nothing here.

#[cfg(feature = "boost")]
mod carrier;

#[cfg(feature = "boost")]
pub use self::carrier::BoostCarriers;
