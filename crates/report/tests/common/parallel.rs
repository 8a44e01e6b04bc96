//! The same run in parallel.

use super::{noise, sample};
use serde_json::json;
use warpline_record::*;

/// The record of a run on some PEs, of which the first ones have more to do.
pub(crate) fn parallel_sample(pes: usize) -> RunRecord {
    let mut record = sample();
    record.engine.insert("threads".into(), json!(pes));
    record.engine.insert("window".into(), json!("automatic"));
    let pes: Vec<PeRecord> = (0..pes)
        .map(|index| pe(index, pes, record.committed_events, record.loop_seconds))
        .collect();
    record.committed_events = pes.iter().map(|pe| pe.committed_events).sum();
    record.event_rate = record.committed_events as f64 / record.loop_seconds;
    let parallel = parallel(pes);
    for (index, sample) in record.progress.iter_mut().enumerate() {
        sample.speculation = Some(speculation(index, sample.committed_events, record.end_time));
    }
    record.parallel = Some(parallel);
    record
}

/// A sample of the speculation.
fn speculation(index: usize, committed: u64, end: f64) -> SpeculationSample {
    let part = 0.04 + 0.5 * (-(index as f64) / 6.0).exp();
    let undone = (committed as f64 * part) as u64;
    SpeculationSample {
        processed_events: committed + undone + 40 * index as u64,
        rolled_back_events: undone,
        window: end
            * 1e-6
            * 2f64.powf(9.0 * (1.0 - (-(index as f64) / 8.0).exp()) + 2.0 * noise(index).floor()),
        gvt_epochs: (index * 210) as u64 + (60.0 * noise(index + 3)) as u64,
        mailbox_depth: 3.0 + 9.0 * noise(index + 40),
        ..Default::default()
    }
}

/// A PE with its share of the events.
fn pe(index: usize, pes: usize, events: u64, seconds: f64) -> PeRecord {
    let load = 1.0 - 0.35 * index as f64 / pes as f64 - 0.08 * noise(index + 11);
    let committed = (events as f64 * load / pes as f64) as u64;
    let undone = (committed as f64 * (0.03 + 0.09 * noise(index + 23))) as u64;
    let at = |share: f64| {
        seconds * load * share * (0.9 + 0.2 * noise(index + (share * 1000.0) as usize))
    };
    let mut phases = Phases {
        receive: at(0.08),
        pending_set: at(0.14),
        event_processing: at(0.51),
        send: at(0.09),
        rollback: at(0.05),
        gvt: at(0.02),
        fossil_collection: at(0.04),
        idle: 0.0,
        off_core: at(0.01),
    };
    phases.idle =
        (seconds - phases.list().iter().map(|(_, seconds)| seconds).sum::<f64>()).max(0.0);
    let certain = committed - committed / 5;
    PeRecord {
        first_lp: (index * 12) as u32,
        lps: 12,
        processed_events: committed + undone,
        certain_events: certain,
        ahead_events: committed + undone - certain,
        committed_events: committed,
        rolled_back_events: undone,
        primary_rollbacks: undone / 9,
        secondary_rollbacks: undone / 31,
        copy_interval: 1,
        anti_messages: undone / 17,
        messages_sent: committed / 4,
        mailbox_depth_max: 90 + (300.0 * noise(index)) as u64,
        mailbox_depth_mean: 2.0 + 3.0 * noise(index + 5),
        history_max: 12_000 + index as u64 * 37,
        buffers: 65_536,
        phase_seconds: phases,
        ..PeRecord::default()
    }
}

/// The sums over PEs.
fn parallel(pes: Vec<PeRecord>) -> ParallelRecord {
    let sum = |of: fn(&PeRecord) -> u64| pes.iter().map(of).sum::<u64>();
    let processed = sum(|pe| pe.processed_events);
    let undone = sum(|pe| pe.rolled_back_events);
    let primary = sum(|pe| pe.primary_rollbacks);
    let secondary = sum(|pe| pe.secondary_rollbacks);
    let causes = Rollbacks { primary, secondary, ..Rollbacks::default() };
    let mut phase_seconds = Phases::default();
    pes.iter().for_each(|pe| phase_seconds.add(&pe.phase_seconds));
    ParallelRecord {
        processed_events: processed,
        certain_events: sum(|pe| pe.certain_events),
        ahead_events: sum(|pe| pe.ahead_events),
        rolled_back_events: undone,
        efficiency: (processed - undone) as f64 / processed as f64,
        rollbacks: Rollbacks {
            max_per_pe: pes
                .iter()
                .map(|pe| pe.primary_rollbacks + pe.secondary_rollbacks)
                .max()
                .unwrap_or(0),
            mean_per_pe: (primary + secondary) as f64 / pes.len() as f64,
            lengths: (0..12)
                .map(|power| ((primary + secondary) as f64 * 0.5 * 0.42f64.powi(power)) as u64)
                .chain([0, 0])
                .collect(),
            ..causes
        },
        anti_messages: sum(|pe| pe.anti_messages),
        cancelled_in_place: sum(|pe| pe.anti_messages) / 3,
        gvt_epochs: 12_604,
        gvt_trials: 15_911,
        remote_events: sum(|pe| pe.messages_sent),
        phase_seconds,
        phase_samples: Some(900.0),
        pes,
        ..ParallelRecord::default()
    }
}
