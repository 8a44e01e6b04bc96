//! A run in a thread of its own, watched by the thread that called for it.
//!
//! A handler never runs in the caller's thread, so it has the same stack in every run: that of all
//! threads of engines. The caller passes progress on, and reads what each thread is doing (`Beat`,
//! two words that a context writes for each event). If these words stand still within one step, an
//! event goes on and on: the caller warns, and in the end gives the run up. Rust cannot stop a
//! thread, so that one goes on until the program ends; this is why models are `'static`.

pub(crate) mod drive;
pub(crate) mod end_patience;
mod watchdog;

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use warpline_model::engine::Beat;

pub(crate) use self::drive::Listener;
pub use self::drive::Progress;
use self::watchdog::{Beats, Watchdog};
use crate::outcome::error::within_memory;
use crate::{Error, LongEvent};

/// How often the caller looks whether events go on and on.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long an event may take before there is a warning.
pub(crate) const WARN_AFTER: Duration = Duration::from_secs(5);

/// Ends runs early, from any thread or a signal handler; see
/// [`Simulation::stop_with`](crate::Simulation::stop_with).
#[derive(Clone, Debug, Default)]
pub struct StopSwitch(Arc<AtomicBool>);

impl StopSwitch {
    /// Ends the runs that have this switch, as soon as all their PEs agree on how far they have
    /// come. A run that comes no further for some seconds, as its model goes on and on at one
    /// virtual time, fails with [`Error::NoEnd`].
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

/// What a run tells its caller.
enum Told {
    Progress(Progress),
    /// The caller need not wait any longer.
    Left(Error),
}

/// What a run has in common with its caller.
#[derive(Clone, Default)]
pub(crate) struct Control {
    /// Set once the caller no longer waits for the run.
    abandoned: Arc<AtomicBool>,
    /// What the threads of the run are doing.
    beats: Arc<Mutex<Beats>>,
    /// Hears of progress, if there is one.
    listener: Option<Listener>,
    /// To the caller, while it waits.
    caller: Option<Sender<Told>>,
}

impl Control {
    /// Whether the caller no longer waits for the run.
    pub(crate) fn is_abandoned(&self) -> bool {
        // Relaxed: it publishes nothing else.
        self.abandoned.load(Ordering::Relaxed)
    }

    /// # Errors
    /// If the caller no longer waits for the run.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        if self.is_abandoned() { Err(Error::Abandoned) } else { Ok(()) }
    }

    /// Has the caller go on without the threads of the run, which may never end: this process is to
    /// end, as the run has lost another one, or the run comes no further.
    pub(crate) fn leave(&self, why: Error) {
        if let Some(caller) = &self.caller {
            // A caller that no longer waits need not know.
            let _ = caller.send(Told::Left(why));
        }
    }

    /// Has the caller watch this thread of the run.
    pub(crate) fn watch(&self, pe: Option<u32>, beat: &Arc<Beat>) {
        self.watch_all(std::iter::once((pe, beat)));
    }

    /// [Watches](Self::watch) all of these at once: there may be hundreds of thousands.
    pub(crate) fn watch_all<'b>(&self, more: impl Iterator<Item = (Option<u32>, &'b Arc<Beat>)>) {
        let mut beats = self.beats.lock().unwrap_or_else(PoisonError::into_inner);
        // Where an executor is gone, only the list still has its beat.
        beats.retain(|(_, beat)| Arc::strong_count(beat) > 1);
        beats.extend(more.map(|(pe, beat)| (pe, beat.clone())));
    }

    /// The listener to progress, if there is one.
    pub(crate) fn listener(&self) -> Option<Listener> {
        self.listener.clone()
    }

    /// The same without a listener: for a process whose progress is not reported.
    pub(crate) fn without_listener(&self) -> Self {
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
    /// The longest that an event may take before there is a warning.
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
    let over = sender.clone();
    let caller = sender.clone();
    let listener: Listener = Arc::new(move |progress| {
        // A caller that no longer waits need not know.
        let _ = sender.send(Told::Progress(progress));
    });
    warpline_memory::report_crashes();
    warpline_memory::keep_reserve();
    let control = Control {
        listener: audience.progress.is_some().then_some(listener),
        caller: Some(caller),
        ..Control::default()
    };
    let outcome = Arc::new(Mutex::new(None));
    let for_run = outcome.clone();
    let given = control.clone();
    let work = move || {
        // The channel closes when the thread drops the last sender.
        let _over = over;
        let outcome = within_memory(|| run(given));
        *for_run.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    };
    let ended = wait_for(Box::new(work), limits, control, audience, &told);
    warpline_memory::release_reserve();
    ended?;
    let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.unwrap_or_else(|| unreachable!("a run that has ended has an outcome"))
}

/// Does the work of a run in a thread of its own, and looks on. Compiled once for all models.
fn wait_for(
    work: Box<dyn FnOnce() + Send>,
    limits: ThreadLimits,
    control: Control,
    audience: Audience<'_>,
    told: &Receiver<Told>,
) -> Result<(), Error> {
    let worker = Builder::new().name("warpline".to_owned()).stack_size(limits.stack);
    let worker = worker.spawn(work).map_err(|cause| Error::no_thread(0, 1, cause))?;
    let mut run = RunThread { abandoned: control.abandoned.clone(), worker: Some(worker) };
    let beats = control.beats.clone();
    drop(control);
    match look_on(limits, audience, told, &beats) {
        None => run.join(),
        Some(why) => {
            run.leave();
            return Err(why);
        }
    }
    Ok(())
}

/// The thread of a run, for its caller. If it is dropped unjoined, the audience has panicked: the
/// run is abandoned and ends.
struct RunThread {
    abandoned: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
}

impl RunThread {
    fn join(&mut self) {
        let Some(worker) = self.worker.take() else { unreachable!("a run is joined once") };
        worker.join().unwrap_or_else(|panic: Box<dyn Any + Send>| resume_unwind(panic));
    }

    /// Abandons the run without waiting for it: threads end that can.
    fn leave(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.worker = None;
    }
}

impl Drop for RunThread {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.abandoned.store(true, Ordering::Relaxed);
            let _ = worker.join();
        }
    }
}

/// Passes progress on until the run is over, or until it need not be waited for; returns why, then.
fn look_on(
    limits: ThreadLimits,
    mut audience: Audience<'_>,
    told: &Receiver<Told>,
    beats: &Mutex<Beats>,
) -> Option<Error> {
    let every = LOOK_EVERY.min(limits.event).min(limits.warn);
    let mut watchdog = Watchdog::of_system();
    let mut looked = Instant::now();
    let mut clock = Duration::ZERO;
    loop {
        match told.recv_timeout(every) {
            Ok(Told::Left(why)) => return Some(why),
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
        // If this thread slept for longer, the whole process may have been stopped for a while.
        clock += (now - looked).min(2 * every);
        looked = now;
        let beats = beats.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((long, warn)) = watchdog.look(&beats, limits.warn.min(limits.event), clock) else {
            continue;
        };
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
