use serde::{Deserialize, Serialize};

use crate::null::number;

/// A stretch of a run, executed by one engine, where the run chose its engines itself. Fields that
/// are missing on reading have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStretch {
    /// How the engine kept LPs in step, such as `optimistic`.
    pub sync: String,
    /// How many PEs it had; 1 if it was sequential.
    pub pes: u32,
    /// Where it began, in model time.
    #[serde(deserialize_with = "number")]
    pub from: f64,
    /// Where it ended: the next one began there.
    #[serde(deserialize_with = "number")]
    pub to: f64,
    /// When it began, in seconds since the event loop did.
    #[serde(deserialize_with = "number")]
    pub began_seconds: f64,
    /// How long it took, in seconds, including taking over and handing over.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// How many events it committed.
    pub committed_events: u64,
    /// Committed events per second, once it was warm; `None` if that was not measured.
    pub event_rate: Option<f64>,
    /// Why it was chosen, in words.
    pub why: String,
}
