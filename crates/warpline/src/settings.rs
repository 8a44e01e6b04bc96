/// How LPs are kept in step; see [`Simulation::sync`](crate::Simulation::sync).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronisation {
    /// One event after the other, in one thread.
    #[default]
    Sequential,
    /// Every thread executes only what nothing can come before any more, as the model's [lookahead](crate::Model::lookahead) tells.
    Conservative,
    /// Time Warp: every thread goes ahead with its LPs, and undoes what turns out to have been too early.
    Optimistic,
}

impl Synchronisation {
    /// The word for it on the command line.
    ///
    /// ```
    /// use warpline::Synchronisation;
    /// assert_eq!([Synchronisation::Sequential, Synchronisation::Optimistic].map(Synchronisation::name), ["sequential", "optimistic"]);
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Synchronisation::Sequential => "sequential",
            Synchronisation::Conservative => "conservative",
            Synchronisation::Optimistic => "optimistic",
        }
    }
}

/// How the PEs of a parallel run find global virtual time; see [`Simulation::gvt`](crate::Simulation::gvt). The answer does not depend
/// on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GvtAlgorithm {
    /// By epochs, while events are executed.
    #[default]
    Asynchronous,
    /// All PEs stop executing events until it is known.
    Synchronous,
}

impl GvtAlgorithm {
    /// The word for it on the command line.
    ///
    /// ```
    /// use warpline::GvtAlgorithm;
    /// assert_eq!([GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous].map(GvtAlgorithm::name), ["asynchronous", "synchronous"]);
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            GvtAlgorithm::Asynchronous => "asynchronous",
            GvtAlgorithm::Synchronous => "synchronous",
        }
    }
}

/// How events travel between the PEs of a parallel run; see [`Simulation::wire`](crate::Simulation::wire). The answer does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wire {
    /// Those that nobody can cancel any more by value, others in shared buffers.
    #[default]
    Auto,
    /// All by value, cancelled by anti-messages.
    Value,
    /// All in shared buffers, cancelled in place.
    Shared,
}

impl Wire {
    /// The word for it on the command line.
    ///
    /// ```
    /// use warpline::Wire;
    /// assert_eq!([Wire::Auto, Wire::Value, Wire::Shared].map(Wire::name), ["auto", "value", "shared"]);
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Wire::Auto => "auto",
            Wire::Value => "value",
            Wire::Shared => "shared",
        }
    }
}

/// Settings of parallel runs. What is `None` is chosen by the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ParallelSettings {
    pub(crate) threads: Option<u32>,
    pub(crate) batch: Option<u32>,
    pub(crate) kps: Option<u32>,
    pub(crate) gvt: GvtAlgorithm,
    pub(crate) gvt_interval: Option<u32>,
    pub(crate) window: Option<f64>,
    /// Whether the window follows another simulator's rule.
    pub(crate) devastator: bool,
    pub(crate) copy_interval: Option<u32>,
    pub(crate) ignore_lookahead: bool,
    pub(crate) wire: Wire,
    /// Whether every PE has a thread of the operating system, however few cores there are.
    pub(crate) crowded: bool,
    /// The seed of a virtual cluster that takes the place of threads.
    pub(crate) cluster: Option<u64>,
}

/// How a speculative event is undone; see [`Simulation::undo`](crate::Simulation::undo). A sequential run undoes nothing;
/// [verification](crate::Simulation::verify), which has an example, tries the method out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undo {
    /// By a copy of the state before the event: works for every model.
    #[default]
    Copy,
    /// By the model's own [`reverse`](crate::Model::reverse) code.
    Reverse,
}

impl Undo {
    /// The word for it on the command line.
    ///
    /// ```
    /// use warpline::Undo;
    /// assert_eq!([Undo::Copy, Undo::Reverse].map(Undo::name), ["copy", "reverse"]);
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Undo::Copy => "copy",
            Undo::Reverse => "reverse",
        }
    }
}

/// Which pending event set is used; see [`Simulation::pending`](crate::Simulation::pending), which has an example. The answer does not
/// depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pending {
    /// A ladder queue, which is a heap as long as few events are pending.
    #[default]
    Ladder,
    /// A 4-ary heap.
    Heap,
}
