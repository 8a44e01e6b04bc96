//! How long threads were given a core, of the time for which they wanted one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time of a thread, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CoreTime {
    /// On a core; to sleep of one's own accord counts as well.
    pub(crate) on_core: Duration,
    /// By the clock.
    pub(crate) elapsed: Duration,
}

impl CoreTime {
    /// The share of a core that a thread was given since an earlier time: 1 if no time has passed.
    pub(crate) fn share_since(self, before: CoreTime) -> f64 {
        let on_core = self.on_core.saturating_sub(before.on_core).as_secs_f64();
        let elapsed = self.elapsed.saturating_sub(before.elapsed).as_secs_f64();
        if elapsed == 0.0 { 1.0 } else { (on_core / elapsed).min(1.0) }
    }
}

impl std::iter::Sum for CoreTime {
    fn sum<I: Iterator<Item = CoreTime>>(times: I) -> CoreTime {
        times.fold(CoreTime::default(), |sum, time| CoreTime { on_core: sum.on_core + time.on_core, elapsed: sum.elapsed + time.elapsed })
    }
}

/// Where a thread tells its time to others.
#[derive(Debug, Default)]
pub(crate) struct CoreClock {
    /// In nanoseconds.
    on_core: AtomicU64,
    elapsed: AtomicU64,
}

impl CoreClock {
    pub(crate) fn tell(&self, time: CoreTime) {
        self.on_core.store(time.on_core.as_nanos() as u64, Ordering::Relaxed);
        self.elapsed.store(time.elapsed.as_nanos() as u64, Ordering::Relaxed);
    }

    pub(crate) fn time(&self) -> CoreTime {
        let nanoseconds = |time: &AtomicU64| Duration::from_nanos(time.load(Ordering::Relaxed));
        CoreTime { on_core: nanoseconds(&self.on_core), elapsed: nanoseconds(&self.elapsed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_time_between() {
        let time = |on_core, elapsed| CoreTime { on_core: Duration::from_secs(on_core), elapsed: Duration::from_secs(elapsed) };
        let none = CoreTime::default();
        assert_eq!([none.share_since(none), time(7, 6).share_since(none), time(20, 30).share_since(time(10, 10))], [1.0, 1.0, 0.5]);
        let clock = CoreClock::default();
        clock.tell(time(1, 2));
        assert_eq!([clock.time(), time(3, 4)].into_iter().sum::<CoreTime>(), time(4, 6));
    }
}
