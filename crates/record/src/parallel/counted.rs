//! Records that hold the counters of the [table](crate::counters!) and a few fields of their own.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CommunicationRecord, GvtIntervalRecord, MachineRecord, Phases, SharedRingRecord};
use crate::counters::of_segments;
use crate::null::number;

/// A counter as a column of a table of PEs.
#[derive(Clone, Copy, Debug)]
pub struct PeCounter {
    /// Its name in [`PeRecord`].
    pub name: &'static str,
    /// The heading of the column.
    pub label: &'static str,
    /// The unit of its values; empty for a pure number.
    pub unit: &'static str,
    value: fn(&PeRecord) -> Value,
}

impl PeCounter {
    /// The counter's value for this PE.
    pub fn value(&self, pe: &PeRecord) -> Value {
        (self.value)(pe)
    }
}

macro_rules! declare_records {
    ($(
        [$meaning:expr] $field:ident: $type:ty, $merging:ident
        $(, pe($pe:ident, $label:literal, $unit:literal))? $(, run($run:ident))?
        $(, rollbacks($rollbacks:ident))? $(, memory($memory:ident))? $(, throttle($throttle:ident))?;
    )*) => {
        /// One PE of a run.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct PeRecord {
            /// Its first LP.
            pub first_lp: u32,
            /// How many LPs it has.
            pub lps: u32,
            $($(#[doc = $meaning] pub $pe: $type,)?)*
            /// Events executed speculatively, when others could still come before them, including
            /// those undone again.
            pub ahead_events: u64,
            /// The mean number of messages found in the mailbox when it is not empty.
            #[serde(deserialize_with = "number")]
            pub mailbox_depth_mean: f64,
            /// Seconds in each phase, from a sample of steps.
            pub phase_seconds: Phases,
        }

        impl PeRecord {
            /// Its counters, in the order in which a table shows them.
            pub const COUNTERS: &[PeCounter] = &[$($(
                PeCounter {
                    name: stringify!($pe),
                    label: $label,
                    unit: $unit,
                    value: |pe| Value::from(pe.$pe),
                },
            )?)*];

            fn add_counters(&mut self, segment: &PeRecord) {
                $($(of_segments::$merging(&mut self.$pe, segment.$pe);)?)*
            }
        }

        /// The cost of parallel execution: part of the [`RunRecord`](crate::RunRecord) of every
        /// parallel run.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct ParallelRecord {
            $($(#[doc = $meaning] pub $run: $type,)?)*
            /// Events executed speculatively, when others could still come before them, including
            /// those undone again.
            pub ahead_events: u64,
            /// Committed events over processed events: 1 if nothing was undone.
            #[serde(deserialize_with = "number")]
            pub efficiency: f64,
            /// Rollbacks, by cause and PE.
            pub rollbacks: Rollbacks,
            /// How the GVT interval was adapted, if it was.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub gvt_interval: Option<GvtIntervalRecord>,
            /// Seconds in each phase, summed over PEs. Waiting is measured. The proportions of the
            /// other phases come from a sample of steps.
            pub phase_seconds: Phases,
            /// The effective number of samples behind those proportions. With few samples they mean
            /// nothing. `None` in older records.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub phase_samples: Option<f64>,
            /// Whether there were more threads than cores, so that they had to take turns.
            #[serde(alias = "crowded", skip_serializing_if = "std::ops::Not::not")]
            pub oversubscribed: bool,
            /// The record of each PE.
            pub pes: Vec<PeRecord>,
            /// What PEs did to keep within the memory budget, if they had to.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub memory: Option<MemoryRecord>,
            /// What was done against thrashing, if anything.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub throttle: Option<ThrottleRecord>,
            /// Messages in mailboxes that several senders share, and how often they were refused,
            /// if there were such mailboxes.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub mailbox: Option<SharedRingRecord>,
            /// How messages were copied between processes, if they were.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub communication: Option<CommunicationRecord>,
            /// How the run went on its modelled machine, if it had one.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub machine: Option<MachineRecord>,
        }

        impl ParallelRecord {
            /// Adds the counters of a later segment of the same run, except those of parts that may
            /// be missing.
            pub fn add_counters(&mut self, segment: &ParallelRecord) {
                $($(of_segments::$merging(&mut self.$run, segment.$run);)?)*
                $($(of_segments::$merging(&mut self.rollbacks.$rollbacks, segment.rollbacks.$rollbacks);)?)*
            }
        }

        /// Rollbacks of a run.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Rollbacks {
            $($(#[doc = $meaning] pub $rollbacks: $type,)?)*
            /// The greatest number on one PE.
            pub max_per_pe: u64,
            /// The mean over PEs.
            #[serde(deserialize_with = "number")]
            pub mean_per_pe: f64,
            /// How many rollbacks undid 1, 2–3, 4–7, 8–15, … events.
            pub lengths: Vec<u64>,
        }

        /// What PEs did to keep within the memory budget of their machine.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct MemoryRecord {
            $($(#[doc = $meaning] pub $memory: $type,)?)*
        }

        impl MemoryRecord {
            /// Adds a later segment of the same run.
            pub fn add(&mut self, segment: &MemoryRecord) {
                $($(of_segments::$merging(&mut self.$memory, segment.$memory);)?)*
            }
        }

        /// What was done against thrashing: undoing most events, or waiting for each other every
        /// few events.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct ThrottleRecord {
            $($(#[doc = $meaning] pub $throttle: $type,)?)*
        }

        impl ThrottleRecord {
            /// Adds a later segment of the same run.
            pub fn add(&mut self, segment: &ThrottleRecord) {
                $($(of_segments::$merging(&mut self.$throttle, segment.$throttle);)?)*
            }
        }
    };
}

crate::counters!(declare_records);

impl PeRecord {
    /// Adds a later segment of the same run, in which the PE may have had other LPs.
    pub fn add(&mut self, segment: &PeRecord) {
        // Weighted by messages sent, because the record does not count those received.
        let weights = [self, segment].map(|pe| pe.messages_sent as f64);
        if weights.iter().sum::<f64>() > 0.0 {
            let [all, more] = weights;
            self.mailbox_depth_mean =
                (self.mailbox_depth_mean * all + segment.mailbox_depth_mean * more) / (all + more);
        }
        self.first_lp = segment.first_lp;
        self.lps = segment.lps;
        self.add_counters(segment);
        self.ahead_events += segment.ahead_events;
        self.phase_seconds.add(&segment.phase_seconds);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A place of a counter in the record.
    struct Place {
        /// `pe`, `run`, or the part of the record.
        part: &'static str,
        name: &'static str,
        kind: &'static str,
        merging: &'static str,
    }

    macro_rules! list_places {
        ($(
            [$meaning:expr] $field:ident: $type:ident, $merging:ident $(, $part:ident($name:ident $($more:tt)*))*;
        )*) => {
            const PLACES: &[Place] = &[$($(Place {
                part: stringify!($part),
                name: stringify!($name),
                kind: stringify!($type),
                merging: stringify!($merging),
            },)*)*];
        };
    }

    crate::counters!(list_places);

    /// Where a counter stands in the JSON of a parallel record.
    fn find<'a>(record: &'a mut Value, place: &Place) -> &'a mut Value {
        let part = match place.part {
            "run" => record,
            "pe" => &mut record["pes"][0],
            part => &mut record[part],
        };
        &mut part[place.name]
    }

    /// A record in which every counter has a number of its own, which grows or falls from counter
    /// to counter.
    fn numbered(number: impl Fn(usize) -> usize) -> (Value, ParallelRecord) {
        let mut record = json!({ "pes": [{}], "memory": {}, "throttle": {}, "rollbacks": {} });
        for (index, place) in PLACES.iter().enumerate() {
            let number = number(index);
            *find(&mut record, place) =
                if place.kind == "bool" { json!(number % 2 == 1) } else { json!(number) };
        }
        let read = serde_json::from_value(record.clone()).expect("all fields may be given");
        (record, read)
    }

    #[test]
    fn every_counter_of_the_table_is_read_and_written_under_its_name() {
        let (mut wanted, record) = numbered(|index| 100 + index);
        let mut written = serde_json::to_value(&record).unwrap();
        for place in PLACES {
            assert_eq!(
                find(&mut written, place),
                find(&mut wanted, place),
                "{} of {}",
                place.name,
                place.part
            );
        }
        let columns =
            PeRecord::COUNTERS.iter().map(|counter| (counter.name, counter.value(&record.pes[0])));
        let pe = PLACES.iter().filter(|place| place.part == "pe");
        let wanted: Vec<_> =
            pe.map(|place| (place.name, find(&mut wanted, place).clone())).collect();
        assert_eq!(columns.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn counters_of_segments_merge_as_the_table_says() {
        // In the first half of the table the first segment has more, and in the second half the
        // other one.
        let (mut one, mut all) = numbered(|index| 1000 + index);
        let (mut two, segment) = numbered(|index| 901 + 5 * index);
        all.add_counters(&segment);
        all.pes[0].add(&segment.pes[0]);
        all.memory.as_mut().unwrap().add(&segment.memory.unwrap());
        all.throttle.as_mut().unwrap().add(&segment.throttle.unwrap());
        let mut merged = serde_json::to_value(&all).unwrap();
        for place in PLACES {
            let [one, two] = [&mut one, &mut two].map(|record| find(record, place).clone());
            let numbers = one.as_u64().zip(two.as_u64());
            let wanted = match (place.merging, numbers) {
                ("last", _) => two,
                ("sum" | "alike", Some((one, two))) => json!(one + two),
                ("most", Some((one, two))) => json!(one.max(two)),
                (merging, _) => panic!("`{}` cannot be merged as `{merging}`", place.name),
            };
            assert_eq!(*find(&mut merged, place), wanted, "{} of {}", place.name, place.part);
        }
    }

    #[test]
    fn the_depth_of_the_mailbox_is_weighted_by_messages() {
        let pe = |messages_sent, mailbox_depth_mean| PeRecord {
            messages_sent,
            mailbox_depth_mean,
            ..PeRecord::default()
        };
        let mut all = pe(1, 5.0);
        all.add(&pe(3, 1.0));
        assert_eq!((all.messages_sent, all.mailbox_depth_mean), (4, 2.0));
        let mut none = pe(0, 5.0);
        none.add(&pe(0, 1.0));
        assert_eq!(none.mailbox_depth_mean, 5.0);
    }
}
