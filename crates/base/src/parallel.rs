//! What the record says of a parallel run, beside its results. Fields that are missing on reading, as in older records, have their
//! defaults.

use serde::{Deserialize, Serialize};

use crate::null::number;

/// What optimistic execution cost: part of the [`RunRecord`](crate::record::RunRecord) of every parallel run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParallelRecord {
    /// Events executed, including those undone again.
    pub processed_events: u64,
    /// Events among them that were certain when they were executed, as nothing could precede them any more. None of these was undone.
    pub certain_events: u64,
    /// Events among them that were executed ahead, when others could still come before them.
    pub ahead_events: u64,
    /// Events undone.
    pub rolled_back_events: u64,
    /// Committed by processed events: 1 if nothing was undone.
    #[serde(deserialize_with = "number")]
    pub efficiency: f64,
    /// Events undone right after they were executed, as there were no buffers for what they sent: they are not among those above.
    pub parked_events: u64,
    /// Events executed again to work states out from copies.
    pub repeated_events: u64,
    /// Rollbacks, by cause and PE.
    pub rollbacks: Rollbacks,
    /// Anti-messages sent: cancellations of messages that had been processed already by another PE.
    pub anti_messages: u64,
    /// Messages cancelled in place, before they were processed.
    pub cancelled_in_place: u64,
    /// Messages of undone events that were not cancelled at once, under lazy cancellation: they were sent again, or cancelled late.
    pub kept_messages: u64,
    /// Messages among them that their events sent again, so that they stood.
    pub sent_again: u64,
    /// Messages among them that were cancelled in the end.
    pub cancelled_late: u64,
    /// GVT computations.
    pub gvt_epochs: u64,
    /// Reductions for them: more than one per computation if messages were in flight.
    pub gvt_trials: u64,
    /// What became of the interval between them, if it was adapted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gvt_interval: Option<GvtIntervalRecord>,
    /// Committed events that another PE had sent.
    pub remote_events: u64,
    /// Seconds in each phase, summed over PEs. What PEs waited is measured; the proportions of the rest are from a sample of steps.
    pub phase_seconds: Phases,
    /// How many samples of equal length would say as much of those proportions: with few, they say nothing. `None` in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_samples: Option<f64>,
    /// Whether there were more threads than cores, so that they had to take turns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub crowded: bool,
    /// Each PE separately.
    pub pes: Vec<PeRecord>,
    /// What keeping within the memory budget took, if PEs had to do anything about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRecord>,
    /// What was done against thrashing, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<ThrottleRecord>,
    /// Messages that went into mailboxes for which PEs compete, and how often they were refused, if there were such mailboxes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mailbox: Option<SharedRingRecord>,
    /// How messages were copied between processes, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communication: Option<CommunicationRecord>,
}

/// What became of an interval between computations of GVT that was adapted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GvtIntervalRecord {
    /// What it counts: `events` that a PE executes, or `passes` of a thread that does nothing but send and receive.
    pub unit: String,
    /// What it was at first.
    pub first: u32,
    /// The shortest.
    pub least: u32,
    /// What it was in the end.
    pub last: u32,
    /// The longest.
    pub greatest: u32,
    /// How often it was changed.
    pub changes: u64,
}

impl GvtIntervalRecord {
    /// Adds what became of it in a further segment of the same run.
    pub fn add(&mut self, segment: &GvtIntervalRecord) {
        if self.unit != segment.unit {
            let changes = self.changes + segment.changes;
            *self = GvtIntervalRecord { changes, ..segment.clone() };
            return;
        }
        (self.least, self.greatest) = (self.least.min(segment.least), self.greatest.max(segment.greatest));
        (self.last, self.changes) = (segment.last, self.changes + segment.changes);
    }
}

/// What it took PEs to keep within the memory budget of their machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryRecord {
    /// The most bytes that all PEs of a machine had taken at a time, free ones included.
    pub taken_most_bytes: u64,
    /// Batches of events that were not executed ahead, as there was no memory for them.
    pub stops: u64,
    /// How often events were undone to save memory (artificial rollback).
    pub artificial_rollbacks: u64,
    /// Pending events sent back to the PEs that had sent them (cancelback).
    pub sent_back: u64,
    /// Those that came before what had sent them committed, and were undone.
    pub taken_back: u64,
    /// How many events were undone to save memory, in either way.
    pub artificial_events: u64,
}

impl MemoryRecord {
    /// Adds what a further segment of the same run took.
    pub fn add(&mut self, segment: &MemoryRecord) {
        self.taken_most_bytes = self.taken_most_bytes.max(segment.taken_most_bytes);
        self.stops += segment.stops;
        self.artificial_rollbacks += segment.artificial_rollbacks;
        self.artificial_events += segment.artificial_events;
        self.sent_back += segment.sent_back;
        self.taken_back += segment.taken_back;
    }
}

/// What was done against thrashing: against work in vain, and against waiting for each other at every few events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThrottleRecord {
    /// Computations of GVT that found PEs undoing far more than they commit. From the first one on, a window that was wide or had no end was
    /// as narrow as an adaptive one.
    pub narrowed_epochs: u64,
    /// How often all PEs of a process were given one thread, as they found GVT for every few events, and more committed that way.
    pub gathered: u64,
}

impl ThrottleRecord {
    /// Adds what was done in a further segment of the same run.
    pub fn add(&mut self, segment: &ThrottleRecord) {
        self.narrowed_epochs += segment.narrowed_epochs;
        self.gathered += segment.gathered;
    }
}

/// How messages were copied between processes that share no memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommunicationRecord {
    /// Who did it: `worker`, `distributed` or `dedicated`.
    pub by: String,
    /// Why, if that was left to the engine.
    pub why: String,
    /// Couriers of all processes: PEs, or threads of their own, that wrote, sent and received.
    pub couriers: u64,
    /// Messages.
    pub messages: u64,
    /// Batches of them.
    pub batches: u64,
    /// Bytes of all batches.
    pub bytes: u64,
    /// How often there was no room to send a batch.
    pub refused: u64,
    /// Messages that PEs handed over in rings that several of them share, and how often they were refused because the ring was full, because
    /// another PE was writing, and because another PE was faster.
    pub shared_ring: SharedRingRecord,
}

impl SharedRingRecord {
    /// Adds what became of others.
    pub fn add(&mut self, others: &SharedRingRecord) {
        self.pushed += others.pushed;
        self.full += others.full;
        self.in_progress += others.in_progress;
        self.collisions += others.collisions;
    }
}

/// What became of the messages that PEs handed over in rings that several of them share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedRingRecord {
    /// Messages handed over.
    pub pushed: u64,
    /// Times that the ring was full.
    pub full: u64,
    /// Times that another PE was writing.
    pub in_progress: u64,
    /// Times that another PE was faster.
    pub collisions: u64,
}

/// Rollbacks of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rollbacks {
    /// Caused by stragglers.
    pub primary: u64,
    /// Caused by the cancellation of a message that had been processed.
    pub secondary: u64,
    /// The most on one PE.
    pub max_per_pe: u64,
    /// The mean over PEs.
    #[serde(deserialize_with = "number")]
    pub mean_per_pe: f64,
    /// How many rollbacks undid 1, 2–3, 4–7, 8–15, … events.
    pub lengths: Vec<u64>,
}

/// Seconds of wall time in each phase of a PE's loop. All but the last two are on a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phases {
    /// Executing the model's code, with saving of state.
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
    /// Not waiting, and not on a core either, as other threads had it.
    #[serde(deserialize_with = "number")]
    pub off_core: f64,
}

impl CommunicationRecord {
    /// Bytes of a batch, and messages in it, on average.
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
        let Phases { event_processing, send, receive, pending_set, rollback, gvt, fossil_collection, idle, off_core } = self;
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

/// One PE of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeRecord {
    /// Its first LP.
    pub first_lp: u32,
    /// How many LPs it has.
    pub lps: u32,
    /// Events executed, including those undone again.
    pub processed_events: u64,
    /// Events among them that were certain when they were executed.
    pub certain_events: u64,
    /// Events among them that were executed ahead.
    pub ahead_events: u64,
    /// Events committed.
    pub committed_events: u64,
    /// Events undone.
    pub rolled_back_events: u64,
    /// Events undone right after they were executed, as there were no buffers for what they sent.
    pub parked_events: u64,
    /// Events executed again to work a state out from a copy before it.
    pub repeated_events: u64,
    /// The number of an LP's events between copies of its state when the run was over; 0 where there are none.
    pub copy_interval: u32,
    /// Whether events that it sent to itself lay in a pool of its own when the run was over, as hardly any came from other PEs in buffers.
    pub own_pool: bool,
    /// Rollbacks caused by stragglers.
    pub primary_rollbacks: u64,
    /// Rollbacks caused by cancellations.
    pub secondary_rollbacks: u64,
    /// Anti-messages sent.
    pub anti_messages: u64,
    /// Messages sent to other PEs.
    pub messages_sent: u64,
    /// The most messages found waiting in one step.
    pub mailbox_depth_max: u64,
    /// The mean number of messages found waiting, over looks into the mailbox that found any.
    #[serde(deserialize_with = "number")]
    pub mailbox_depth_mean: f64,
    /// The most events that were executed and uncommitted at the same time.
    pub history_max: u64,
    /// Event buffers allocated.
    pub buffers: u64,
    /// Free event buffers that it gave to a pool of all PEs, as it had too many.
    pub buffers_shared: u64,
    /// Seconds in each phase. From a sample of steps.
    pub phase_seconds: Phases,
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn phases([receive, pending_set, event_processing, send, rollback, gvt, fossil_collection, idle, off_core]: [f64; 9]) -> Phases {
        Phases { event_processing, send, receive, pending_set, rollback, gvt, fossil_collection, idle, off_core }
    }

    #[test]
    fn every_phase_is_listed_and_added() {
        let mut sum = phases([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(sum.list().map(|(_, seconds)| seconds), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        sum.add(&phases([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]));
        assert_eq!(sum, phases([11.0, 22.0, 33.0, 44.0, 55.0, 66.0, 77.0, 88.0, 99.0]));
        sum.scale(2.0);
        assert_eq!(sum, phases([22.0, 44.0, 66.0, 88.0, 110.0, 132.0, 154.0, 176.0, 198.0]));
    }
}
