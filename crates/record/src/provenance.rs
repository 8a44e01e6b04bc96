//! Where a run comes from: enough to tell two records apart and to repeat the run.

use serde::{Deserialize, Serialize};

/// Where a run comes from: the command, the build of Warpline, the date and the machine. No result
/// depends on it. Fields that are missing on reading, as in older records, have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The command line of the process: the program and its arguments.
    pub command_line: Vec<String>,
    /// When the run began, in UTC, such as `2026-03-01T09:30:00Z`; empty if the record is older
    /// than this field.
    pub date: String,
    /// The version of Warpline.
    pub version: String,
    /// The commit that Warpline was built from; `None` if the build could not tell.
    pub commit: Option<String>,
    /// The model of the processor; `None` where the system does not report it.
    pub processor: Option<String>,
    /// How many cores the process may use; `None` where the system does not report it.
    pub cores: Option<u64>,
    /// The memory of the machine, in bytes; `None` where the system does not report it.
    pub memory_bytes: Option<u64>,
    /// The number of PEs, whatever the number of cores; 1 in a sequential run.
    pub pes: u64,
}
