//! What the charts of a parallel run read.

use super::shares::{all_seconds, seconds};
use serde::Serialize;
use warpline_record::{ParallelRecord, PeRecord, Phases, RunRecord};

/// With more PEs than this, several share a bar.
const BARS: usize = 64;

/// What `assets/script/parallel.js` reads.
#[derive(Serialize)]
pub(crate) struct Data {
    /// The end of the run, in model time. A window reaches no further.
    pub(crate) end_time: f64,
    /// The unit of model time.
    pub(crate) time_unit: String,
    /// The names of the phases.
    pub(crate) phases: [&'static str; 9],
    /// One bar for each PE, or for each group of PEs.
    pub(crate) bars: Vec<Bar>,
    /// How many rollbacks undid 1, 2–3, 4–7, … events.
    pub(crate) lengths: Vec<u64>,
}

/// A PE, or the means over some PEs.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// How many PEs it stands for.
    pub(crate) pes: usize,
    pub(crate) seconds: [f64; 9],
    pub(crate) committed: f64,
    pub(crate) undone: f64,
    pub(crate) primary: f64,
    pub(crate) secondary: f64,
}

impl Data {
    /// What can be drawn for a run.
    pub(crate) fn new(record: &RunRecord) -> Self {
        let parallel = record.parallel.as_ref();
        Self {
            end_time: record.end_time,
            time_unit: record.time_unit.clone(),
            phases: Phases::default().list().map(|(name, _)| name),
            bars: parallel.map(bars).unwrap_or_default(),
            lengths: parallel.map(lengths).unwrap_or_default(),
        }
    }
}

/// Rollbacks by length, up to the longest.
pub(crate) fn lengths(parallel: &ParallelRecord) -> Vec<u64> {
    let lengths = &parallel.rollbacks.lengths;
    let longest = lengths.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    lengths[..longest].to_vec()
}

/// The bars, no more than can be told apart.
fn bars(parallel: &ParallelRecord) -> Vec<Bar> {
    if parallel.pes.is_empty() {
        return Vec::from_iter(whole(parallel));
    }
    let size = parallel.pes.len().div_ceil(BARS);
    parallel.pes.chunks(size).enumerate().map(|(index, pes)| bar(index * size, pes)).collect()
}

/// All PEs as one bar, for a record that does not distinguish them.
fn whole(parallel: &ParallelRecord) -> Option<Bar> {
    let seconds = all_seconds(parallel);
    let undone = parallel.rolled_back_events as f64;
    let known = seconds.iter().any(|seconds| *seconds > 0.0);
    known.then(|| Bar {
        name: "all PEs".into(),
        pes: 1,
        seconds,
        committed: parallel.processed_events as f64 - undone,
        undone,
        primary: parallel.rollbacks.primary as f64,
        secondary: parallel.rollbacks.secondary as f64,
    })
}

fn bar(first: usize, pes: &[PeRecord]) -> Bar {
    let mean = |of: &dyn Fn(&PeRecord) -> f64| pes.iter().map(of).sum::<f64>() / pes.len() as f64;
    Bar {
        name: if pes.len() == 1 {
            format!("{first}")
        } else {
            format!("{first}–{}", first + pes.len() - 1)
        },
        pes: pes.len(),
        seconds: std::array::from_fn(|phase| mean(&|pe| seconds(&pe.phase_seconds)[phase])),
        committed: mean(&|pe| pe.committed_events as f64),
        undone: mean(&|pe| pe.rolled_back_events as f64),
        primary: mean(&|pe| pe.primary_rollbacks as f64),
        secondary: mean(&|pe| pe.secondary_rollbacks as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_record::Rollbacks;

    fn names(pes: usize) -> Vec<String> {
        let parallel = ParallelRecord { pes: vec![PeRecord::default(); pes], ..Default::default() };
        bars(&parallel).into_iter().map(|bar| bar.name).collect()
    }

    #[test]
    fn many_pes_share_bars() {
        assert_eq!(names(1), ["0"]);
        assert_eq!(names(64).len(), 64);
        let shared = names(65);
        assert_eq!((shared.len(), &*shared[0], &*shared[32]), (33, "0–1", "64"));
        assert_eq!(names(1000).last().unwrap(), "992–999");
        assert!(names(0).is_empty());
    }

    #[test]
    fn shared_bars_are_means() {
        let pe = |index: u64| PeRecord {
            committed_events: index,
            phase_seconds: Phases { idle: index as f64, ..Default::default() },
            ..Default::default()
        };
        let parallel = ParallelRecord { pes: (0..128).map(pe).collect(), ..Default::default() };
        let bars = bars(&parallel);
        assert_eq!((bars[1].committed, bars[1].seconds[7], bars[1].pes), (2.5, 2.5, 2));
    }

    #[test]
    fn a_record_without_pes_is_one_bar() {
        let phases = Phases { rollback: 2.0, ..Default::default() };
        let parallel = ParallelRecord {
            processed_events: 5,
            rolled_back_events: 2,
            phase_seconds: phases,
            ..Default::default()
        };
        let bars = bars(&parallel);
        assert_eq!((bars.len(), bars[0].committed, bars[0].seconds[4]), (1, 3.0, 2.0));
    }

    #[test]
    fn lengths_end_with_the_longest() {
        let of = |lengths: Vec<u64>| {
            let rollbacks = Rollbacks { lengths, ..Default::default() };
            super::lengths(&ParallelRecord { rollbacks, ..Default::default() })
        };
        assert_eq!(of(vec![5, 0, 1, 0, 0]), [5, 0, 1]);
        assert!(of(vec![0; 4]).is_empty() && of(vec![]).is_empty());
    }
}
