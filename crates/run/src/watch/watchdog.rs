//! Finds events that go on and on.

use std::sync::Arc;
use std::time::Duration;

use warpline_base::LpId;
use warpline_model::engine::{Activity, Beat};

use crate::LongEvent;

/// What threads are doing, each with the number of its PE.
pub(super) type Beats = Vec<(Option<u32>, Arc<Beat>)>;

/// What the system says of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scheduled {
    /// How long it has been on a core.
    on_core: Duration,
    /// How long it was ready and had no core, in stretches that are over.
    waited: Duration,
    /// Whether it is ready now, on a core or not.
    is_ready: bool,
}

impl Scheduled {
    /// For how long it was kept from a core since an earlier look; `passed` is the time since then.
    fn without_core_since(self, before: Scheduled, passed: Duration) -> Duration {
        let waited = match self.is_ready {
            // It may still be waiting, which has not been counted yet.
            true => passed.saturating_sub(self.on_core.saturating_sub(before.on_core)),
            false => self.waited.saturating_sub(before.waited),
        };
        waited.min(passed)
    }
}

/// What the system says of a thread of this process, if anything.
fn scheduled(thread: u32) -> Option<Scheduled> {
    let directory = format!("/proc/self/task/{thread}");
    let times = std::fs::read_to_string(format!("{directory}/schedstat")).ok()?;
    let mut times = times
        .split_ascii_whitespace()
        .map_while(|time| time.parse().ok().map(Duration::from_nanos));
    let on_core = times.next()?;
    let waited = times.next()?;
    // The name of the thread comes before, in brackets.
    let state = std::fs::read_to_string(format!("{directory}/stat")).ok()?;
    let is_ready = state.rsplit_once(") ")?.1.starts_with('R');
    Some(Scheduled { on_core, waited, is_ready })
}

/// Remembers since when each thread has been doing the same.
pub(super) struct Watchdog {
    threads: Vec<Option<Since>>,
    /// What the system says of a thread.
    scheduled: fn(u32) -> Option<Scheduled>,
    /// When it last looked.
    looked: Duration,
}

#[derive(Clone, Copy)]
struct Since {
    activity: Activity,
    /// By the clock of the caller's looks.
    when: Duration,
    /// What the system said at the last look, if it says anything.
    scheduled: Option<Scheduled>,
    /// For how long it had no core.
    without_core: Duration,
    /// Whether there has been a warning.
    told: bool,
}

impl Since {
    /// For how long it has been going on, less the time without a core.
    fn lasted(&self, now: Duration) -> Duration {
        (now - self.when).saturating_sub(self.without_core)
    }
}

impl Watchdog {
    /// One that asks the system of each thread for how long it has been without a core.
    pub(super) fn of_system() -> Self {
        Watchdog::new(scheduled)
    }

    fn new(scheduled: fn(u32) -> Option<Scheduled>) -> Self {
        Watchdog { threads: Vec::new(), scheduled, looked: Duration::ZERO }
    }

    /// The event that has been going on for longest, if for `least` at least, and whether it has
    /// not been told before.
    pub(super) fn look(
        &mut self,
        beats: &Beats,
        least: Duration,
        now: Duration,
    ) -> Option<(LongEvent, bool)> {
        self.note(beats, now);
        let going_on = self
            .threads
            .iter_mut()
            .zip(beats)
            .filter_map(|(since, (pe, _))| since.as_mut().map(|since| (since, *pe)));
        let (since, pe) = going_on.max_by_key(|(since, _)| since.lasted(now))?;
        let lasted = since.lasted(now);
        if lasted < least {
            return None;
        }
        let Activity { lp, time, event, ahead, .. } = since.activity;
        let long = LongEvent {
            pe,
            lp: LpId(lp),
            time,
            event,
            certain: !ahead,
            seconds: lasted.as_secs_f64(),
            seconds_without_core: since.without_core.as_secs_f64(),
        };
        Some((long, !std::mem::replace(&mut since.told, true)))
    }

    /// Notes what each thread is doing.
    fn note(&mut self, beats: &Beats, now: Duration) {
        self.threads.resize(beats.len(), None);
        let passed = now - std::mem::replace(&mut self.looked, now);
        for (since, (_, beat)) in self.threads.iter_mut().zip(beats) {
            let activity = beat.read();
            // Only what goes on is worth asking the system about.
            let scheduled = || beat.thread().and_then(self.scheduled);
            match since {
                Some(since) if Some(since.activity) == activity => {
                    let now = scheduled();
                    if let Some((before, now)) = since.scheduled.zip(now) {
                        since.without_core += now.without_core_since(before, passed);
                    }
                    since.scheduled = now;
                }
                _ => {
                    *since = activity.map(|activity| Since {
                        activity,
                        when: now,
                        scheduled: scheduled(),
                        without_core: Duration::ZERO,
                        told: false,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use warpline_base::VirtualTime;
    use warpline_model::Model;
    use warpline_model::engine::Executor;
    use warpline_model::prelude::*;

    use super::*;

    struct Nothing;

    impl Model for Nothing {
        type State = ();
        type Event = ();
        fn lps(&self) -> u32 {
            9
        }
        fn init(&self, _: &mut Init<Self>) {}
        fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
    }

    #[test]
    fn an_event_is_told_once_and_forgotten_when_it_ends() {
        let executors: Vec<Executor<Nothing>> =
            (0..2).map(|_| Executor::new(&Nothing, 1, 9, false)).collect();
        let mut executors = executors.into_iter();
        let (Some(mut first), Some(mut second)) = (executors.next(), executors.next()) else {
            panic!()
        };
        let beats = vec![(Some(0), first.beat().clone()), (Some(1), second.beat().clone())];
        let least = Duration::from_secs(5);
        let at = Duration::from_secs;
        let mut watchdog = Watchdog::new(|_| None);
        let begin = |executor: &mut Executor<Nothing>, lp, event| {
            executor.beat().begin_step();
            executor.begin(LpId(lp), event, VirtualTime::new(2.5).unwrap(), 0);
        };
        assert_eq!(watchdog.look(&beats, least, at(0)), None);
        begin(&mut first, 3, 7);
        begin(&mut second, 4, 1);
        assert_eq!(watchdog.look(&beats, least, at(1)), None);
        begin(&mut first, 3, 8);
        second.beat().goes_ahead();
        assert_eq!(watchdog.look(&beats, least, at(3)), None);
        begin(&mut first, 3, 8);
        let (long, warn) =
            watchdog.look(&beats, least, at(9)).expect("PE 1 has been at it for 6 s");
        let text = "event 1 of LP 4 at time 2.5 has been running for 6 s on PE 1; it is executed \
                    ahead of others";
        assert!(long.to_string().starts_with(text) && warn, "{long}");
        assert!(
            watchdog
                .look(&beats, least, at(10))
                .is_some_and(|(long, warn)| long.seconds == 7.0 && !warn)
        );
        second.beat().end_step();
        assert_eq!(
            watchdog.look(&beats, least, at(11)),
            None,
            "the other has only just begun another step"
        );
        let (long, warn) =
            watchdog.look(&beats, least, at(14)).expect("PE 0 has been at it for 5 s");
        assert!(
            (long.pe, long.lp, long.event, long.certain, warn) == (Some(0), LpId(3), 8, true, true),
            "{long}"
        );
    }

    /// An event whose thread gets a core for a tenth of the time is not to blame, until it has been
    /// on that for long.
    #[test]
    fn time_without_a_core_is_not_the_model_s() {
        let executor = Executor::<Nothing>::new(&Nothing, 1, 9, false);
        let mut executor = executor;
        let beats = vec![(Some(0), executor.beat().clone())];
        let least = Duration::from_secs(5);
        thread_local! {
            static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
        }
        let starved = |_| {
            let looks = LOOKS.get();
            LOOKS.set(looks + 1);
            Some(Scheduled {
                on_core: Duration::from_millis(100 * looks),
                waited: Duration::ZERO,
                is_ready: true,
            })
        };
        let mut watchdog = Watchdog::new(starved);
        executor.beat().begin_step();
        executor.begin(LpId(3), 7, VirtualTime::new(2.5).unwrap(), 0);
        let mut told =
            (0..200).filter_map(|second| watchdog.look(&beats, least, Duration::from_secs(second)));
        let (long, warn) = told.next().expect("it comes to 5 s");
        let text = "event 7 of LP 3 at time 2.5 has been running for 5 s on PE 0, beside 45 s for \
                    which others had its core";
        assert!(long.to_string() == text && warn, "{long}");
    }

    #[test]
    fn who_waits_for_a_core_is_told_from_who_sleeps() {
        let at = |on_core, waited, is_ready| Scheduled {
            on_core: Duration::from_millis(on_core),
            waited: Duration::from_millis(waited),
            is_ready,
        };
        let passed = Duration::from_millis(250);
        let without =
            |now: Scheduled| now.without_core_since(at(1000, 500, true), passed).as_millis();
        assert_eq!(without(at(1250, 500, true)), 0, "it ran all the time");
        assert_eq!(without(at(1010, 500, true)), 240, "it is still waiting");
        assert_eq!(without(at(1010, 600, false)), 100, "it waited for a core, and sleeps");
        assert_eq!(
            without(at(1000, 500, false)),
            0,
            "it slept all the time, which is its own affair"
        );
        assert_eq!(without(at(1000, 9500, false)), 250);
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn the_system_tells_of_threads() {
        let beat = Arc::<Beat>::default();
        assert_eq!(beat.thread(), None);
        beat.begin_step();
        let thread = beat.thread().expect("a number");
        // A kernel may have been built without it.
        if std::path::Path::new("/proc/self/schedstat").exists() {
            let now = scheduled(thread).expect("it is of this process");
            assert!(now.is_ready, "{now:?}");
        }
        assert_eq!(scheduled(u32::MAX), None);
        beat.end_step();
    }
}
