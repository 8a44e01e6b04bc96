use warpline_base::{LpId, VirtualTime};
use warpline_memory::Handle;

/// Watches a sequential engine. A method that is not implemented costs nothing.
pub trait Watcher {
    /// An event is about to be executed.
    #[inline(always)]
    fn begins(&mut self) {}

    /// LP `lp` has executed, and committed, the event with this handle.
    #[inline(always)]
    fn executed(&mut self, _event: Handle, _lp: LpId, _time: VirtualTime) {}

    /// The event executed last, or the initialisation of `from`, has sent the event that now has
    /// this handle, to `to`, to happen at `time`.
    #[inline(always)]
    fn sent(&mut self, _event: Handle, _from: LpId, _to: LpId, _time: VirtualTime) {}

    /// The event executed last has cancelled the timer with this handle, which never happens.
    #[inline(always)]
    fn cancelled(&mut self, _timer: Handle) {}
}

/// Watches nothing.
pub(crate) struct Unwatched;

impl Watcher for Unwatched {}
