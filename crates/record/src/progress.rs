//! How far a run had come at moments of wall time: plain data.

use serde::{Deserialize, Serialize};

use crate::null::number;

/// The state of a run at one moment of wall time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressSample {
    /// Seconds since the event loop began.
    #[serde(deserialize_with = "number")]
    pub wall_seconds: f64,
    /// How far the run had come, in model time.
    #[serde(deserialize_with = "number")]
    pub virtual_time: f64,
    /// Events committed so far.
    pub committed_events: u64,
    /// Resident memory of the process, in bytes; `None` where the system does not report it.
    pub rss_bytes: Option<u64>,
    /// The state of speculation; `None` for a sequential run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculationSample>,
}

/// The state of optimistic execution at one moment of wall time. Fields that are missing on
/// reading, as in older records, have their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpeculationSample {
    /// Events executed so far, including those undone again.
    pub processed_events: u64,
    /// Events undone so far.
    pub rolled_back_events: u64,
    /// How far beyond GVT events may be executed, in model time.
    #[serde(deserialize_with = "number")]
    pub window: f64,
    /// GVT computations so far.
    pub gvt_epochs: u64,
    /// GVT computations that found PEs undoing far more events than they commit, and so kept the
    /// window narrow.
    pub throttled_epochs: u64,
    /// How often all PEs of a process were moved to one thread, because they computed GVT every few
    /// events.
    pub gathered: u64,
    /// The mean number of messages found in a mailbox that is not empty, for the PE where it is
    /// greatest.
    #[serde(deserialize_with = "number")]
    pub mailbox_depth: f64,
}
