//! What a process may do.

mod join;
mod messages;
mod observing;
mod processes;
mod random;
mod starting;
mod time;
mod waiting;

use std::fmt;
use std::marker::PhantomData;

pub use join::Join;
pub use messages::Receive;
pub(crate) use starting::Valued;
pub use time::{Sleep, Timeout};
pub use waiting::{Interruptible, WaitUntil};

/// The simulation, as the processes of an LP see it: time, messages of type `T`, other processes,
/// random numbers, statistics.
///
/// It has no size and may be copied anywhere. It always means the LP whose process calls it.
///
/// # Panics
/// All methods, if they are called outside of a process: after the run, in another thread, or
/// within a filter of messages or items.
pub struct Sim<T> {
    messages: PhantomData<fn(T) -> T>,
}

impl<T> Sim<T> {
    pub(crate) const fn new() -> Self {
        Sim { messages: PhantomData }
    }
}

impl<T> Clone for Sim<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sim<T> {}

impl<T> fmt::Debug for Sim<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sim")
    }
}
