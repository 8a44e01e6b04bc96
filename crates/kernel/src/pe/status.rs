//! What a PE tells whoever steps it.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use warpline_base::{LpId, Moment};
use warpline_model::engine::Beat;

use super::Pe;
use crate::MomentRow;
use crate::gauge::counts::Counts;
use crate::gvt::{Barrier, Verdict};
use crate::pe::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// How long an event has taken so far, in seconds: an estimate, which includes copies of states
    /// and the like.
    pub fn event_seconds(&self) -> f64 {
        self.gauge.event_seconds()
    }

    /// What it is doing now, for a thread that watches it.
    pub fn beat(&self) -> &Arc<Beat> {
        self.executor.beat()
    }

    /// The barrier at which it waits, and the round, if it waits at one. Its steps do nothing until
    /// all other PEs have arrived.
    pub fn waits_at_barrier(&self) -> Option<(&Barrier, u64)> {
        self.gvt.waits_at_barrier()
    }

    /// A number that changes with what other PEs write for this one into memory that all share, so
    /// that an idle PE has to look; `None` if they tell it everything in messages.
    pub fn shared_word(&self) -> Option<u64> {
        self.gvt.shared_word()
    }

    /// Whether all its LPs have been initialised.
    pub fn is_initialised(&self) -> bool {
        self.lps.all_initialised()
    }

    /// When it had initialised all its LPs, if it has.
    pub fn initialised_at(&self) -> Option<Instant> {
        self.gauge.initialised_at()
    }

    /// The last verdict on GVT, if there has been one.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.frontier.verdict()
    }

    /// The moment before which everything is settled: this PE has committed it, and no PE has
    /// failed before it. It lags behind GVT, as a failure found at a commit becomes known with the
    /// next verdict.
    pub fn settled(&self) -> Option<Moment> {
        self.frontier.settled()
    }

    /// Where the run failed, as far as this PE knows from the last verdict and its own failures
    /// since.
    pub fn failure(&self) -> Moment {
        let known = self.frontier.verdict().map_or(Moment::Never, |verdict| verdict.failure);
        known.earlier(self.faults.failure_moment(), self.world.ties())
    }

    /// What it has done so far.
    pub fn counts(&self) -> &Counts {
        self.gauge.counts()
    }

    /// How far beyond GVT it may execute events at present, in model time.
    pub fn window(&self) -> f64 {
        self.frontier.window()
    }

    /// Takes the rows that have committed since the last call, in no particular order. After that,
    /// all its rows before GVT have been taken, and perhaps some later ones.
    pub fn take_rows(&mut self) -> Vec<MomentRow> {
        self.effects.take_rows()
    }

    /// How many committed events of this PE come before `moment`, at which a PE has failed.
    pub fn committed_before(&self, moment: &Moment) -> u64 {
        self.gauge.counts().committed - self.effects.count_from(moment)
    }

    /// Where it was when memory ran out.
    pub fn position(&self) -> Position {
        Position {
            lp: self.executor.id(),
            time: self.executor.now(),
            pending: self.agenda.books().live,
        }
    }
}

/// Where a PE was when memory ran out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The LP whose code ran last.
    pub lp: LpId,
    /// Its time, in model units.
    pub time: f64,
    /// How many events the PE held.
    pub pending: u64,
}
