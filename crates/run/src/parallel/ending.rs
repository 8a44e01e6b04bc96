//! Ends a run, or a segment of it, early: all PEs say how far they have come, and the new end
//! follows from that (see `cut_short.rs` of the kernel).

use warpline_base::VirtualTime;
use warpline_memory::Region;
use warpline_transport::{Fold, Tally};

use super::any_pe::AnyPe;
use crate::watch::StopSwitch;

/// Counter of the PEs that have nothing left to do.
const OVER: usize = 0;
/// Counter of the PEs that have their new end.
const ENDED: usize = 1;
/// Counter of the PEs that have proposed an end and hold back.
const PROPOSED: usize = 2;
/// 1 if the PEs are to come to an end.
const CHANGES: usize = 3;
/// The latest time, in bits, that a PE proposed.
const LATEST: usize = 4;
/// The earliest time, in bits, after what a PE has contributed to GVT.
const CONTRIBUTED: usize = 5;
/// 1 if the run is broken off, as memory has run out somewhere.
const BROKEN_OFF: usize = 6;
/// How what PEs say is folded, by counter.
const COUNTERS: &[Fold] =
    &[Fold::Sum, Fold::Sum, Fold::Sum, Fold::Max, Fold::Max, Fold::Min, Fold::Max];

/// What the threads of a run share to find its end: an earlier one than was planned, and when all
/// PEs have come to it.
pub(crate) struct Ending<'s> {
    switch: &'s StopSwitch,
    /// Another engine is to go on once a PE has committed this many events.
    most: u64,
    pes: u64,
    tally: Tally,
}

/// How far a PE has come in ending early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EndingStage {
    /// It goes on to the end.
    #[default]
    GoesOn,
    /// It has proposed an end, and waits until all others have.
    HasProposed,
    /// It has its new end, and keeps GVT from passing it until all others have it.
    HasEnd,
    /// All PEs have the new end.
    Ends,
}

impl<'s> Ending<'s> {
    /// For PEs that begin at `from`, none of which executes more than about `most` events.
    pub(crate) fn new(
        region: &Region,
        switch: &'s StopSwitch,
        pes: u32,
        from: VirtualTime,
        most: Option<u64>,
    ) -> Self {
        let tally = Tally::place(region, COUNTERS);
        // What has committed before these PEs began lies before the end, too.
        tally.say(LATEST, from.bits());
        Ending { switch, most: most.unwrap_or(u64::MAX), pes: pes.into(), tally }
    }

    /// The counters that processes pass on to each other.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Notes that a PE has nothing left to do.
    pub(crate) fn note_over(&self) {
        self.tally.say(OVER, 1);
    }

    /// Whether no PE has anything left to do.
    #[inline]
    pub(crate) fn all_over(&self) -> bool {
        self.tally.glance(OVER) == self.pes
    }

    /// Has the PEs of all processes stop where they are, as memory has run out: none of them can go
    /// on without the others.
    pub(crate) fn break_off(&self) {
        self.tally.say(BROKEN_OFF, 1);
    }

    /// Whether the PEs are to stop where they are.
    #[inline]
    pub(crate) fn is_broken_off(&self) -> bool {
        self.tally.glance(BROKEN_OFF) == 1
    }

    /// How far the PEs have come in ending early, if they are to: any number that changes whenever
    /// one of them does.
    pub(crate) fn progress(&self) -> Option<u64> {
        let is_on = self.switch.is_on();
        let counts = [OVER, ENDED, PROPOSED].map(|counter| self.tally.read(counter));
        is_on.then(|| counts.into_iter().sum())
    }

    /// Has a PE end early, if the run is to. Called between any two of its steps.
    #[inline]
    pub(crate) fn guide(&self, pe: &mut dyn AnyPe, stage: &mut EndingStage) {
        if pe.counts().committed >= self.most {
            self.change();
        }
        if (self.switch.is_on() || self.tally.glance(CHANGES) == 1) && *stage != EndingStage::Ends {
            self.advance(pe, stage);
        }
    }

    /// Has the PEs come to an end, so that the run can end, or another engine go on.
    pub(crate) fn change(&self) {
        self.tally.say(CHANGES, 1);
    }

    /// Whether the PEs are to come to an end that was not planned.
    pub(crate) fn is_under_way(&self) -> bool {
        self.switch.is_on() || self.tally.glance(CHANGES) == 1
    }

    #[cold]
    fn advance(&self, pe: &mut dyn AnyPe, stage: &mut EndingStage) {
        if *stage == EndingStage::GoesOn {
            *stage = EndingStage::HasProposed;
            // The switch may be that of this process alone.
            self.change();
            // Times are never negative, so their bits are in the order of the times.
            let (from, contributed) = pe.propose_end();
            self.tally.say(LATEST, from.bits());
            self.tally.say(CONTRIBUTED, contributed.bits());
            self.tally.say(PROPOSED, 1);
        }
        if *stage == EndingStage::HasProposed
            && let Some(end) = self.end()
        {
            *stage = EndingStage::HasEnd;
            pe.end_at(end);
            self.tally.say(ENDED, 1);
        }
        if *stage == EndingStage::HasEnd && self.tally.read(ENDED) == self.pes {
            *stage = EndingStage::Ends;
            pe.let_go();
        }
    }

    /// The new end, once all PEs hold back.
    fn end(&self) -> Option<VirtualTime> {
        let all = self.tally.read(PROPOSED) == self.pes;
        let time = |counter| VirtualTime::from_bits(self.tally.read(counter));
        all.then(|| time(LATEST).max(time(CONTRIBUTED)))
    }

    /// The new end of PEs that were to end at `end`, if they ended early.
    pub(crate) fn earlier_than(&self, end: VirtualTime) -> Option<VirtualTime> {
        self.end().filter(|earlier| *earlier < end)
    }
}
