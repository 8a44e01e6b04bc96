use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use warpline_base::{Figure, LpId};
use warpline_memory::Exhausted;

/// A mistake of the model. The engine adds the LP and the time.
///
/// Each says what was wrong and how to correct it:
/// ```
/// use warpline_model::{Fault, LpId};
/// let fault = Fault::UnknownLp { to: LpId(9), lps: 4 };
/// assert_eq!(fault.to_string(), "sent an event to LP 9, but the model has only LPs 0 to 3; see Model::lps");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Fault {
    /// A delay that is NaN, infinite or negative.
    #[error("sent an event to {to} with delay {}; a delay must be a finite number, zero or more", Figure::from(.delay))]
    Delay {
        /// The receiver.
        to: LpId,
        /// The delay as given.
        delay: f64,
    },
    /// A time that is over, or NaN.
    #[error("sent an event to {to} at time {}, which is neither now nor later", Figure::from(.time))]
    Past {
        /// The receiver.
        to: LpId,
        /// The time as given.
        time: f64,
    },
    /// A delay below the declared lookahead.
    #[error(
        "sent an event to {to} with delay {}, below the declared lookahead {}; send it later, or \
         declare a smaller lookahead where the model does: in Model::lookahead, lookahead_of or \
         links",
        Figure::from(.delay),
        Figure::from(.lookahead)
    )]
    Lookahead {
        /// The receiver.
        to: LpId,
        /// The delay as given.
        delay: f64,
        /// The lookahead declared for the link, for the sender, or for all LPs.
        lookahead: f64,
    },
    /// A receiver to which the sender has declared no link.
    #[error(
        "sent an event to {to}, to which it declares no link; name {to} among its links in \
         Model::links, or send to one of those"
    )]
    NoLink {
        /// The receiver as given.
        to: LpId,
    },
    /// A receiver that does not exist.
    #[error("sent an event to {to}, but the model has only LPs 0 to {last}; see Model::lps", last = lps - 1)]
    UnknownLp {
        /// The receiver as given.
        to: LpId,
        /// The number of LPs.
        lps: u32,
    },
    /// A delay that leads beyond the largest virtual time.
    #[error("sent an event to {to} with delay {}, which leads beyond the largest virtual time \
             ({max:e})", Figure::from(.delay), max = f64::MAX)]
    EndOfTime {
        /// The receiver.
        to: LpId,
        /// The delay as given.
        delay: f64,
    },
    /// Too many zero-delay hops at one instant.
    #[error(
        "is hop {limit} in a row without delay: a zero-delay loop that never lets time advance; \
         give one of its sends a delay"
    )]
    ZeroDelayLoop {
        /// The maximum number of hops.
        limit: u32,
    },
    /// Too many hops at one instant, the last of them with a delay that is lost to rounding.
    #[error(
        "is hop {limit} in a row at one instant: its delay of {} to {to} is lost to rounding, as \
         times are {} apart there; use longer delays, or a run of fewer units of time",
        Figure::from(.delay),
        Figure::from(.step)
    )]
    LostDelay {
        /// The receiver.
        to: LpId,
        /// The delay as given.
        delay: f64,
        /// The distance from this time to the next greater one.
        step: f64,
        /// The maximum number of hops.
        limit: u32,
    },
    /// Too many sends in one event.
    #[error("sent more than {limit} events from one event; spread them over several events")]
    TooManySends {
        /// The maximum number.
        limit: u32,
    },
    /// Too many events of one LP.
    #[error(
        "is event {limit} of this LP, more than one LP can count; use more LPs or a shorter run"
    )]
    TooManyEvents {
        /// The maximum number.
        limit: u64,
    },
    /// A statistic that was not declared, or declared as another kind or with fewer items.
    #[error(
        "wrote to item {item} of statistic slot {slot} as a {used}, but {declared}; see \
         Model::declare"
    )]
    Statistic {
        /// The slot of the handle.
        slot: u16,
        /// The item of the handle.
        item: u32,
        /// The kind of the handle.
        used: Cow<'static, str>,
        /// What is declared there.
        declared: String,
    },
    /// An observation that is NaN or infinite.
    #[error("observed {} for `{name}`; an observation must be finite", Figure::from(.value))]
    Observation {
        /// The statistic.
        name: String,
        /// The value as given.
        value: f64,
    },
    /// A span of time that ends before it begins.
    #[error("observed `{name}` over a span from {} to {}, which ends before it begins", Figure::from(.from), Figure::from(.to))]
    Span {
        /// The statistic.
        name: String,
        /// The start as given.
        from: f64,
        /// The end as given.
        to: f64,
    },
    /// A counter whose total exceeds `u64::MAX`. It is a fault of the run as a whole, not of an
    /// event: totals are kept in 128 bits, and checked once, after the last event.
    #[error("brought counter `{name}` beyond the largest count, {max}; count in a larger unit, or \
             use several counters", max = u64::MAX)]
    CounterOverflow {
        /// The counter.
        name: String,
    },
    /// A row that does not fit its table.
    #[error(
        "recorded a row of {cells} cells in table slot {slot}, but {declared}; see Model::declare"
    )]
    Row {
        /// The slot of the handle.
        slot: u16,
        /// The length of the row.
        cells: usize,
        /// What is declared there.
        declared: String,
    },
    /// No memory for what an event sends, observes, saves or changes.
    #[error(
        "{0}: it sends, observes, saves or changes too much at once, or wants a larger machine"
    )]
    Memory(Exhausted),
    /// The event cannot be written as bytes, or not be read back, on its way to another process.
    /// The text says why.
    #[error(
        "did not reach its LP in another process: {0}; see to it that every event can be written \
         and read back alike, or run the model with threads of one process, which write nothing"
    )]
    Unreadable(String),
    /// The model gave up by [`Context::fail`](crate::Context::fail).
    #[error("failed: {0}")]
    Failed(String),
    /// The model's code panicked.
    #[error("panicked: {0}")]
    Panic(String),
}
