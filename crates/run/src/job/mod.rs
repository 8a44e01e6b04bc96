//! What is to be run: a prepared [`Simulation`](crate::Simulation) without its audience. It is plain
//! data: the builder fills its fields, and whatever follows only reads them.

pub(crate) mod check;
pub(crate) mod kinds;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use warpline_model::Model;

use crate::machine::budget::RunBudget;
use crate::outcome::tellings::Hearer;
use crate::watch::{StopSwitch, ThreadLimits, WARN_AFTER};
use crate::{Error, Records, Settings};

/// A model and everything that was said about its run.
pub(crate) struct Job<M: Model> {
    /// Shared by the runs of [replications](crate::Simulation::replicate).
    pub(crate) model: Arc<M>,
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) time_unit: &'static str,
    pub(crate) parameters: Map<String, Value>,
    /// The end if the settings give none.
    pub(crate) default_end: f64,
    /// As they were given. Nothing changes them.
    pub(crate) settings: Settings,
    pub(crate) for_tests: ForTests,
    pub(crate) records: Records,
    /// Who hears what followed LPs tell.
    pub(crate) hearer: Option<Hearer>,
    pub(crate) stop: StopSwitch,
    /// The memory budget, if several runs share one.
    pub(crate) budget: Option<RunBudget>,
}

/// What only tests and comparisons with other simulators set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ForTests {
    /// Whether every PE has a thread of its own, however few cores there are.
    pub(crate) one_thread_per_pe: bool,
    /// The seed by which PEs move between threads at random, if they do.
    pub(crate) migrate_at_random: Option<u64>,
    /// Whether the window follows another simulator's rule.
    pub(crate) devastator: bool,
    /// Whether rings between PEs hold as little as they can.
    pub(crate) least_room: bool,
    /// Whether PEs of a modelled machine also make steps in which they would do nothing.
    pub(crate) all_steps: bool,
    /// The seed of engine changes at random moments, if there are to be any.
    pub(crate) changes: Option<u64>,
    /// How many bytes the engine may take, whatever the program takes.
    pub(crate) budget: Option<u64>,
}

impl<M: Model> Job<M> {
    /// The end of the run, in model time.
    pub(crate) fn end_time(&self) -> f64 {
        self.settings.end.unwrap_or(self.default_end)
    }

    /// The limits of its threads.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub(crate) fn thread_limits(&self) -> Result<ThreadLimits, Error> {
        self.settings.check()?;
        let event =
            Duration::try_from_secs_f64(self.settings.event_limit()).unwrap_or(Duration::MAX);
        Ok(ThreadLimits { stack: (self.settings.stack() as usize) << 20, event, warn: WARN_AFTER })
    }
}
