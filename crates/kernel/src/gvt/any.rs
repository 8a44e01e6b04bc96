use warpline_base::{Moment, TieBreak};
use warpline_memory::Region;

use super::asynchronous::Asynchronous;
use super::barrier::Barrier;
use super::gsu::Gsu;
use super::hierarchy::Hierarchy;
use super::messages::{Control, Tag};
use super::one_sided::OneSided;
use super::protocol::{Action, Gvt, Local};
use super::synchronous::Synchronous;

/// The ways to find GVT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// [`Asynchronous`].
    Asynchronous,
    /// [`Synchronous`], by messages over the hierarchy.
    Synchronous,
    /// [`Synchronous`], at a barrier in shared memory; whether those who wait at it sleep.
    AtBarrier {
        /// Whether they give up their core.
        sleeps: bool,
    },
    /// [`OneSided`].
    OneSided,
    /// [`Gsu`].
    Gsu,
}

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
    /// The parts of all PEs, with what they share in a region.
    pub fn all(
        region: &Region,
        algorithm: Algorithm,
        hierarchy: Hierarchy,
        ties: TieBreak,
    ) -> Vec<Self> {
        AnyGvt::each(region, algorithm, hierarchy, ties).collect()
    }

    /// As [`all`](Self::all), one after the other: a process among many keeps few of them.
    pub fn each(
        region: &Region,
        algorithm: Algorithm,
        hierarchy: Hierarchy,
        ties: TieBreak,
    ) -> Box<dyn Iterator<Item = Self>> {
        let pes = hierarchy.pes();
        match algorithm {
            Algorithm::Asynchronous => {
                let part = move |me| AnyGvt::Asynchronous(Asynchronous::new(me, hierarchy, ties));
                Box::new((0..pes).map(part))
            }
            Algorithm::Synchronous => {
                let part = move |me| AnyGvt::Synchronous(Synchronous::new(me, hierarchy, ties));
                Box::new((0..pes).map(part))
            }
            Algorithm::AtBarrier { sleeps } => {
                AnyGvt::each_at(&Barrier::new(region, pes, sleeps), pes, ties)
            }
            Algorithm::OneSided => {
                let part = move |me| AnyGvt::OneSided(OneSided::new(me, hierarchy, ties));
                Box::new((0..pes).map(part))
            }
            Algorithm::Gsu => Box::new(Gsu::each(region, pes, ties).map(AnyGvt::Gsu)),
        }
    }

    /// The parts of all PEs. Those of this rank meet at the barrier.
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
    fn name(&self) -> &'static str {
        with!(self, gvt => gvt.name())
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
