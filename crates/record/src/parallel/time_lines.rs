//! Time lines of a few PEs of a modelled machine, and how figures are distributed over all of them.

use serde::{Deserialize, Serialize};

use crate::null::number;

/// What a few PEs did when, in machine time: the first and the last, those that waited least and
/// most, the median between them, and others at equal distances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeLines {
    /// How long a bin is, in seconds of machine time. The first begins at 0. The run may end within
    /// the last one.
    #[serde(deserialize_with = "number")]
    pub bin_seconds: f64,
    /// Of how many PEs a time line was kept during the run; those below are chosen among them.
    pub recorded: u64,
    /// The time lines, by number of the PE.
    pub pes: Vec<TimeLine>,
}

/// What a PE did when: the share of each bin, in thousandths. A list is empty if the PE never did
/// that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeLine {
    /// The PE.
    pub pe: u64,
    /// Why it is among those shown, such as `waits least`; empty if only to fill a gap.
    pub why: String,
    /// See [`MachineShares::computing`](crate::MachineShares::computing).
    pub computing: Vec<u16>,
    /// See [`MachineShares::messages`](crate::MachineShares::messages).
    pub messages: Vec<u16>,
    /// See [`MachineShares::gvt`](crate::MachineShares::gvt).
    pub gvt: Vec<u16>,
    /// See [`MachineShares::undo`](crate::MachineShares::undo).
    pub undo: Vec<u16>,
    /// See [`MachineShares::waiting`](crate::MachineShares::waiting).
    pub waiting: Vec<u16>,
    /// See [`MachineShares::noise`](crate::MachineShares::noise).
    pub noise: Vec<u16>,
}

impl TimeLine {
    /// Names and lists, in the order of [`MachineShares::list`](crate::MachineShares::list).
    pub fn list(&self) -> [(&'static str, &[u16]); 6] {
        [
            ("computing", &self.computing),
            ("messages", &self.messages),
            ("GVT", &self.gvt),
            ("undo", &self.undo),
            ("waiting", &self.waiting),
            ("noise", &self.noise),
        ]
    }
}

/// How figures are distributed over all PEs. Each list has [`QUANTILES`] values: of the PEs in the
/// order of the figure, the first, those at every twentieth of the way, and the last. Empty in older
/// records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distribution {
    /// The share of the time that went into executing events.
    pub computing: Vec<f64>,
    /// Into messages.
    pub messages: Vec<f64>,
    /// Into finding GVT and publishing bounds.
    pub gvt: Vec<f64>,
    /// Into undoing events, and what prepares for that.
    pub undo: Vec<f64>,
    /// Into waiting.
    pub waiting: Vec<f64>,
    /// Committed events.
    pub committed_events: Vec<f64>,
    /// Rollbacks of either kind.
    pub rollbacks: Vec<f64>,
    /// Event buffers allocated by the end of the run.
    pub buffers: Vec<f64>,
}

/// How many values a list of a [`Distribution`] has.
pub const QUANTILES: usize = 21;

/// The quantiles of these figures; empty if there are none.
pub fn quantiles(mut all: Vec<f64>) -> Vec<f64> {
    all.sort_by(f64::total_cmp);
    let Some(last) = all.len().checked_sub(1) else { return Vec::new() };
    let at = |step: usize| (step * last + (QUANTILES - 1) / 2) / (QUANTILES - 1);
    (0..QUANTILES).map(|step| all[at(step)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_begin_with_the_least_and_end_with_the_greatest() {
        let of = |count: u32| quantiles((0..count).rev().map(f64::from).collect());
        assert_eq!(of(21), (0..21).map(f64::from).collect::<Vec<_>>());
        let many = of(1001);
        assert_eq!([many[0], many[10], many[20]], [0.0, 500.0, 1000.0]);
        assert_eq!([of(2)[0], of(2)[9], of(2)[10], of(2)[20]], [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(of(1), [0.0; QUANTILES]);
        assert!(of(0).is_empty());
    }
}
