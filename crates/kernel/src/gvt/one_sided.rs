use warpline_base::{Moment, TieBreak};

use super::algorithm::GvtAlgorithm;
use super::asynchronous::Asynchronous;
use super::hierarchy::Hierarchy;
use super::messages::{Control, Tag};
use super::protocol::{Action, Gvt, Local};

/// GVT as [`Asynchronous`], but PEs write what they have to say straight into each other's memory:
/// K. Perumalla, A. Park and V. Tipparaju, ACM TOMACS 24(3), 2014, §2.7 (mode 1A). What is written
/// does not queue up with messages, and nobody has to take part in receiving it.
///
/// For each neighbour, a PE has four receive blocks, as a neighbour may be a round or an epoch
/// ahead: (d, r), (d, r+1), (d+1, r) and (d+1, r+1). A block is free again in time. Whoever writes
/// for (d, r+2) has found an outcome of (d, r+1); that takes the share of the block's owner for (d,
/// r+1), which the owner gives only after reading all blocks of (d, r). Likewise for (d+2, r).
#[derive(Debug)]
pub struct OneSided(Asynchronous);

impl OneSided {
    /// The part of PE `me`.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn new(me: u32, hierarchy: Hierarchy, ties: TieBreak) -> Self {
        OneSided(Asynchronous::new(me, hierarchy, ties))
    }

    #[inline(always)]
    pub(super) fn count_sent(&mut self) -> Tag {
        self.0.count_sent()
    }
}

impl Gvt for OneSided {
    fn algorithm(&self) -> GvtAlgorithm {
        GvtAlgorithm::OneSided
    }

    #[inline(always)]
    fn sent(&mut self, _: u32, _: impl FnOnce() -> Moment) -> Tag {
        self.count_sent()
    }

    #[inline]
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment) {
        self.0.received(tag, at);
    }

    fn neighbours(&self) -> Vec<u32> {
        self.0.neighbours()
    }

    fn wish(&mut self) {
        self.0.wish();
    }

    fn receive_control(&mut self, control: Control) {
        self.0.receive_control(control);
    }

    fn advance(&mut self, local: &mut dyn Local) -> Option<Action> {
        Some(match self.0.advance(local)? {
            Action::Send { to, control } => Action::Write { to, put: control.into() },
            other => other,
        })
    }

    #[inline]
    fn is_paused(&self) -> bool {
        false
    }

    #[inline]
    fn is_on(&self) -> bool {
        self.0.is_on()
    }

    #[inline]
    fn epoch(&self) -> u64 {
        self.0.epoch()
    }
}
