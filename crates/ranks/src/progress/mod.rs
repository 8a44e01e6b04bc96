//! What a rank does about messages, whether its program waits for them or not: a machine that is
//! told of calls and arrivals, and sends packets.
//!
//! A rank has a clock of its own, which may be ahead of the simulation: what a call costs is added
//! to it, and takes no event. That changes no answer. A receive takes the first message that fits,
//! in the order of arrival, and a message the first receive that fits, in the order of calls; who
//! gets what does not depend on which of the two comes first. Only calls that ask whether something
//! *has* happened must let the simulation catch up first.

mod matching;
mod messages;
pub(crate) mod requests;
mod state;
mod stuck;

pub(crate) use self::messages::WORLD;
pub(crate) use self::state::{Mode, Outcome, Outgoing, Progress};
