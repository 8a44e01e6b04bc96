//! The progress of PEs, for the thread that watches them.

use serde::{Deserialize, Serialize};
use warpline_base::Moment;
use warpline_record::SpeculationSample;

use super::any_pe::AnyPe;

/// The progress of a PE, for the watching thread.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PeStatus {
    pub(crate) gvt: f64,
    pub(crate) committed: u64,
    pub(crate) processed: u64,
    pub(crate) rolled_back: u64,
    pub(crate) window: f64,
    pub(crate) epochs: u64,
    /// Epochs that found PEs thrashing.
    pub(crate) throttled: u64,
    /// How often all PEs of its process were given one thread.
    pub(crate) gathered: u64,
    /// The mean depth of its mailbox.
    pub(crate) depth: f64,
    /// How long it was at work, in nanoseconds; 0 if that is not measured.
    pub(crate) busy: u64,
}

impl PeStatus {
    pub(crate) fn of(pe: &dyn AnyPe) -> Self {
        let counts = pe.counts();
        let gvt = match pe.verdict().map(|verdict| verdict.gvt) {
            None | Some(Moment::Init(_)) => 0.0,
            Some(Moment::Event(key)) => key.time.get(),
            Some(Moment::Finish(_) | Moment::Never) => f64::INFINITY,
        };
        PeStatus {
            gvt,
            committed: counts.committed,
            processed: counts.processed,
            rolled_back: counts.rolled_back,
            window: pe.window(),
            epochs: counts.gvt_epochs,
            throttled: counts.throttled,
            gathered: counts.gathered,
            depth: counts.mailbox_depth_mean(),
            busy: 0,
        }
    }

    /// The progress of all of these PEs together.
    pub(crate) fn of_all(pes: &[&mut dyn AnyPe]) -> Self {
        pes.iter().map(|pe| PeStatus::of(&**pe)).reduce(PeStatus::and).unwrap_or_default()
    }

    /// The nanoseconds that went into committed events since an earlier status. Undone events do
    /// not count, as a PE with little to do goes far ahead.
    pub(crate) fn load_since(&self, before: &PeStatus) -> f64 {
        let processed = self.processed - before.processed;
        let committed = self.committed - before.committed;
        let useful =
            if processed == 0 { 1.0 } else { (committed as f64 / processed as f64).min(1.0) };
        (self.busy - before.busy) as f64 * useful
    }

    /// The progress of two sets of PEs together.
    pub(crate) fn and(self, other: PeStatus) -> PeStatus {
        PeStatus {
            gvt: self.gvt.min(other.gvt),
            committed: self.committed + other.committed,
            processed: self.processed + other.processed,
            rolled_back: self.rolled_back + other.rolled_back,
            window: self.window.min(other.window),
            epochs: self.epochs.max(other.epochs),
            throttled: self.throttled.max(other.throttled),
            gathered: self.gathered.max(other.gathered),
            depth: self.depth.max(other.depth),
            busy: self.busy + other.busy,
        }
    }

    pub(crate) fn sample(&self) -> SpeculationSample {
        SpeculationSample {
            processed_events: self.processed,
            rolled_back_events: self.rolled_back,
            window: self.window,
            gvt_epochs: self.epochs,
            throttled_epochs: self.throttled,
            gathered: self.gathered,
            mailbox_depth: self.depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_those_of_committed_events() {
        let status = |busy, processed, committed| PeStatus {
            busy,
            processed,
            committed,
            ..PeStatus::default()
        };
        let before = status(100, 10, 10);
        assert_eq!(
            [status(300, 50, 20), status(300, 10, 10)].map(|now| now.load_since(&before)),
            [50.0, 200.0]
        );
    }
}
