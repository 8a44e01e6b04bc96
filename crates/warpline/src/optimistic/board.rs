//! What PEs' threads tell the thread that watches them.

use std::sync::Mutex;

use warpline_base::Moment;
use warpline_base::record::SpeculationSample;
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{MomentRow, Pe, Port};
use warpline_memory::Apart;
use warpline_model::Model;

/// The progress of a PE, for the watching thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeStatus {
    pub(crate) gvt: f64,
    pub(crate) committed: u64,
    pub(crate) processed: u64,
    rolled_back: u64,
    pub(crate) window: f64,
    epochs: u64,
    depth: f64,
    /// How long it was at work, in nanoseconds, as far as that is measured.
    pub(crate) busy: u64,
    /// Seconds that went into its events.
    work: f64,
}

impl PeStatus {
    pub(crate) fn of<M: Model, Q: PendingSet, P: Port<M::Event>>(pe: &Pe<'_, M, Q, P>) -> Self {
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
            depth: counts.mailbox_depth_mean(),
            busy: 0,
            work: pe.work_seconds(),
        }
    }

    /// The seconds that went into events that have committed.
    pub(crate) fn useful_work(&self) -> f64 {
        self.work * (self.committed as f64 / self.processed.max(1) as f64).min(1.0)
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
            depth: self.depth.max(other.depth),
            busy: self.busy + other.busy,
            work: self.work + other.work,
        }
    }

    pub(crate) fn sample(&self) -> SpeculationSample {
        SpeculationSample {
            processed_events: self.processed,
            rolled_back_events: self.rolled_back,
            window: self.window,
            gvt_epochs: self.epochs,
            mailbox_depth: self.depth,
        }
    }
}

/// Where a PE's thread posts what the watching thread wants to know. Locked once per GVT, and hardly ever by two at a time.
pub(crate) type Board = Apart<Mutex<Notice>>;

#[derive(Default)]
pub(crate) struct Notice {
    pub(crate) status: PeStatus,
    /// All rows before this moment have been posted, and none of them will be taken back.
    pub(crate) settled: Option<Moment>,
    pub(crate) rows: Vec<MomentRow>,
}
