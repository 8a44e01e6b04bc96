//! What the record of a parallel run holds besides its results. Fields that an older record lacks
//! get their defaults.

mod counted;
mod modelled;
mod time_lines;

use serde::{Deserialize, Serialize};

pub use self::counted::{
    MemoryRecord, ParallelRecord, PeCounter, PeRecord, Rollbacks, ThrottleRecord,
};
pub use self::modelled::{MachineRecord, MachineSensitivity, MachineShares, Spread};
pub use self::time_lines::{Distribution, QUANTILES, TimeLine, TimeLines, quantiles};
use crate::null::number;

/// How a GVT interval was adapted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GvtIntervalRecord {
    /// What it counts: `events` that a PE executes, or `passes` of a thread that does nothing but
    /// send and receive.
    pub unit: String,
    /// The first value.
    pub first: u32,
    /// The shortest.
    pub least: u32,
    /// The last value.
    pub last: u32,
    /// The longest.
    pub greatest: u32,
    /// How often it was changed.
    pub changes: u64,
}

impl GvtIntervalRecord {
    /// Adds a later segment of the same run.
    pub fn add(&mut self, segment: &GvtIntervalRecord) {
        if self.unit != segment.unit {
            let changes = self.changes + segment.changes;
            *self = GvtIntervalRecord { changes, ..segment.clone() };
            return;
        }
        self.least = self.least.min(segment.least);
        self.greatest = self.greatest.max(segment.greatest);
        self.last = segment.last;
        self.changes += segment.changes;
    }
}

/// How messages were copied between processes that share no memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommunicationRecord {
    /// Who copied them: `worker`, `distributed` or `dedicated`.
    pub by: String,
    /// The reason, if the engine chose.
    pub why: String,
    /// The number of couriers in all processes: PEs or separate threads that wrote, sent and
    /// received.
    pub couriers: u64,
    /// Messages.
    pub messages: u64,
    /// Batches of them.
    pub batches: u64,
    /// Bytes of all batches.
    pub bytes: u64,
    /// How often there was no room to send a batch.
    pub refused: u64,
    /// Messages that PEs handed over in shared rings, and how often those refused them.
    pub shared_ring: SharedRingRecord,
}

impl SharedRingRecord {
    /// Adds the counts of other rings.
    pub fn add(&mut self, others: &SharedRingRecord) {
        self.pushed += others.pushed;
        self.full += others.full;
        self.in_progress += others.in_progress;
        self.collisions += others.collisions;
    }
}

/// Messages that PEs handed over in rings shared by several senders, and refusals by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedRingRecord {
    /// Messages handed over.
    pub pushed: u64,
    /// Refusals because the ring was full.
    pub full: u64,
    /// Refusals because another PE was writing.
    pub in_progress: u64,
    /// Refusals because another PE was faster.
    pub collisions: u64,
}

/// Seconds of wall time in each phase of a PE's loop. In all but the last two the PE had a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phases {
    /// Executing the model's code, including state saving.
    #[serde(deserialize_with = "number")]
    pub event_processing: f64,
    /// Making and handing over messages.
    #[serde(deserialize_with = "number")]
    pub send: f64,
    /// Receiving messages.
    #[serde(deserialize_with = "number")]
    pub receive: f64,
    /// Choosing the next event.
    #[serde(deserialize_with = "number")]
    pub pending_set: f64,
    /// Undoing events.
    #[serde(deserialize_with = "number")]
    pub rollback: f64,
    /// Computing GVT.
    #[serde(deserialize_with = "number")]
    pub gvt: f64,
    /// Committing events and reclaiming their memory.
    #[serde(deserialize_with = "number")]
    pub fossil_collection: f64,
    /// Waiting with nothing to do.
    #[serde(deserialize_with = "number")]
    pub idle: f64,
    /// Ready to run, but without a core.
    #[serde(deserialize_with = "number")]
    pub off_core: f64,
}

impl CommunicationRecord {
    /// The mean number of bytes and of messages in a batch.
    pub fn means(&self) -> (f64, f64) {
        let batches = self.batches.max(1) as f64;
        (self.bytes as f64 / batches, self.messages as f64 / batches)
    }
}

impl Phases {
    /// Names and seconds, in the order of a PE's loop.
    pub fn list(&self) -> [(&'static str, f64); 9] {
        [
            ("receive", self.receive),
            ("pending set", self.pending_set),
            ("event processing", self.event_processing),
            ("send", self.send),
            ("rollback", self.rollback),
            ("GVT", self.gvt),
            ("fossil collection", self.fossil_collection),
            ("idle", self.idle),
            ("without a core", self.off_core),
        ]
    }

    /// Adds the seconds of another PE.
    pub fn add(&mut self, other: &Phases) {
        self.change(other, |seconds, more| seconds + more);
    }

    /// Multiplies all seconds.
    pub fn scale(&mut self, times: f64) {
        self.change(&Phases::default(), |seconds, _| seconds * times);
    }

    fn change(&mut self, other: &Phases, change: impl Fn(f64, f64) -> f64) {
        let Phases {
            event_processing,
            send,
            receive,
            pending_set,
            rollback,
            gvt,
            fossil_collection,
            idle,
            off_core,
        } = self;
        let pairs = [
            (event_processing, other.event_processing),
            (send, other.send),
            (receive, other.receive),
            (pending_set, other.pending_set),
            (rollback, other.rollback),
            (gvt, other.gvt),
            (fossil_collection, other.fossil_collection),
            (idle, other.idle),
            (off_core, other.off_core),
        ];
        pairs.into_iter().for_each(|(seconds, other)| *seconds = change(*seconds, other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_records_say_that_threads_were_crowded() {
        let old: ParallelRecord = serde_json::from_str(r#"{"crowded": true}"#).expect("valid");
        assert!(old.oversubscribed);
        let new = serde_json::to_value(&old).expect("it can be written");
        assert_eq!((&new["oversubscribed"], new.get("crowded")), (&true.into(), None));
    }

    #[test]
    fn intervals_of_segments_add_up() {
        let of = |unit: &str, first, least, last, greatest, changes| GvtIntervalRecord {
            unit: unit.to_owned(),
            first,
            least,
            last,
            greatest,
            changes,
        };
        let mut all = of("events", 128, 64, 256, 256, 5);
        all.add(&of("events", 128, 128, 1024, 1024, 3));
        assert_eq!(all, of("events", 128, 64, 1024, 1024, 8));
        all.add(&of("passes", 16, 16, 32, 32, 1));
        assert_eq!(all, of("passes", 16, 16, 32, 32, 9));
    }

    /// Nine numbers, in the order of [`Phases::list`].
    fn phases(
        [
            receive,
            pending_set,
            event_processing,
            send,
            rollback,
            gvt,
            fossil_collection,
            idle,
            off_core,
        ]: [f64; 9],
    ) -> Phases {
        Phases {
            event_processing,
            send,
            receive,
            pending_set,
            rollback,
            gvt,
            fossil_collection,
            idle,
            off_core,
        }
    }

    #[test]
    fn every_phase_is_listed_and_added() {
        let mut sum = phases([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(
            sum.list().map(|(_, seconds)| seconds),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
        );
        sum.add(&phases([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]));
        assert_eq!(sum, phases([11.0, 22.0, 33.0, 44.0, 55.0, 66.0, 77.0, 88.0, 99.0]));
        sum.scale(2.0);
        assert_eq!(sum, phases([22.0, 44.0, 66.0, 88.0, 110.0, 132.0, 154.0, 176.0, 198.0]));
    }
}
