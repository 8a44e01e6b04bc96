//! What the record of a run on a modelled machine says of that machine.

use serde::{Deserialize, Serialize};

use super::time_lines::{Distribution, TimeLines};
use crate::null::number;

/// A run as it would go on a modelled machine. Times are machine time, which is the same on every
/// host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineRecord {
    /// The machine's name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// How many PEs it has, one on each core.
    pub pes: u64,
    /// How many nodes they take.
    pub nodes: u64,
    /// When the last PE was done, in seconds. Initialising LPs takes no time.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// Committed events per second.
    #[serde(deserialize_with = "number")]
    pub event_rate: f64,
    /// The share of all PEs' time that executing the committed events takes.
    #[serde(deserialize_with = "number")]
    pub efficiency: f64,
    /// Shares of all PEs' time.
    pub shares: MachineShares,
    /// Events and anti-messages to PEs of the same node, and of other nodes.
    pub near_messages: u64,
    /// To PEs of other nodes.
    pub far_messages: u64,
    /// Control messages and writes into memory, of GVT and bounds.
    pub gvt_messages: u64,
    /// Messages that went through a mailbox in hardware.
    pub mailbox_messages: u64,
    /// Messages that found such a mailbox full, and waited for room.
    pub mailbox_waits: u64,
    /// How many of them waited in vain, and were sent through memory.
    pub mailbox_failures: u64,
    /// How long PEs waited for room, in seconds, summed over all.
    #[serde(deserialize_with = "number")]
    pub mailbox_wait_seconds: f64,
    /// Over PEs: committed events.
    pub committed_events: Spread,
    /// Over PEs: the share of the time that went into executing events.
    pub computing: Spread,
    /// Over PEs: the share of the time that was spent waiting.
    pub waiting: Spread,
    /// The share of all PEs' time that GVT itself takes: between a GVT and the next, each PE spends
    /// at least as long on GVT and waiting. The rest of [`MachineShares::waiting`] is waiting for PEs
    /// that have more to do. `None` if computations of GVT are not common to all PEs, and in older
    /// records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gvt_latency: Option<f64>,
    /// The least delay between PEs that the model declares, in model time: the lookahead. `None` if
    /// PEs send each other nothing, and in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_delay: Option<f64>,
    /// How figures are distributed over all PEs.
    pub distribution: Distribution,
    /// What a few PEs did when. Only reports need it: what `--json` prints leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_lines: Option<TimeLines>,
    /// The same run with figures of the machine at half and at twice, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensitivity: Vec<MachineSensitivity>,
}

/// A run on a modelled machine some of whose figures are scaled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineSensitivity {
    /// Which figures, such as `latency`.
    pub figures: String,
    /// How many times as large they are.
    #[serde(deserialize_with = "number")]
    pub factor: f64,
    /// When the last PE was done, in seconds.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// Committed events per second.
    #[serde(deserialize_with = "number")]
    pub event_rate: f64,
    /// The share of all PEs' time that executing the committed events takes.
    #[serde(deserialize_with = "number")]
    pub efficiency: f64,
}

/// Shares of time, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineShares {
    /// Executing events, including those that were undone.
    #[serde(deserialize_with = "number")]
    pub computing: f64,
    /// Sending and receiving messages, and looking for them.
    #[serde(deserialize_with = "number")]
    pub messages: f64,
    /// Finding GVT and publishing bounds.
    #[serde(deserialize_with = "number")]
    pub gvt: f64,
    /// Undoing events, keeping what that takes, and committing them.
    #[serde(deserialize_with = "number")]
    pub undo: f64,
    /// Waiting for others.
    #[serde(deserialize_with = "number")]
    pub waiting: f64,
    /// Kept from the core by the system.
    #[serde(deserialize_with = "number")]
    pub noise: f64,
}

impl MachineShares {
    /// Names and shares, as they are shown.
    pub fn list(&self) -> [(&'static str, f64); 6] {
        [
            ("computing", self.computing),
            ("messages", self.messages),
            ("GVT", self.gvt),
            ("undo", self.undo),
            ("waiting", self.waiting),
            ("noise", self.noise),
        ]
    }
}

/// How a figure is spread over PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// The least.
    #[serde(deserialize_with = "number")]
    pub min: f64,
    /// The median; of an even number, the greater of the two in the middle.
    #[serde(deserialize_with = "number")]
    pub median: f64,
    /// The greatest.
    #[serde(deserialize_with = "number")]
    pub max: f64,
}

impl Spread {
    /// Of these figures; all 0 if there are none.
    pub fn of(mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        let at = |place: usize| all.get(place).copied().unwrap_or_default();
        Spread { min: at(0), median: at(all.len() / 2), max: at(all.len().saturating_sub(1)) }
    }
}
