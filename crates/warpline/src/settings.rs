/// How LPs are kept in step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// One event after the other, in one thread.
    #[default]
    Sequential,
}

/// How a speculative event is undone. A sequential run undoes nothing; verification tries the method out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undo {
    /// By a copy of the state before the event: works for every model.
    #[default]
    Copy,
    /// By the model's own [`reverse`](crate::Model::reverse) code.
    Reverse,
}

impl Undo {
    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Undo::Copy => "copy",
            Undo::Reverse => "reverse",
        }
    }
}

/// Which pending event set is used. The answer does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pending {
    /// The ladder, which is a heap as long as few events are pending.
    #[default]
    Auto,
    /// A 4-ary heap.
    Heap,
    /// The same as `Auto`, by name.
    Ladder,
}
