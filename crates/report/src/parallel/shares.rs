//! Shares and sums that tiles, words and charts share. None of them is ever NaN.

use crate::format::{self, Zeros};
use warpline_record::{ParallelRecord, PeRecord, Phases, RunRecord};

/// Places in the order of [`Phases::list`].
pub(crate) const RECEIVING: usize = 0;
pub(crate) const CHOOSING: usize = 1;
pub(crate) const EXECUTING: usize = 2;
pub(crate) const SENDING: usize = 3;
pub(crate) const UNDOING: usize = 4;
pub(crate) const FINDING_GVT: usize = 5;
pub(crate) const WAITING: usize = 7;
pub(crate) const OFF_CORE: usize = 8;

/// `part` of `whole`, from 0 to 1; `None` if there is no whole.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (part.is_finite() && whole.is_finite() && whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0))
}

/// A share for reading: `92 %`, `99.6 %`, `< 0.1 %`. Only a whole is shown as 100 %, and only
/// nothing as 0 %.
pub(crate) fn percent(share: f64) -> String {
    let gap = '\u{a0}';
    let digits = match share {
        share if share <= 0.0 || share >= 1.0 => 0,
        share if share < 0.001 => return format!("<{gap}0.1{gap}%"),
        share if share > 0.999 => return format!(">{gap}99.9{gap}%"),
        share if !(0.0095..=0.99).contains(&share) => 1,
        _ => 0,
    };
    format!("{:.digits$}{gap}%", 100.0 * share)
}

/// Committed by executed events; `None` if none was executed.
pub(crate) fn efficiency(parallel: &ParallelRecord) -> Option<f64> {
    let executed = parallel.processed_events as f64;
    let kept = parallel.processed_events.saturating_sub(parallel.rolled_back_events) as f64;
    let recorded = Some(parallel.efficiency)
        .filter(|share| share.is_finite())
        .map(|share| share.clamp(0.0, 1.0));
    share(kept, executed).map(|counted| recorded.unwrap_or(counted))
}

/// How many events were certain when they were executed, and how many were executed ahead. They add
/// up to all executed events. `None` if none was executed, or if the record is older than these
/// counts.
pub(crate) fn lanes(parallel: &ParallelRecord) -> Option<(u64, u64)> {
    let certain = parallel.certain_events;
    let ahead = parallel.ahead_events;
    let all = certain.checked_add(ahead)?;
    (all == parallel.processed_events && all > 0).then_some((certain, ahead))
}

/// Seconds in each phase, in the order of [`Phases::list`]; invalid ones count as 0.
pub(crate) fn seconds(phases: &Phases) -> [f64; 9] {
    phases.list().map(|(_, seconds)| if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// Seconds in each phase over all PEs.
pub(crate) fn all_seconds(parallel: &ParallelRecord) -> [f64; 9] {
    let recorded = seconds(&parallel.phase_seconds);
    if recorded.iter().sum::<f64>() > 0.0 {
        return recorded;
    }
    parallel
        .pes
        .iter()
        .map(|pe| seconds(&pe.phase_seconds))
        .fold([0.0; 9], |sum, pe| std::array::from_fn(|index| sum[index] + pe[index]))
}

/// The event loop must take at least this long, in seconds, for waiting times to mean anything.
const SHORT: f64 = 0.1;
/// The least number of samples of PEs at work whose proportions are more than chance.
pub const SAMPLES_LEAST: f64 = 10.0;
/// A run that had less than this share of its cores shared them with other programs.
const CONTESTED: f64 = 0.85;
/// There are too many PEs if they wait for more than this share of their time while other PEs have
/// their core.
const OVERSUBSCRIBED: f64 = 0.1;

/// Whether a run was long enough for its waiting times to mean anything.
pub(crate) fn is_measured(record: &RunRecord) -> bool {
    record.loop_seconds >= SHORT
}

/// Whether there were enough samples to tell what PEs did while they were at work.
pub fn is_sampled(record: &RunRecord, parallel: &ParallelRecord) -> bool {
    is_measured(record) && parallel.phase_samples.is_none_or(|samples| samples >= SAMPLES_LEAST)
}

/// The share of its cores that a run lost to other programs, if that was so much that its figures
/// say little of the model.
pub fn taken_by_others(record: &RunRecord) -> Option<f64> {
    let share = record.core_share.filter(|_| is_measured(record))?;
    (share < CONTESTED).then_some(1.0 - share)
}

/// Whether a run had too many PEs for its cores.
pub(crate) fn is_oversubscribed(parallel: &ParallelRecord) -> bool {
    parallel.oversubscribed
        && time_shares(parallel).is_some_and(|shares| shares[OFF_CORE] > OVERSUBSCRIBED)
}

/// The share of every phase in the time of all PEs.
pub(crate) fn time_shares(parallel: &ParallelRecord) -> Option<[f64; 9]> {
    let seconds = all_seconds(parallel);
    let all: f64 = seconds.iter().sum();
    share(0.0, all).map(|_| seconds.map(|seconds| seconds / all))
}

/// The share of its time on a core for which a PE works; `None` if it was not measured.
pub(crate) fn busy(pe: &PeRecord) -> Option<f64> {
    let seconds = seconds(&pe.phase_seconds);
    let all = seconds.iter().sum::<f64>() - seconds[OFF_CORE];
    share(all - seconds[WAITING], all)
}

/// A count of things: `1 rollback`, `2 000 rollbacks`.
pub(crate) fn counted(count: u64, singular: &str) -> String {
    format!("{}\u{a0}{singular}{}", format::integer(count), if count == 1 { "" } else { "s" })
}

/// A mean for reading.
pub(crate) fn mean(value: f64) -> String {
    format::number(value, 3, Zeros::Strip)
}

/// The events that committed in parallel: all of them, unless the run chose its engines itself.
pub(crate) fn committed(record: &RunRecord, parallel: &ParallelRecord) -> f64 {
    match record.engines.is_empty() {
        true => record.committed_events as f64,
        false => parallel.processed_events.saturating_sub(parallel.rolled_back_events) as f64,
    }
}

/// The seconds of the event loop in which the run was parallel.
pub(crate) fn parallel_seconds(record: &RunRecord) -> f64 {
    let parallel = record.engines.iter().filter(|engine| engine.sync != "sequential");
    if record.engines.is_empty() {
        record.loop_seconds
    } else {
        parallel.map(|engine| engine.seconds).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(share: f64) -> String {
        percent(share).replace('\u{a0}', " ")
    }

    #[test]
    fn percentages_do_not_round_to_all_or_nothing() {
        let shown =
            [0.0, 0.0001, 0.001, 0.0094, 0.0095, 0.5, 0.926, 0.99, 0.996, 0.9999, 1.0].map(plain);
        assert_eq!(
            shown,
            [
                "0 %", "< 0.1 %", "0.1 %", "0.9 %", "1 %", "50 %", "93 %", "99 %", "99.6 %",
                "> 99.9 %", "100 %"
            ]
        );
    }

    #[test]
    fn a_share_of_nothing_is_unknown() {
        assert_eq!(share(0.0, 0.0), None);
        assert_eq!(share(f64::NAN, 1.0), None);
        assert_eq!(share(1.0, f64::INFINITY), None);
        assert_eq!(share(3.0, 2.0), Some(1.0));
        assert_eq!(efficiency(&ParallelRecord::default()), None);
        assert_eq!(busy(&PeRecord::default()), None);
    }

    #[test]
    fn efficiency_is_computed_if_the_record_lacks_it() {
        let record = ParallelRecord {
            processed_events: 10,
            rolled_back_events: 4,
            efficiency: f64::NAN,
            ..Default::default()
        };
        assert_eq!(efficiency(&record), Some(0.6));
        assert_eq!(efficiency(&ParallelRecord { efficiency: 0.5, ..record }), Some(0.5));
    }

    #[test]
    fn lanes_are_shown_only_if_they_add_up() {
        let of = |certain_events, ahead_events| {
            lanes(&ParallelRecord {
                processed_events: 10,
                certain_events,
                ahead_events,
                ..Default::default()
            })
        };
        assert_eq!((of(7, 3), of(10, 0), of(0, 10)), (Some((7, 3)), Some((10, 0)), Some((0, 10))));
        assert_eq!((of(0, 0), of(7, 4), of(u64::MAX, 11)), (None, None, None));
        assert_eq!(lanes(&ParallelRecord::default()), None);
    }

    #[test]
    fn phases_are_summed_if_only_pes_have_them() {
        let pe = |idle| PeRecord {
            phase_seconds: Phases { idle, gvt: 0.5, send: f64::NAN, ..Default::default() },
            ..Default::default()
        };
        let parallel = ParallelRecord { pes: vec![pe(1.0), pe(2.0)], ..Default::default() };
        assert_eq!(all_seconds(&parallel), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 3.0, 0.0]);
        assert_eq!(busy(&pe(1.5)), Some(0.25));
        let without = Phases { off_core: 7.0, ..pe(1.5).phase_seconds };
        assert_eq!(busy(&PeRecord { phase_seconds: without, ..Default::default() }), Some(0.25));
    }
}
