use warpline_base::{LpId, VirtualTime};
use warpline_memory::{Handle, PoolFull};

/// Somebody who looks on while a sequential engine works. What a method leaves undone costs nothing.
pub trait Watcher {
    /// An event is about to be executed.
    #[inline(always)]
    fn begins(&mut self) {}

    /// LP `lp` has executed, and committed, the event with this handle.
    ///
    /// # Errors
    /// If the watcher has no memory to note it; the run ends.
    #[inline(always)]
    fn executed(&mut self, _event: Handle, _lp: LpId, _time: VirtualTime) -> Result<(), PoolFull> {
        Ok(())
    }

    /// The event executed last, or the initialisation of `from`, has sent the event that now has this handle, to `to`, to happen at `time`.
    ///
    /// # Errors
    /// If the watcher has no memory to note it; the run ends.
    #[inline(always)]
    fn sent(&mut self, _event: Handle, _from: LpId, _to: LpId, _time: VirtualTime) -> Result<(), PoolFull> {
        Ok(())
    }
}

/// Nobody.
pub(crate) struct Unwatched;

impl Watcher for Unwatched {}
