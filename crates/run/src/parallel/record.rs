//! What the record says of a parallel run.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use warpline_kernel::gvt::{IntervalHistory, IntervalUnit};
use warpline_kernel::{Counts, Measured, Parts, RoleCounts};
use warpline_memory::{Books, CasCounts};
use warpline_model::Model;
use warpline_record::{
    GvtIntervalRecord, MemoryRecord, ParallelRecord, PeRecord, Phases, Rollbacks, SharedRingRecord,
    ThrottleRecord,
};

use crate::machine::core_time::CoreTime;

/// What a PE leaves, beside its LPs and what they have observed.
#[derive(Serialize, Deserialize)]
pub(crate) struct PeSummary {
    first_lp: u32,
    lps: u32,
    pub(crate) counts: Counts,
    pub(crate) books: Books,
    /// How many events are pending beyond the end.
    pub(crate) pending: usize,
    pub(crate) by_role: Vec<RoleCounts>,
    /// How the GVT interval went, which is the same for all PEs.
    interval: Option<IntervalHistory>,
    #[serde(with = "phases")]
    phases: Phases,
    /// How many samples the proportions of the phases are worth.
    samples: f64,
    /// Whether there were more threads than cores.
    oversubscribed: bool,
}

/// Phases as plain numbers. Their own form leaves some out, which takes a format with names.
mod phases {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use warpline_record::Phases;

    pub(super) fn serialize<S: Serializer>(
        phases: &Phases,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        phases.list().map(|(_, seconds)| seconds).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Phases, D::Error> {
        let [
            receive,
            pending_set,
            event_processing,
            send,
            rollback,
            gvt,
            fossil_collection,
            idle,
            off_core,
        ] = Deserialize::deserialize(deserializer)?;
        Ok(Phases {
            event_processing,
            send,
            receive,
            pending_set,
            rollback,
            gvt,
            fossil_collection,
            idle,
            off_core,
        })
    }
}

impl PeSummary {
    pub(crate) fn of<M: Model>(pe: &Parts<M>, oversubscribed: bool) -> Self {
        let Parts {
            first_lp,
            books,
            pending,
            interval,
            measured: Measured { phases, samples },
            ..
        } = *pe;
        PeSummary {
            first_lp,
            lps: pe.lps.len() as u32,
            counts: pe.counts.clone(),
            books,
            pending,
            by_role: pe.by_role.clone(),
            interval,
            phases,
            samples,
            oversubscribed,
        }
    }
}

/// The seconds at work in these phases, which weigh samples.
fn working(phases: &Phases) -> f64 {
    phases.list().iter().map(|(_, seconds)| seconds).sum::<f64>() - phases.idle - phases.off_core
}

/// How long the threads had something to do, and how much of that they were on a core; `None` if
/// they had to take turns among themselves.
pub(crate) fn work(record: &ParallelRecord) -> Option<CoreTime> {
    let on_core = working(&record.phase_seconds);
    let off_core = record.phase_seconds.off_core;
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    let time = seconds(on_core)
        .zip(seconds(on_core + off_core))
        .map(|(on_core, elapsed)| CoreTime { on_core, elapsed });
    time.filter(|_| !record.oversubscribed)
}

/// How many samples the proportions of phases are worth, of all parts together. Each part is given
/// by how long it worked and the number of its samples; the longer it worked, the more it counts.
fn samples(parts: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let all: f64 = parts.clone().map(|(working, _)| working).sum();
    let variance: f64 = parts
        .filter(|(working, _)| *working > 0.0)
        .map(|(working, samples)| (working / all).powi(2) / samples)
        .sum();
    if variance > 0.0 { 1.0 / variance } else { 0.0 }
}

/// The part of the record that only parallel runs have.
pub(crate) fn of(parts: &[PeSummary]) -> ParallelRecord {
    let mut all = Counts::default();
    parts.iter().for_each(|pe| all.add(&pe.counts));
    let pes: Vec<PeRecord> = parts.iter().map(pe_record).collect();
    ParallelRecord {
        efficiency: if all.processed == 0 {
            1.0
        } else {
            all.committed as f64 / all.processed as f64
        },
        rollbacks: rollbacks(&all, parts),
        gvt_interval: parts.first().and_then(|pe| pe.interval).map(interval_record),
        phase_seconds: pes.iter().fold(Default::default(), |mut all: Phases, pe| {
            all.add(&pe.phase_seconds);
            all
        }),
        phase_samples: Some(samples(parts.iter().map(|pe| (working(&pe.phases), pe.samples)))),
        oversubscribed: parts.iter().any(|pe| pe.oversubscribed),
        mailbox: shared_mailbox(&all),
        pes,
        memory: Some(all.of_memory())
            .filter(|memory| memory.stops > 0 || memory.artificial_rollbacks > 0),
        throttle: Some(all.of_throttle()).filter(|throttle| *throttle != ThrottleRecord::default()),
        ..all.of_run()
    }
}

fn rollbacks(all: &Counts, parts: &[PeSummary]) -> Rollbacks {
    let rollbacks_of = |counts: &Counts| counts.primary + counts.secondary;
    let mut lengths = all.lengths.to_vec();
    lengths.truncate(lengths.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1));
    Rollbacks {
        max_per_pe: parts.iter().map(|pe| rollbacks_of(&pe.counts)).max().unwrap_or_default(),
        mean_per_pe: rollbacks_of(all) as f64 / parts.len() as f64,
        lengths,
        ..all.of_rollbacks()
    }
}

/// What became of messages to mailboxes for which PEs competed, if there were any.
fn shared_mailbox(all: &Counts) -> Option<SharedRingRecord> {
    let CasCounts { pushed, full, in_progress, collisions } = all.mailbox;
    (pushed + full + in_progress + collisions > 0).then_some(SharedRingRecord {
        pushed,
        full,
        in_progress,
        collisions,
    })
}

/// Adds the record of a further segment of the same run. PEs are added up by number, also where
/// segments differ in how many they have.
pub(crate) fn add(all: &mut ParallelRecord, segment: ParallelRecord) {
    all.add_counters(&segment);
    all.ahead_events += segment.ahead_events;
    let committed = all.processed_events - all.rolled_back_events;
    all.efficiency = if all.processed_events == 0 {
        1.0
    } else {
        committed as f64 / all.processed_events as f64
    };
    add_part(&mut all.gvt_interval, segment.gvt_interval, GvtIntervalRecord::add);
    add_part(&mut all.memory, segment.memory, MemoryRecord::add);
    add_part(&mut all.throttle, segment.throttle, ThrottleRecord::add);
    add_part(&mut all.mailbox, segment.mailbox, SharedRingRecord::add);
    let worth =
        |phases: &Phases, samples: Option<f64>| (working(phases), samples.unwrap_or_default());
    let both = [
        worth(&all.phase_seconds, all.phase_samples),
        worth(&segment.phase_seconds, segment.phase_samples),
    ];
    all.phase_samples = Some(samples(both.into_iter()));
    all.oversubscribed |= segment.oversubscribed;
    all.phase_seconds.add(&segment.phase_seconds);
    for (number, pe) in segment.pes.into_iter().enumerate() {
        match all.pes.get_mut(number) {
            Some(all) => all.add(&pe),
            None => all.pes.push(pe),
        }
    }
    let rollbacks = &mut all.rollbacks;
    rollbacks.lengths.resize(rollbacks.lengths.len().max(segment.rollbacks.lengths.len()), 0);
    rollbacks
        .lengths
        .iter_mut()
        .zip(segment.rollbacks.lengths)
        .for_each(|(all, more)| *all += more);
    let of = |pe: &PeRecord| pe.primary_rollbacks + pe.secondary_rollbacks;
    rollbacks.max_per_pe = all.pes.iter().map(of).max().unwrap_or_default();
    rollbacks.mean_per_pe =
        (rollbacks.primary + rollbacks.secondary) as f64 / all.pes.len().max(1) as f64;
}

/// Adds a part that either record may lack.
fn add_part<T>(all: &mut Option<T>, segment: Option<T>, add: fn(&mut T, &T)) {
    match (all, segment) {
        (Some(all), Some(segment)) => add(all, &segment),
        (all @ None, segment) => *all = segment,
        (Some(_), None) => {}
    }
}

fn interval_record(history: IntervalHistory) -> GvtIntervalRecord {
    let IntervalHistory { unit, first, least, last, greatest, changes } = history;
    let unit = match unit {
        IntervalUnit::Events => "events",
        IntervalUnit::Passes => "passes",
    };
    GvtIntervalRecord { unit: unit.to_owned(), first, least, last, greatest, changes }
}

fn pe_record(pe: &PeSummary) -> PeRecord {
    PeRecord { first_lp: pe.first_lp, lps: pe.lps, phase_seconds: pe.phases, ..pe.counts.of_pe() }
}
