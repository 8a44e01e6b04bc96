//! How long threads were given a core, of the time for which they wanted one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use warpline_kernel::{Measured, agrees};

/// The time of a thread, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CoreTime {
    /// On a core. Sleep of its own accord counts as well.
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
        times.fold(CoreTime::default(), |sum, time| CoreTime {
            on_core: sum.on_core + time.on_core,
            elapsed: sum.elapsed + time.elapsed,
        })
    }
}

/// How the time of threads went that have several PEs each, or none at times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SharedTime {
    pub(crate) time: CoreTime,
    /// Off the core of their own accord, as there was nothing to do.
    pub(crate) rested: Duration,
}

impl SharedTime {
    /// Corrects what PEs have measured of themselves by what their threads did together: samples
    /// say in which proportions they worked, and the threads how long.
    pub(crate) fn correct(self, pes: &mut [Measured]) {
        let SharedTime { time: CoreTime { on_core, elapsed }, rested } = self;
        let on_core = on_core.as_secs_f64();
        let rested = rested.as_secs_f64();
        let off_core = (elapsed.as_secs_f64() - on_core - rested).max(0.0);
        let all = |pe: &Measured| pe.phases.list().iter().map(|(_, seconds)| seconds).sum::<f64>();
        let measured: f64 = pes.iter().map(all).sum();
        let idle = pes.iter().fold(0.0, |idle, pe| idle + pe.phases.idle);
        let working = pes.iter().fold(measured, |rest, pe| rest - pe.phases.idle);
        let scale = if measured > 0.0 { on_core / measured } else { 0.0 };
        let number = pes.len() as f64;
        // Where no PE has a share, all have the same.
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 1.0 / number };
        for pe in pes {
            let waits = share(pe.phases.idle, idle);
            let works = share(all(pe) - pe.phases.idle, working);
            pe.phases.scale(scale);
            pe.phases.idle += rested * waits;
            pe.phases.off_core += off_core * works;
            if !agrees(scale) {
                pe.samples = 0.0;
            }
        }
    }
}

impl std::iter::Sum for SharedTime {
    fn sum<I: Iterator<Item = SharedTime>>(times: I) -> SharedTime {
        let add = |sum: SharedTime, more: SharedTime| SharedTime {
            time: [sum.time, more.time].into_iter().sum(),
            rested: sum.rested + more.rested,
        };
        times.fold(SharedTime::default(), add)
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
    use warpline_record::Phases;

    use super::*;

    /// Two threads on one core, with a PE each that says it was busy most of the time.
    #[test]
    fn pes_that_share_threads_do_not_take_longer_than_those() {
        let pe = |event_processing, idle| Measured {
            phases: Phases { event_processing, idle, ..Phases::default() },
            samples: 99.0,
        };
        let mut pes = [pe(0.3, 0.02), pe(0.38, 0.1)];
        let time =
            CoreTime { on_core: Duration::from_millis(400), elapsed: Duration::from_millis(470) };
        SharedTime { time, rested: Duration::from_millis(40) }.correct(&mut pes);
        let sums =
            pes.map(|pe| pe.phases).into_iter().fold(Phases::default(), |mut sum, phases| {
                sum.add(&phases);
                sum
            });
        let all: f64 = sums.list().iter().map(|(_, seconds)| seconds).sum();
        assert!(
            (all - 0.47).abs() < 1e-9 && (sums.event_processing - 0.34).abs() < 1e-9,
            "{pes:?}"
        );
        assert!((sums.off_core - 0.03).abs() < 1e-9 && (sums.idle - 0.1).abs() < 1e-9, "{pes:?}");
        assert!(
            (pes[0].phases.event_processing / pes[1].phases.event_processing - 0.3 / 0.38).abs()
                < 1e-9
        );
        assert!(pes.iter().all(|pe| pe.samples == 99.0));
        let mut pes = [pe(0.01, 0.0), pe(0.01, 0.0)];
        SharedTime { time, rested: Duration::ZERO }.correct(&mut pes);
        assert!(
            pes.iter().all(|pe| pe.samples == 0.0),
            "samples of a twentieth of the time say nothing"
        );
        let mut nothing = [pe(0.0, 0.0), pe(0.0, 0.0)];
        SharedTime { time, rested: Duration::ZERO }.correct(&mut nothing);
        assert!(
            nothing
                .iter()
                .all(|pe| pe.phases.off_core.is_finite() && pe.phases.event_processing == 0.0),
            "{nothing:?}"
        );
        SharedTime::default().correct(&mut []);
    }

    #[test]
    fn shares_are_those_of_the_time_between() {
        let time = |on_core, elapsed| CoreTime {
            on_core: Duration::from_secs(on_core),
            elapsed: Duration::from_secs(elapsed),
        };
        let none = CoreTime::default();
        assert_eq!(
            [
                none.share_since(none),
                time(7, 6).share_since(none),
                time(20, 30).share_since(time(10, 10))
            ],
            [1.0, 1.0, 0.5]
        );
        let clock = CoreClock::default();
        clock.tell(time(1, 2));
        assert_eq!([clock.time(), time(3, 4)].into_iter().sum::<CoreTime>(), time(4, 6));
    }
}
