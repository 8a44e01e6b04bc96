//! What tests of the engine and comparisons with other simulators set.

use warpline_model::Model;

use crate::Simulation;

impl<M: Model> Simulation<'_, M> {
    /// Gives every PE a thread of its own, however few cores there are: for tests of races between
    /// many.
    #[doc(hidden)]
    pub fn one_thread_per_pe(mut self) -> Self {
        self.job.for_tests.one_thread_per_pe = true;
        self
    }

    /// Has PEs of a modelled machine also make the steps that are otherwise left out, as they would
    /// do nothing in them: for tests.
    #[doc(hidden)]
    pub fn all_steps(mut self) -> Self {
        self.job.for_tests.all_steps = true;
        self
    }

    /// Has PEs move between threads at random, all the time, by this seed, where there are more PEs
    /// than threads: for tests.
    #[doc(hidden)]
    pub fn migrate_at_random(mut self, seed: u64) -> Self {
        self.job.for_tests.migrate_at_random = Some(seed);
        self
    }

    /// Has rings between PEs hold as little as they can, so that something is refused all the time:
    /// for tests.
    #[doc(hidden)]
    pub fn least_room(mut self) -> Self {
        self.job.for_tests.least_room = true;
        self
    }

    /// Adapts the window by the rule of another simulator, for comparison.
    #[doc(hidden)]
    pub fn devastator_window(mut self) -> Self {
        self.job.for_tests.devastator = true;
        self
    }

    /// Changes the engine again and again, at random moments, to any other that is possible, with
    /// up to as many PEs as there would be [threads](Self::threads): for tests of handing a run
    /// over.
    #[doc(hidden)]
    pub fn change_engines(mut self, seed: u64) -> Self {
        self.job.for_tests.changes = Some(seed);
        self
    }

    /// Limits the memory of the engine alone, in bytes, whatever the program takes: for tests of
    /// running out of it.
    #[doc(hidden)]
    pub fn engine_budget(mut self, bytes: u64) -> Self {
        self.job.for_tests.budget = Some(bytes);
        self
    }
}
