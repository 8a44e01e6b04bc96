use std::fmt::Debug;
use std::time::{Duration, Instant};

/// A source of time.
pub(crate) trait Clock: Debug {
    /// Nanoseconds since an arbitrary moment.
    fn now(&self) -> u64;

    /// For how many nanoseconds the current thread has been on a core, if the system can tell.
    /// Asking takes longer than [`now`](Self::now).
    fn on_core(&self) -> Option<u64>;

    /// Whether it stands still, as nobody wants to know.
    fn stands_still(&self) -> bool {
        false
    }
}

/// The system's clock, and when it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    /// `None`: it stands still.
    pub(crate) origin: Option<Instant>,
    /// How long the current thread has been on a core, where the system can tell.
    pub(crate) on_core: Option<fn() -> Duration>,
}

impl Clock for WallClock {
    #[inline]
    fn now(&self) -> u64 {
        self.origin.map_or(0, |origin| origin.elapsed().as_nanos() as u64)
    }

    fn on_core(&self) -> Option<u64> {
        self.on_core.map(|time| time().as_nanos() as u64)
    }

    fn stands_still(&self) -> bool {
        self.origin.is_none()
    }
}
