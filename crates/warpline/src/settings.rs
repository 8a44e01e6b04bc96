/// How LPs are kept in step; see [`Simulation::sync`](crate::Simulation::sync).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronisation {
    /// One event after the other, in one thread.
    #[default]
    Sequential,
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
