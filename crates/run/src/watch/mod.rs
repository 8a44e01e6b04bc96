//! A run and the thread that called for it: the run has a thread of its own, with a stack of the
//! size that all threads of engines have; the caller passes progress on, and notices from outside
//! if an event goes on and on.
//!
//! A handler has the same stack in every run, as it never runs in the caller's thread. The caller
//! is free to look on from outside: it passes progress on, and reads what each thread is doing
//! (`Beat`, two words that a context writes for each event). If these words stand still within one
//! step, an event goes on and on: the caller warns, and in the end gives the run up. Rust cannot
//! stop a thread, so that one goes on until the program ends; this is why models are `'static`.

pub(crate) mod drive;

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use warpline_base::LpId;
use warpline_model::engine::{Activity, Beat};

use self::drive::Listener;
pub use self::drive::Progress;
use crate::outcome::error::within_memory;
use crate::{Error, LongEvent, Share};

/// How often the caller looks whether events go on and on.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long an event may take before somebody hears of it.
pub(crate) const WARN_AFTER: Duration = Duration::from_secs(5);

/// Ends runs early, from any thread or a signal handler; see
/// [`Simulation::stop_with`](crate::Simulation::stop_with).
#[derive(Clone, Debug, Default)]
pub struct StopSwitch(Arc<AtomicBool>);

impl StopSwitch {
    /// Ends the runs that have this switch, as soon as all their PEs agree on how far they have
    /// come.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the runs are to end.
    #[inline]
    pub fn is_on(&self) -> bool {
        // Relaxed: it publishes nothing else.
        self.0.load(Ordering::Relaxed)
    }
}

/// What threads are doing, each with the number of its PE.
type Beats = Mutex<Vec<(Option<u32>, Arc<Beat>)>>;

/// What a run tells its caller.
enum Told {
    Progress(Progress),
    /// The caller need not wait any longer.
    Left(Share),
}

/// What a run has in common with its caller.
#[derive(Clone, Default)]
pub(crate) struct Control {
    /// Set once nobody waits for the run any more.
    abandoned: Arc<AtomicBool>,
    /// What the threads of the run are doing.
    beats: Arc<Beats>,
    /// To whoever listens to its progress, if anybody does.
    listener: Option<Listener>,
    /// To the caller, while it waits.
    caller: Option<Sender<Told>>,
}

impl Control {
    /// Whether nobody waits for the run any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        // Relaxed: it publishes nothing else.
        self.abandoned.load(Ordering::Relaxed)
    }

    /// # Errors
    /// If nobody waits for the run any more.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        if self.is_abandoned() { Err(Error::Abandoned) } else { Ok(()) }
    }

    /// Has the caller go on without the threads of the run, which may be in the middle of an event
    /// that takes for ever: this process is to end, as the run has lost another one.
    pub(crate) fn leave(&self, share: Share) {
        // If nobody waits any more, nobody has to know.
        self.caller.iter().for_each(|caller| _ = caller.send(Told::Left(share.clone())));
    }

    /// From now on the caller watches this thread of the run.
    pub(crate) fn watch(&self, pe: Option<u32>, beat: &Arc<Beat>) {
        let mut beats = self.beats.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the list still knows of a executor that is gone.
        beats.retain(|(_, beat)| Arc::strong_count(beat) > 1);
        beats.push((pe, beat.clone()));
    }

    /// Whoever listens to its progress.
    pub(crate) fn listener(&self) -> Option<Listener> {
        self.listener.clone()
    }

    /// Control over a process of the run whose progress nobody hears of.
    pub(crate) fn unheard(&self) -> Self {
        Control { listener: None, ..self.clone() }
    }

    /// Control over a part of the run, with a listener of its own.
    pub(crate) fn within(&self, listener: Listener) -> Self {
        Control { listener: Some(listener), ..self.clone() }
    }
}

/// Those who are told how a run is going.
#[derive(Default)]
pub(crate) struct Audience<'a> {
    pub(crate) progress: Option<&'a mut dyn FnMut(&Progress)>,
    pub(crate) long_event: Option<&'a mut dyn FnMut(&LongEvent)>,
}

/// The limits of a run's threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadLimits {
    /// Bytes of stack.
    pub(crate) stack: usize,
    /// The longest that an event may take.
    pub(crate) event: Duration,
    /// The longest that an event may take before somebody hears of it.
    pub(crate) warn: Duration,
}

/// Calls `run` in a thread of its own, and waits for it.
///
/// # Errors
/// If `run` fails, the system refuses the thread, an event takes longer than the limit, or the run
/// [leaves](Control::leave). In the last two cases its threads may go on until the program ends.
///
/// # Panics
/// If `run` or one of the audience panics; the run has ended then.
pub(crate) fn watched<T: Send + 'static, E: From<Error> + Send + 'static>(
    limits: ThreadLimits,
    audience: Audience<'_>,
    run: impl FnOnce(Control) -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let (sender, told) = channel();
    let (over, caller) = (sender.clone(), Some(sender.clone()));
    let listener: Listener = Arc::new(move |progress| {
        // If nobody listens any more, nobody has to know.
        let _ = sender.send(Told::Progress(progress));
    });
    warpline_memory::report_crashes();
    warpline_memory::keep_reserve();
    let control = Control {
        listener: audience.progress.is_some().then_some(listener),
        caller,
        ..Control::default()
    };
    let worker = Builder::new().name("warpline".to_owned()).stack_size(limits.stack);
    let given = control.clone();
    // The channel closes when the thread drops the last sender.
    let worker = worker.spawn(move || {
        let _over = over;
        within_memory(|| run(given))
    });
    let worker = worker.map_err(|cause| Error::no_thread(0, 1, cause))?;
    let mut run = RunThread { abandoned: control.abandoned.clone(), worker: Some(worker) };
    let beats = control.beats.clone();
    drop(control);
    match look_on(limits, audience, &told, &beats) {
        None => run.join(),
        Some(why) => {
            run.leave();
            Err(why.into())
        }
    }
}

/// The thread of a run, for its caller. If it is dropped, somebody of the audience has panicked:
/// the run is abandoned and ends.
struct RunThread<T> {
    abandoned: Arc<AtomicBool>,
    worker: Option<JoinHandle<T>>,
}

impl<T> RunThread<T> {
    fn join(&mut self) -> T {
        let Some(worker) = self.worker.take() else { unreachable!("a run is joined once") };
        worker.join().unwrap_or_else(|panic: Box<dyn Any + Send>| resume_unwind(panic))
    }

    /// Does not wait for the run, but has as much of it ended as can be.
    fn leave(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.worker = None;
    }
}

impl<T> Drop for RunThread<T> {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.abandoned.store(true, Ordering::Relaxed);
            let _ = worker.join();
        }
    }
}

/// Passes progress on until the run is over. Or until it need not be waited for: then it says why.
fn look_on(
    limits: ThreadLimits,
    mut audience: Audience<'_>,
    told: &Receiver<Told>,
    beats: &Beats,
) -> Option<Error> {
    let (mut watchdog, every) =
        (Watchdog::new(scheduled), LOOK_EVERY.min(limits.event).min(limits.warn));
    let (mut looked, mut clock) = (Instant::now(), Duration::ZERO);
    loop {
        match told.recv_timeout(every) {
            Ok(Told::Left(share)) => return Some(Error::Share(share)),
            Ok(Told::Progress(progress)) => {
                audience.progress.iter_mut().for_each(|report| report(&progress))
            }
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = Instant::now();
        if now - looked < every {
            continue;
        }
        // If this thread slept for longer, the whole process may have been stopped for a while, and
        // the run with it.
        clock += (now - looked).min(2 * every);
        looked = now;
        let beats = beats.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((long, warn)) = watchdog.look(&beats, limits, clock) else { continue };
        drop(beats);
        if long.seconds >= limits.event.as_secs_f64() {
            return Some(Error::LongEvent(Box::new(long)));
        }
        if warn {
            match &mut audience.long_event {
                Some(report) => report(&long),
                None => eprintln!(
                    "warning: {long}; after {:.0} s it counts as a failure",
                    limits.event.as_secs_f64()
                ),
            }
        }
    }
}

/// What the system says of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scheduled {
    /// How long it has been on a core.
    on_core: Duration,
    /// How long it was ready and had none, as far as that is over.
    waited: Duration,
    /// Whether it is ready now, on a core or not.
    is_ready: bool,
}

impl Scheduled {
    /// For how much of the time since an earlier look it was kept from a core.
    fn without_core_since(self, before: Scheduled, passed: Duration) -> Duration {
        let waited = match self.is_ready {
            // It may still be waiting, and only what is over has been counted.
            true => passed.saturating_sub(self.on_core.saturating_sub(before.on_core)),
            false => self.waited.saturating_sub(before.waited),
        };
        waited.min(passed)
    }
}

/// What the system says of a thread of this process, if it does.
fn scheduled(thread: u32) -> Option<Scheduled> {
    let directory = format!("/proc/self/task/{thread}");
    let times = std::fs::read_to_string(format!("{directory}/schedstat")).ok()?;
    let mut times = times
        .split_ascii_whitespace()
        .map_while(|time| time.parse().ok().map(Duration::from_nanos));
    let (on_core, waited) = (times.next()?, times.next()?);
    // The name of the thread comes before, in brackets.
    let state = std::fs::read_to_string(format!("{directory}/stat")).ok()?;
    let is_ready = state.rsplit_once(") ")?.1.starts_with('R');
    Some(Scheduled { on_core, waited, is_ready })
}

/// Remembers since when each thread has been doing the same.
struct Watchdog {
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
    /// Whether somebody has heard of it.
    told: bool,
}

impl Since {
    /// For how long it has been going on, less the time without a core.
    fn lasted(&self, now: Duration) -> Duration {
        (now - self.when).saturating_sub(self.without_core)
    }
}

impl Watchdog {
    fn new(scheduled: fn(u32) -> Option<Scheduled>) -> Self {
        Watchdog { threads: Vec::new(), scheduled, looked: Duration::ZERO }
    }

    /// The event that has been going on for longest, if that is worth telling, and whether it has
    /// not been told before.
    fn look(
        &mut self,
        beats: &[(Option<u32>, Arc<Beat>)],
        limits: ThreadLimits,
        now: Duration,
    ) -> Option<(LongEvent, bool)> {
        self.threads.resize(beats.len(), None);
        let passed = now - std::mem::replace(&mut self.looked, now);
        for (since, (_, beat)) in self.threads.iter_mut().zip(beats) {
            let activity = beat.read();
            // Only what goes on is worth asking the system about.
            let scheduled = || beat.thread().and_then(self.scheduled);
            match since {
                Some(since) if Some(since.activity) == activity => {
                    let (before, now) = (since.scheduled, scheduled());
                    let without =
                        before.zip(now).map(|(before, now)| now.without_core_since(before, passed));
                    since.without_core += without.unwrap_or_default();
                    since.scheduled = now;
                }
                _ => {
                    *since = activity.map(|activity| {
                        let (scheduled, without_core) = (scheduled(), Duration::ZERO);
                        Since { activity, when: now, scheduled, without_core, told: false }
                    });
                }
            }
        }
        let going_on = self
            .threads
            .iter_mut()
            .zip(beats)
            .filter_map(|(since, (pe, _))| since.as_mut().map(|since| (since, *pe)));
        let (since, pe) = going_on.max_by_key(|(since, _)| since.lasted(now))?;
        let (lasted, without_core) = (since.lasted(now), since.without_core);
        if lasted < limits.warn.min(limits.event) {
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
            seconds_without_core: without_core.as_secs_f64(),
        };
        Some((long, !std::mem::replace(&mut since.told, true)))
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
        let beats = [(Some(0), first.beat().clone()), (Some(1), second.beat().clone())];
        let limits = ThreadLimits { stack: 0, event: Duration::from_secs(60), warn: WARN_AFTER };
        let (mut watchdog, at) = (Watchdog::new(|_| None), Duration::from_secs);
        let begin = |executor: &mut Executor<Nothing>, lp, event| {
            executor.beat().begin_step();
            executor.begin(LpId(lp), event, VirtualTime::new(2.5).unwrap(), 0);
        };
        assert_eq!(watchdog.look(&beats, limits, at(0)), None);
        begin(&mut first, 3, 7);
        begin(&mut second, 4, 1);
        assert_eq!(watchdog.look(&beats, limits, at(1)), None);
        begin(&mut first, 3, 8);
        second.beat().goes_ahead();
        assert_eq!(watchdog.look(&beats, limits, at(3)), None);
        begin(&mut first, 3, 8);
        let (long, warn) =
            watchdog.look(&beats, limits, at(9)).expect("PE 1 has been at it for 6 s");
        let text = "event 1 of LP 4 at time 2.5 has been running for 6 s on PE 1; it is executed ahead of others";
        assert!(long.to_string().starts_with(text) && warn, "{long}");
        assert!(
            watchdog
                .look(&beats, limits, at(10))
                .is_some_and(|(long, warn)| long.seconds == 7.0 && !warn)
        );
        second.beat().end_step();
        assert_eq!(
            watchdog.look(&beats, limits, at(11)),
            None,
            "the other has only just begun another step"
        );
        let (long, warn) =
            watchdog.look(&beats, limits, at(14)).expect("PE 0 has been at it for 5 s");
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
        let beats = [(Some(0), executor.beat().clone())];
        let limits = ThreadLimits { stack: 0, event: Duration::from_secs(8), warn: WARN_AFTER };
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
        let mut told = (0..200)
            .filter_map(|second| watchdog.look(&beats, limits, Duration::from_secs(second)));
        let (long, warn) = told.next().expect("it comes to 5 s");
        let text = "event 7 of LP 3 at time 2.5 has been running for 5 s on PE 0, beside 45 s for which others had its core";
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
