//! The kinds of statistics.
//!
//! A kind is a file that implements [`Kind`](kind::Kind) for its handle type, and a line in the
//! [table](table). Events call a method of [`Observe`](crate::Observe), which [pushes a
//! note](super::Observations::push).

pub(super) mod counter;
mod future;
pub(super) mod histogram;
pub(super) mod histogram_tally;
mod items;
pub(super) mod kind;
pub(super) mod mean;
pub(super) mod open_levels;
pub(super) mod table;
#[cfg(test)]
mod tests;
pub(super) mod time_mean;
