//! What the names and values in files mean.

mod facts;
mod names;
mod units;
mod value;

pub(crate) use facts::LinkFacts;
pub(crate) use names::{Given, Meaning};
pub(crate) use units::quantity;
pub(crate) use value::{Value, is_nothing};
