use serde::{Deserialize, Serialize};

use crate::null::number;

/// A stretch of a run that one engine executed, if the run chose its engines itself. Fields that
/// are missing on reading have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStretch {
    /// The engine's synchronisation, such as `optimistic`.
    pub sync: String,
    /// The number of PEs; 1 for a sequential engine.
    pub pes: u32,
    /// Where it began, in model time.
    #[serde(deserialize_with = "number")]
    pub from: f64,
    /// Where it ended, in model time; the next stretch begins there.
    #[serde(deserialize_with = "number")]
    pub to: f64,
    /// When it began, in seconds since the start of the event loop.
    #[serde(deserialize_with = "number")]
    pub began_seconds: f64,
    /// How long it took in seconds, including taking over and handing over the state.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// How many events it committed.
    pub committed_events: u64,
    /// Committed events per second after warming up; `None` if not measured.
    pub event_rate: Option<f64>,
    /// Why it was chosen, in words.
    pub why: String,
}
