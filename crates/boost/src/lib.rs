//! Boost.Interprocess as a carrier of messages between the processes of a run, for comparison with
//! Warpline's own carriers.
//!
//! The plan of a run passes `BoostCarriers` to `warpline-transport`, which does not know this
//! crate. Without the feature `boost` the crate is empty.

#[cfg(feature = "boost")]
mod carrier;

#[cfg(feature = "boost")]
pub use self::carrier::BoostCarriers;
