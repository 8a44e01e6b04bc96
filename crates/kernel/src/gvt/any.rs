use warpline_base::{Moment, TieBreak};
use warpline_memory::Region;

use super::algorithm::GvtAlgorithm;
use super::asynchronous::Asynchronous;
use super::barrier::Barrier;
use super::gsu::{Gsu, RegisterAccesses};
use super::hierarchy::Hierarchy;
use super::messages::{Control, Tag};
use super::one_sided::OneSided;
use super::protocol::{Action, Gvt, Local};
use super::synchronous::Synchronous;

/// An algorithm chosen at run time.
#[derive(Debug)]
pub enum AnyGvt {
    /// PEs go on executing meanwhile.
    Asynchronous(Asynchronous),
    /// PEs pause meanwhile.
    Synchronous(Synchronous),
    /// PEs write into each other's memory.
    OneSided(OneSided),
    /// GVT is read from registers.
    Gsu(Gsu),
}

impl AnyGvt {
    /// The parts of all PEs, with what they share in a region. They send each other messages where
    /// the algorithm has a choice.
    pub fn all(
        region: &Region,
        algorithm: GvtAlgorithm,
        hierarchy: Hierarchy,
        ties: TieBreak,
    ) -> Vec<Self> {
        AnyGvt::each(region, algorithm, hierarchy, ties).collect()
    }

    /// As [`all`](Self::all), one after the other: a process among many keeps few of them.
    pub fn each(
        region: &Region,
        algorithm: GvtAlgorithm,
        hierarchy: Hierarchy,
        ties: TieBreak,
    ) -> Box<dyn Iterator<Item = Self>> {
        let pes = hierarchy.pes();
        match algorithm {
            GvtAlgorithm::Asynchronous => {
                let part = move |me| AnyGvt::Asynchronous(Asynchronous::new(me, hierarchy, ties));
                Box::new((0..pes).map(part))
            }
            GvtAlgorithm::Synchronous => {
                let part = move |me| AnyGvt::Synchronous(Synchronous::new(me, hierarchy, ties));
                Box::new((0..pes).map(part))
            }
            GvtAlgorithm::OneSided => {
                let part = move |me| AnyGvt::OneSided(OneSided::new(me, hierarchy, ties));
                Box::new((0..pes).map(part))
            }
            GvtAlgorithm::Gsu => Box::new(Gsu::each(region, pes, ties).map(AnyGvt::Gsu)),
        }
    }

    /// The parts of all PEs in synchronous GVT. Those of this rank meet at the barrier.
    pub fn all_at(barrier: &Barrier, pes: u32, ties: TieBreak) -> Vec<Self> {
        AnyGvt::each_at(barrier, pes, ties).collect()
    }

    /// As [`all_at`](Self::all_at), one after the other.
    pub fn each_at(barrier: &Barrier, pes: u32, ties: TieBreak) -> Box<dyn Iterator<Item = Self>> {
        let barrier = barrier.clone();
        let part = move |me| AnyGvt::Synchronous(Synchronous::at(me, barrier.clone(), ties));
        Box::new((0..pes).map(part))
    }

    /// Whether PEs execute nothing while GVT is computed.
    pub fn stops_pes(&self) -> bool {
        matches!(self, AnyGvt::Synchronous(_))
    }

    /// Whether GVT can be read at any moment, without a computation.
    pub fn is_readable(&self) -> bool {
        matches!(self, AnyGvt::Gsu(_))
    }

    /// A number that changes with what other PEs write for this one into memory that all share,
    /// beside the registers of GVT; `None` if PEs tell each other everything in messages.
    pub fn shared_word(&self) -> Option<u64> {
        match self {
            AnyGvt::Synchronous(gvt) => gvt.shared_word(),
            AnyGvt::Gsu(gvt) => Some(gvt.shared_word()),
            AnyGvt::Asynchronous(_) | AnyGvt::OneSided(_) => None,
        }
    }

    /// How often this PE has used registers since the last call, without what it has
    /// [read](Gvt::read).
    #[inline]
    pub(crate) fn take_register_accesses(&mut self) -> RegisterAccesses {
        if let AnyGvt::Gsu(gvt) = self { gvt.take_accesses() } else { RegisterAccesses::default() }
    }

    /// The barrier and the round for which this PE waits there, if it does. Until all others have
    /// arrived, it has nothing to do.
    pub fn waits_at_barrier(&self) -> Option<(&Barrier, u64)> {
        match self {
            AnyGvt::Synchronous(gvt) => gvt.waits(),
            _ => None,
        }
    }
}

/// Passes a call on to whichever algorithm it is.
macro_rules! with {
    ($any:expr, $gvt:ident => $does:expr) => {
        match $any {
            AnyGvt::Asynchronous($gvt) => $does,
            AnyGvt::Synchronous($gvt) => $does,
            AnyGvt::OneSided($gvt) => $does,
            AnyGvt::Gsu($gvt) => $does,
        }
    };
}

impl Gvt for AnyGvt {
    fn algorithm(&self) -> GvtAlgorithm {
        with!(self, gvt => gvt.algorithm())
    }

    // Every model compiles these two anew, for each of its closures: so only the algorithms that
    // look at the moment are given the closure.

    #[inline(always)]
    fn sent(&mut self, to: u32, at: impl FnOnce() -> Moment) -> Tag {
        match self {
            AnyGvt::Asynchronous(gvt) => gvt.count_sent(),
            AnyGvt::Synchronous(gvt) => gvt.count_sent(),
            AnyGvt::OneSided(gvt) => gvt.count_sent(),
            AnyGvt::Gsu(gvt) => gvt.sent(to, at),
        }
    }

    #[inline]
    fn announce(&mut self) {
        if let AnyGvt::Gsu(gvt) = self {
            gvt.announce();
        }
    }

    #[inline(always)]
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment) {
        match self {
            AnyGvt::Asynchronous(gvt) => gvt.received(tag, at),
            AnyGvt::Synchronous(gvt) => gvt.count_received(),
            AnyGvt::OneSided(gvt) => gvt.received(tag, at),
            AnyGvt::Gsu(gvt) => gvt.count_received(tag),
        }
    }

    #[inline]
    fn wish(&mut self) {
        with!(self, gvt => gvt.wish());
    }

    fn receive_control(&mut self, control: Control) {
        with!(self, gvt => gvt.receive_control(control));
    }

    fn advance(&mut self, local: &mut dyn Local) -> Option<Action> {
        with!(self, gvt => gvt.advance(local))
    }

    fn drive(&mut self) {
        with!(self, gvt => gvt.drive());
    }

    fn read(&self) -> Option<(Moment, Moment)> {
        with!(self, gvt => gvt.read())
    }

    fn neighbours(&self) -> Vec<u32> {
        with!(self, gvt => gvt.neighbours())
    }

    #[inline]
    fn is_paused(&self) -> bool {
        with!(self, gvt => gvt.is_paused())
    }

    #[inline]
    fn is_on(&self) -> bool {
        with!(self, gvt => gvt.is_on())
    }

    #[inline]
    fn epoch(&self) -> u64 {
        with!(self, gvt => gvt.epoch())
    }
}
