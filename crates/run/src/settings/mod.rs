//! The settings of a run, each in one entry of one [table](Settings::table): name, type, default,
//! range, unit, meaning, and when it hurts. The builder methods of
//! [`Simulation`](crate::Simulation), the command line with its help, scenario files, errors and
//! the record of a run all follow from it.
//!
//! # Adding a setting
//! 1. An entry in `settings/table.rs`. If its values are words, an enum beside the others in
//!    `settings/options.rs`, or beside the part of an engine that it is for.
//! 2. A builder method on [`Simulation`](crate::Simulation): one line, and its documentation.
//! 3. Its place in `plan/segment.rs`, from which the engine reads it; where the engine is to choose
//!    a value, the rule for that in `plan/choices.rs`.
//!
//! Everything else follows: option, help, key in scenario files, checks and the record. A table of
//! two entries shows how:
//!
//! ```
//! use warpline::settings::{PARALLEL, Range, Recorded, SettingError};
//!
//! warpline::settings! {
//!     /// Settings of message passing.
//!     pub struct Wires {
//!         /// Messages that a ring holds.
//!         ring_length: u32 = 1024, Range::Between(1, 65536), {
//!             heading: PARALLEL,
//!             unit: "messages",
//!             recorded: Recorded::InParallel,
//!             hurts: "a short ring fills up and its sender waits; a long one leaves the caches",
//!         }
//!         /// Messages that are handed over at once.
//!         burst: u32, Range::From(1), {
//!             heading: PARALLEL,
//!             unit: "messages",
//!             rule: "half a ring",
//!             recorded: Recorded::InParallel,
//!             hurts: "a large burst keeps its receiver waiting",
//!         }
//!     }
//! }
//!
//! let mut wires = Wires::default();
//! wires.set("ring-length", "64")?; // or `ring_length`
//! let burst = wires.burst.unwrap_or(wires.ring_length() / 2);
//! assert_eq!(burst, 32);
//! let refused = wires.set("burst", "0").unwrap_err().to_string();
//! assert_eq!(refused, "`burst` cannot be `0`: it takes a whole number from 1 to 4294967295");
//! wires.burst = Some(0); // as a builder method would, which checks nothing
//! assert_eq!(wires.check().unwrap_err().to_string(), refused);
//! assert_eq!(wires.recorded(true)["ring_length"], 64);
//! let [length, burst] = Wires::table() else { panic!() };
//! assert_eq!((length.default.as_str(), burst.default.as_str()), ("1024", "half a ring"));
//! # Ok::<(), SettingError>(())
//! ```

mod conflicts;
mod copy_interval;
mod declare;
mod entry;
mod lps;
mod machine_scale;
mod memory;
mod options;
mod sub_pool;
mod table;
mod value;

pub use self::copy_interval::CopyInterval;
pub use self::entry::{ENGINE, OUTPUT, PARALLEL, RUN, Recorded, Setting, SettingError};
#[doc(hidden)]
pub use self::entry::{Facts, Values, describe, find, recorded};
pub use self::lps::LpChoice;
pub use self::machine_scale::MachineScale;
pub use self::memory::MemoryLimit;
pub use self::options::{
    Barrier, BufferPool, Cancellation, Carrier, Communication, CommunicationRing, Conservative,
    EventCost, FossilCollection, GoAhead, GvtAlgorithm, GvtIntervalControl, GvtStart, Horizon,
    Mailbox, Messages, Pending, PoolOrder, Synchronisation, Undo,
};
pub use self::sub_pool::SubPool;
pub use self::table::{Settings, THREADS_MOST};
pub use self::value::{Range, SettingValue};

#[cfg(test)]
mod tests;
