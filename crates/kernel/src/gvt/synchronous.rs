use warpline_base::{Moment, TieBreak};

use super::algorithm::GvtAlgorithm;
use super::barrier::{Barrier, BarrierReduction};
use super::hierarchy::Hierarchy;
use super::messages::{Control, Share, Tag, Work};
use super::protocol::{Action, Gvt, Local};
use super::reduction::Reduction;

/// GVT while all PEs pause: they receive, but execute nothing, until nothing is in flight. This is
/// detected by the four-counter method of F. Mattern, "Algorithms for distributed termination
/// detection", Distributed Computing 2, 1987; the mode of operation is 2S of K. Perumalla, A. Park
/// and V. Tipparaju, ACM TOMACS 24(3), 2014, §2.5.
///
/// All messages ever sent and received are counted, and the counts are summed in rounds. A single
/// round proves nothing: counts are taken at different times, and a message that arrives may cause
/// a rollback and with it anti-messages. But counts only grow, and a round begins after the
/// previous one has ended, at time t. So if the number received as of the first round, R1, equals
/// the number sent as of the second, S2, then R1 ≤ R(t) ≤ S(t) ≤ S2 makes R(t) equal S(t): nothing
/// was in flight at t, and nothing has been since, as paused PEs send only because of what they
/// receive. The least moment of the second round is GVT.
///
/// Counts are summed by messages over the hierarchy, or at a [`Barrier`] in shared memory, or at
/// one of each rank and then over all ranks.
#[derive(Debug)]
pub struct Synchronous {
    reducer: Reducer,
    sent: u64,
    received: u64,
    work: Work,
    /// The counts of the previous round.
    before: Option<(u64, u64)>,
}

/// How shares are reduced.
#[derive(Debug)]
enum Reducer {
    Messages(Box<Reduction>),
    Barrier(Box<BarrierReduction>),
}

/// Passes a call on to whichever reducer it is.
macro_rules! with {
    ($reducer:expr, $either:ident => $does:expr) => {
        match $reducer {
            Reducer::Messages($either) => $does,
            Reducer::Barrier($either) => $does,
        }
    };
}

impl Synchronous {
    /// The part of PE `me`, which reduces by messages.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn new(me: u32, hierarchy: Hierarchy, ties: TieBreak) -> Self {
        Synchronous::with(Reducer::Messages(Box::new(Reduction::new(me, hierarchy, ties))))
    }

    /// The part of PE `me`, which reduces at a barrier.
    pub fn at(me: u32, barrier: Barrier, ties: TieBreak) -> Self {
        Synchronous::with(Reducer::Barrier(Box::new(BarrierReduction::new(me, barrier, ties))))
    }

    fn with(reducer: Reducer) -> Self {
        Synchronous { reducer, sent: 0, received: 0, work: Work::default(), before: None }
    }

    /// The barrier and the round for which this PE waits there, if it does.
    pub(super) fn waits(&self) -> Option<(&Barrier, u64)> {
        match &self.reducer {
            Reducer::Messages(_) => None,
            Reducer::Barrier(reducer) => reducer.waits(),
        }
    }

    /// A number that changes with what other PEs write at the barrier, if there is one.
    pub(super) fn shared_word(&self) -> Option<u64> {
        match &self.reducer {
            Reducer::Messages(_) => None,
            Reducer::Barrier(reducer) => Some(reducer.shared_word()),
        }
    }

    #[inline(always)]
    pub(super) fn count_sent(&mut self) -> Tag {
        debug_assert!(
            with!(&self.reducer, reducer => reducer.pes()) > 1,
            "a message to another PE, but there is only one"
        );
        self.sent += 1;
        Tag::default()
    }

    #[inline]
    pub(super) fn count_received(&mut self) {
        self.received += 1;
    }

    fn contribute(&mut self, local: &mut dyn Local) {
        if with!(&self.reducer, reducer => reducer.round()) == 0 {
            self.work = local.take_work();
            self.before = None;
        }
        let own = Share {
            sent: self.sent,
            received: self.received,
            least: local.least(),
            failure: local.failure(),
            work: self.work,
        };
        with!(&mut self.reducer, reducer => reducer.give(own));
    }

    fn judge(&mut self, sum: Share) {
        let counts = (sum.sent, sum.received);
        let same = self.before.replace(counts) == Some(counts);
        let settled = same && sum.in_flight() == 0;
        with!(&mut self.reducer, reducer => if settled { reducer.decide(sum) } else { reducer.again() });
    }
}

impl Gvt for Synchronous {
    fn algorithm(&self) -> GvtAlgorithm {
        GvtAlgorithm::Synchronous
    }

    #[inline(always)]
    fn sent(&mut self, _: u32, _: impl FnOnce() -> Moment) -> Tag {
        self.count_sent()
    }

    #[inline]
    fn received(&mut self, _: Tag, _: impl FnOnce() -> Moment) {
        self.count_received();
    }

    fn neighbours(&self) -> Vec<u32> {
        with!(&self.reducer, reducer => reducer.neighbours())
    }

    fn wish(&mut self) {
        with!(&mut self.reducer, reducer => reducer.wish());
    }

    fn receive_control(&mut self, control: Control) {
        with!(&mut self.reducer, reducer => reducer.receive_control(control));
    }

    fn advance(&mut self, local: &mut dyn Local) -> Option<Action> {
        loop {
            if let Some(action) = with!(&mut self.reducer, reducer => reducer.next_action()) {
                return Some(action);
            } else if with!(&self.reducer, reducer => reducer.is_called()) {
                with!(&mut self.reducer, reducer => reducer.begin());
            } else if with!(&self.reducer, reducer => reducer.is_due()) {
                self.contribute(local);
            } else {
                match with!(&mut self.reducer, reducer => reducer.exchange()) {
                    Some(sum) => self.judge(sum),
                    None => return with!(&mut self.reducer, reducer => reducer.next_action()),
                }
            }
        }
    }

    #[inline]
    fn is_paused(&self) -> bool {
        self.is_on()
    }

    #[inline]
    fn is_on(&self) -> bool {
        with!(&self.reducer, reducer => reducer.is_on())
    }

    #[inline]
    fn epoch(&self) -> u64 {
        with!(&self.reducer, reducer => reducer.epochs())
    }
}
