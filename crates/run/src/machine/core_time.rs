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
    /// How long the one ran that ran longest.
    pub(crate) longest: Duration,
}

impl SharedTime {
    /// Corrects what PEs have measured of themselves by what their threads did together: samples
    /// say in which proportions they worked, and the threads how long. There are at least as many
    /// PEs as threads, and none of them takes longer than the thread that ran longest.
    pub(crate) fn correct(self, pes: &mut [Measured]) {
        let SharedTime { time: CoreTime { on_core, elapsed }, rested, longest } = self;
        let [on_core, elapsed, rested, longest] =
            [on_core, elapsed, rested, longest].map(|time| time.as_secs_f64());
        let off_core = (elapsed - on_core - rested).max(0.0);
        let measured: f64 = pes.iter().map(all).sum();
        let working = pes.iter().fold(measured, |rest, pe| rest - pe.phases.idle);
        let scale = if measured > 0.0 { on_core / measured } else { 0.0 };
        let number = pes.len() as f64;
        // Where no PE has a share, all have the same.
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 1.0 / number };
        for pe in pes.iter_mut() {
            let works = share(all(pe) - pe.phases.idle, working);
            pe.phases.scale(scale);
            pe.phases.off_core += off_core * works;
            if !agrees(scale) {
                pe.samples = 0.0;
            }
        }
        rest(rested, longest, pes);
    }
}

/// Lets PEs wait for `rested` seconds together, none of them for longer than what its own time
/// leaves of `longest`.
fn rest(mut rested: f64, longest: f64, pes: &mut [Measured]) {
    for pe in pes.iter_mut() {
        let too_long = all(pe) - longest;
        if too_long > 0.0 {
            // Proportions of few samples are far off.
            pe.phases.scale(longest / all(pe));
            rested += too_long;
        }
    }
    let room: f64 = pes.iter().map(|pe| longest - all(pe)).sum();
    let share = if room > 0.0 { (rested / room).min(1.0) } else { 0.0 };
    pes.iter_mut().for_each(|pe| pe.phases.idle += share * (longest - all(pe)));
}

/// All that a PE has measured, in seconds.
fn all(pe: &Measured) -> f64 {
    pe.phases.list().iter().map(|(_, seconds)| seconds).sum()
}

impl std::iter::Sum for SharedTime {
    fn sum<I: Iterator<Item = SharedTime>>(times: I) -> SharedTime {
        let add = |sum: SharedTime, more: SharedTime| SharedTime {
            time: [sum.time, more.time].into_iter().sum(),
            rested: sum.rested + more.rested,
            longest: sum.longest.max(more.longest),
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

    fn pe(event_processing: f64, idle: f64) -> Measured {
        Measured { phases: Phases { event_processing, idle, ..Phases::default() }, samples: 99.0 }
    }

    /// What `pes` measured of themselves, corrected by what threads did, in milliseconds: how long
    /// they were on a core, how long they ran and rested, and how long the longest of them ran.
    fn corrected<const N: usize>(
        mut pes: [Measured; N],
        threads @ [_, _, _, longest]: [u64; 4],
    ) -> [Measured; N] {
        let [on_core, elapsed, rested, _] = threads.map(Duration::from_millis);
        SharedTime {
            time: CoreTime { on_core, elapsed },
            rested,
            longest: Duration::from_millis(longest),
        }
        .correct(&mut pes);
        pes
    }

    /// Two PEs that share a thread, and say that they were busy most of the time.
    #[test]
    fn pes_that_share_a_thread_do_not_take_longer_than_that() {
        let pes = corrected([pe(0.3, 0.02), pe(0.38, 0.1)], [400, 470, 40, 470]);
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
    }

    /// Two threads, one of which was empty most of the time, as both PEs were on the other.
    #[test]
    fn no_pe_takes_longer_than_a_thread() {
        for pes in [[pe(0.1, 0.5), pe(0.3, 0.0)], [pe(0.9, 0.0), pe(0.0, 0.0)]] {
            let pes = corrected(pes, [500, 900, 390, 450]);
            let took = pes.map(|pe| all(&pe));
            assert!(took.iter().all(|took| (took - 0.45).abs() < 1e-9), "{took:?}: {pes:?}");
        }
    }

    #[test]
    fn samples_of_a_twentieth_of_the_time_say_nothing() {
        let pes = corrected([pe(0.01, 0.0), pe(0.01, 0.0)], [400, 470, 0, 470]);
        assert!(pes.iter().all(|pe| pe.samples == 0.0), "{pes:?}");
    }

    #[test]
    fn nothing_measured_is_nothing_corrected() {
        let nothing = corrected([pe(0.0, 0.0), pe(0.0, 0.0)], [400, 470, 0, 470]);
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
