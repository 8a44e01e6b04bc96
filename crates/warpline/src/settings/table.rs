//! The table of settings, and the rules by which the engine chooses what was left to it.

use std::path::PathBuf;

use warpline_model::engine::Limits;

use super::{Conservative, GvtAlgorithm, Pending, Range, Recorded, SettingError, Synchronisation, Undo, Wire};
use crate::settings;

/// The heading of settings of every run.
pub const RUN: &str = "Run settings";
/// The heading of settings that say where output goes.
pub const OUTPUT: &str = "Output";
/// The heading of settings of every engine.
pub const ENGINE: &str = "Engine settings";
/// The heading of settings of parallel engines. A sequential run ignores them, but for `sync` and `threads`.
pub const PARALLEL: &str = "Parallel runs";

/// The most PEs of a run. Each keeps a mailbox for every other, so that memory grows with the square.
pub(crate) const THREADS_MOST: u32 = 1024;

settings! {
    /// What was given for the settings of a run; [`Simulation::settings`](crate::Simulation::settings) has an example.
    pub struct Settings {
        /// Model time at which the run ends; events at this time are not executed.
        end: f64, Range::Above(0.0), {
            heading: RUN,
            placeholder: "TIME",
            unit: "model time",
            reason: "as a run covers the times from 0 to the end time",
            rule: "the model's",
            hurts: "a short run tells little: confidence intervals are wide, and the empty start weighs much",
        }
        /// Seed of all random numbers, a whole number.
        seed: u64 = 1, Range::Any, {
            heading: RUN,
            hurts: "one seed is one sample: what is seen with it alone may be chance",
        }
        /// Model time before which no statistics are taken.
        warmup: f64 = 0.0, Range::Any, {
            heading: RUN,
            placeholder: "TIME",
            unit: "model time",
            reason: "at least 0 and less than the end time",
            recorded: Recorded::Always,
            hurts: "too short, and the empty start colours all means; too long, and little is left to observe",
        }
        /// Zero-delay hops in a row, at one instant, that count as a loop.
        zero_delay_hops: u32 = Limits::ZERO_DELAY_HOPS, Range::Any, {
            heading: RUN,
            placeholder: "HOPS",
            unit: "hops",
            recorded: Recorded::Always,
            hurts: "too few, and a model that is merely busy at one instant is stopped; too many, and a loop takes long to be found",
        }
        /// File for a trace of what every PE did, for ui.perfetto.dev or chrome://tracing.
        trace: PathBuf, Range::Any, {
            heading: OUTPUT,
            hurts: "tracing takes about a tenth of the run's time, and up to 200 MB of disk",
        }
        /// How events are undone; a sequential run undoes none.
        undo: Undo = Undo::default(), Range::Any, {
            heading: ENGINE,
            recorded: Recorded::Always,
            hurts: "copies cost most where states are large; reverse code that is wrong gives wrong answers, so try `warpline verify` first",
        }
        /// Pending event set; the answer does not depend on it.
        pending: Pending = Pending::default(), Range::Any, {
            heading: ENGINE,
            recorded: Recorded::Always,
            hurts: "a heap is slow where many events are pending; a ladder, which is a heap while they are few, hardly ever",
        }
        /// How LPs are kept in step; the answer does not depend on it.
        sync: Synchronisation, Range::Any, {
            heading: PARALLEL,
            rule: "sequential; optimistic if --threads is more than 1",
            recorded: Recorded::Always,
            hurts: "a parallel run of tiny events without lookahead, sent from everybody to everybody, may be slower than a sequential one",
        }
        /// PEs, each an event loop with its share of the LPs, on a thread of its own as far as there are cores; more than 1 means a parallel
        /// run.
        threads: u32, Range::Between(1, THREADS_MOST), {
            heading: PARALLEL,
            reason: "as every PE keeps room for messages from every other; as many as there are cores do best",
            rule: "as many as there are cores",
            recorded: Recorded::Always,
            hurts: "more than cores take turns and talk more; with few events per PE between messages they mostly wait",
        }
        /// Events that a PE executes between two looks at its messages.
        batch: u32, Range::From(1), {
            heading: PARALLEL,
            placeholder: "EVENTS",
            unit: "events",
            rule: "8 for each PE, but at least 128 and at most 256",
            recorded: Recorded::InParallel,
            hurts: "too small, and looking for messages costs more than events do; too large, and messages wait and more is undone",
        }
        /// Kernel processes (KPs) of each PE at most, which are groups of LPs that roll back as one.
        kps: u32 = 1024, Range::From(1), {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "too few, and a rollback undoes events of many LPs that did nothing wrong; too many, and their table leaves the nearest cache",
        }
        /// Whether PEs go on while global virtual time (GVT) is found, or stop.
        gvt: GvtAlgorithm = GvtAlgorithm::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "where PEs stop, each waits for the slowest every time",
        }
        /// Events that a PE executes, about, before it asks for a new GVT; 32 times as many where lookahead makes them certain.
        gvt_interval: u32 = 128, Range::From(1), {
            heading: PARALLEL,
            placeholder: "EVENTS",
            unit: "events",
            recorded: Recorded::InParallel,
            hurts: "too small, and PEs spend their time finding GVT; too large, and memory comes back late and fewer events are certain",
        }
        /// How far beyond GVT events may be executed, in model time.
        window: f64, Range::Above(0.0), {
            heading: PARALLEL,
            placeholder: "TIME",
            unit: "model time",
            rule: "chosen by the engine, and adapted as it runs to what undoing and waiting cost",
            recorded: Recorded::InParallel,
            hurts: "too small, and PEs wait; too large, and much is undone",
        }
        /// With --undo copy: at every how many of an LP's events its state is copied.
        copy_interval: u32 = 1, Range::From(1), {
            heading: PARALLEL,
            placeholder: "EVENTS",
            unit: "events",
            recorded: Recorded::InParallel,
            hurts: "more than 1 pays for large states only: what lies between two copies is executed again when it is undone",
        }
        /// How events travel between PEs: by value, in buffers that both share, or each as suits it.
        wire: Wire = Wire::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "by value, what has to be cancelled takes an anti-message; in shared buffers, what is certain moves more cache lines",
        }
        /// With --sync conservative: whether PEs go in step, from window to window, or each as far as it may; auto takes windows where all least
        /// delays between PEs are equal and each has a core.
        conservative: Conservative = Conservative::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "in windows all wait for the slowest, and the shortest of all delays counts; free-running ones look at each other all the time",
        }
        /// Whether events that nothing can come before any more, as lookahead tells, are executed without the means to undo them.
        use_lookahead: bool = true, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "without it every event pays for being undone; it is meant for studies of Time Warp alone",
        }
        /// Step all PEs in one thread, in an order drawn from this seed, with messages that overtake each other.
        virtual_cluster: u64, Range::Any, {
            heading: PARALLEL,
            placeholder: "SEED",
            hurts: "it is slow, and meant for tests",
        }
    }
}

/// The batch of an engine with so many PEs: enough events to pay for a step, which looks into a mailbox per PE, and few enough for messages
/// not to wait long.
pub(crate) fn batch_for(pes: u32) -> u32 {
    pes.saturating_mul(8).clamp(128, 256)
}

impl Settings {
    /// The engine of a run: the one that was asked for; if none was, a parallel one for several threads and the sequential one for one.
    ///
    /// # Errors
    /// If the sequential engine is to have several threads, or another than the conservative one is told how to be conservative.
    ///
    /// ```
    /// use warpline::{Settings, Synchronisation};
    /// let mut settings = Settings::default();
    /// assert_eq!(settings.synchronisation()?, Synchronisation::Sequential);
    /// settings.threads = Some(2);
    /// assert_eq!(settings.synchronisation()?, Synchronisation::Optimistic);
    /// settings.sync = Some(Synchronisation::Sequential);
    /// assert!(settings.synchronisation().unwrap_err().to_string().starts_with("`sync` is `sequential`, but `threads` is `2`: "));
    /// # Ok::<(), warpline::SettingError>(())
    /// ```
    pub fn synchronisation(&self) -> Result<Synchronisation, SettingError> {
        let several = self.threads.filter(|threads| *threads > 1);
        let engine = match (self.sync, several) {
            (Some(Synchronisation::Sequential), Some(threads)) => Err(SettingError::Conflict {
                name: "sync",
                value: Synchronisation::Sequential.name().to_owned(),
                other: "threads",
                other_value: threads.to_string(),
                remedy: "a sequential run has one thread; leave `threads` out or set it to 1, or leave `sync` out, as several threads mean a parallel run"
                    .to_owned(),
            }),
            (Some(chosen), _) => Ok(chosen),
            (None, Some(_)) => Ok(Synchronisation::Optimistic),
            (None, None) => Ok(Synchronisation::Sequential),
        }?;
        match self.conservative() {
            Conservative::Windows | Conservative::FreeRunning if engine != Synchronisation::Conservative => Err(SettingError::Conflict {
                name: "conservative",
                value: self.conservative().name().to_owned(),
                other: "sync",
                other_value: engine.name().to_owned(),
                remedy: "it tells PEs of a conservative run how to go on; leave it out, or set `sync` to `conservative`".to_owned(),
            }),
            _ => Ok(engine),
        }
    }
}
