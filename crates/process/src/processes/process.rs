//! Processes as other processes know them.

use std::fmt;
use std::marker::PhantomData;

use crate::keys::ProcessKey;

/// A process of an LP, which has a value of type `R` when it ends: what
/// [`Sim::spawn`](crate::Sim::spawn) started. It is a number that can be copied, and means something
/// in that LP only.
pub struct Process<R = ()> {
    pub(crate) key: ProcessKey,
    value: PhantomData<fn() -> R>,
}

impl<R> Process<R> {
    pub(crate) fn new(key: ProcessKey) -> Self {
        Process { key, value: PhantomData }
    }

    /// The same process, whose value nobody asks for: for lists of processes of several kinds.
    pub fn without_value(self) -> Process {
        Process::new(self.key)
    }
}

impl<R> Clone for Process<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Process<R> {}

impl<R> PartialEq for Process<R> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<R> Eq for Process<R> {}

impl<R> fmt::Debug for Process<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Process").field(&self.key.place).field(&self.key.generation).finish()
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It came to its end.
    Finished,
    /// It was cancelled.
    Cancelled,
}

/// A process was cancelled, so it has no value: see [`Sim::join`](crate::Sim::join).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process was cancelled before its end, so it has no value")
    }
}

impl std::error::Error for Cancelled {}
