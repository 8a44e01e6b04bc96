//! Ending a run, or the part of it that PEs execute, early: all PEs say how far they have come, from which the new end of all follows (see
//! `cut_short.rs` of the kernel).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use warpline_base::VirtualTime;
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{Pe, Port};
use warpline_memory::{Common, Region};
use warpline_model::{Model, Portable};

use crate::watch::StopSwitch;

/// What the threads of a run share to find an earlier end.
pub(crate) struct Ending<'s> {
    switch: &'s StopSwitch,
    /// The number of events of a PE after which another engine is to go on.
    most: u64,
    pes: u32,
    words: Common<EndingWords>,
}

/// What all PEs see.
#[derive(Debug, Portable)]
struct EndingWords {
    /// Whether the PEs are to come to an end.
    changes: AtomicU32,
    /// How many PEs hold back.
    holding_back: AtomicU32,
    /// The latest time, in bits, at which one of them does.
    latest: AtomicU64,
    /// The earliest time, in bits, after what one of them contributed to GVT.
    contributed: AtomicU64,
    /// How many PEs have their new end.
    ended: AtomicU32,
}

/// How far a PE has come in ending early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EndingStage {
    /// It goes on to the end.
    #[default]
    GoesOn,
    /// It holds back until all others do.
    HoldsBack,
    /// It has its new end, and keeps GVT from passing it until all others have it.
    HasEnd,
    /// All PEs have the new end.
    Ends,
}

impl<'s> Ending<'s> {
    /// For PEs that begin at `from`, and of which none executes more than about `most` events.
    pub(crate) fn new(region: &Region, switch: &'s StopSwitch, pes: u32, from: VirtualTime, most: Option<u64>) -> Self {
        let words = EndingWords {
            changes: AtomicU32::new(0),
            holding_back: AtomicU32::new(0),
            // What has committed before these PEs began lies before the end, too.
            latest: AtomicU64::new(from.bits()),
            contributed: AtomicU64::new(u64::MAX),
            ended: AtomicU32::new(0),
        };
        Ending { switch, most: most.unwrap_or(u64::MAX), pes, words: region.place(words) }
    }

    /// Has a PE end early, if the run is to; between any two of its steps.
    #[inline]
    pub(crate) fn guide<M: Model, Q: PendingSet, P: Port<M::Event>>(&self, pe: &mut Pe<'_, M, Q, P>, stage: &mut EndingStage) {
        if pe.counts().committed >= self.most {
            self.change();
        }
        // Relaxed: it publishes nothing else.
        if (self.switch.is_on() || self.words.changes.load(Ordering::Relaxed) == 1) && *stage != EndingStage::Ends {
            self.advance(pe, stage);
        }
    }

    /// Has the PEs come to an end, so that the run can end, or another engine go on.
    pub(crate) fn change(&self) {
        self.words.changes.store(1, Ordering::Relaxed);
    }

    #[cold]
    fn advance<M: Model, Q: PendingSet, P: Port<M::Event>>(&self, pe: &mut Pe<'_, M, Q, P>, stage: &mut EndingStage) {
        if *stage == EndingStage::GoesOn {
            *stage = EndingStage::HoldsBack;
            // The switch may be that of this process alone.
            self.change();
            // Times are never negative, so their bits are in the order of the times.
            let (from, contributed) = pe.hold_back();
            self.words.latest.fetch_max(from.bits(), Ordering::Relaxed);
            self.words.contributed.fetch_min(contributed.bits(), Ordering::Relaxed);
            // Publishes the times.
            self.words.holding_back.fetch_add(1, Ordering::Release);
        }
        if *stage == EndingStage::HoldsBack
            && let Some(end) = self.end()
        {
            *stage = EndingStage::HasEnd;
            pe.end_at(end);
            self.words.ended.fetch_add(1, Ordering::Release);
        }
        if *stage == EndingStage::HasEnd && self.words.ended.load(Ordering::Acquire) == self.pes {
            *stage = EndingStage::Ends;
            pe.let_go();
        }
    }

    /// The new end, once all PEs hold back.
    fn end(&self) -> Option<VirtualTime> {
        let all = self.words.holding_back.load(Ordering::Acquire) == self.pes;
        let time = |bits: &AtomicU64| VirtualTime::from_bits(bits.load(Ordering::Relaxed));
        all.then(|| time(&self.words.latest).max(time(&self.words.contributed)))
    }

    /// The new end of PEs that were to end at `end`, if they ended early.
    pub(crate) fn earlier_than(&self, end: VirtualTime) -> Option<VirtualTime> {
        self.end().filter(|earlier| *earlier < end)
    }
}
