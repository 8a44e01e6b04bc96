//! Steps PEs in threads, and watches them from the thread that asked for the run. What a thread
//! does is in [`worker`](self::worker).
//!
//! *At most one thread per core.* Where there are more PEs than cores, a thread steps several in
//! turn, neighbours together. Going on to the next PE takes nanoseconds, a switch of threads
//! microseconds, and no PE waits for one whose thread has no core. Threads that take all cores are
//! pinned to them. Before they yield, they wait for longer than an answer takes: a thread that
//! yields its core to another program gets it back milliseconds later.

mod assignment;
mod balance;
mod board;
mod gathering;
mod guard;
mod layout;
mod moving;
mod shared;
mod watching;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use warpline_kernel::PanicSilencer;
use warpline_memory::{Deserted, Exhausted, Region};
use warpline_transport::{CpuShare, pin};

use self::assignment::PeAssignment;
pub(crate) use self::layout::ThreadLayout;
use self::moving::Moving;
use self::shared::Threads;
use self::watching::{Left, pass_on, serve, watch_over};
use self::worker::{SteppedPe, Surroundings, Worker};
use crate::Error;
use crate::machine::core_time::SharedTime;
use crate::parallel::all_pes::AllPes;
use crate::parallel::any_pe::AnyPe;
use crate::parallel::driven::{Driven, ThreadTimes};
use crate::parallel::far::work::CommunicationWork;
use crate::parallel::monitor::LoopMonitor;
use crate::parallel::out_of_memory::OutOfMemory;
use crate::parallel::processes::lost;
use crate::plan::cores;

/// Rounds of idle steps before a thread with a core of its own yields: longer than an answer takes,
/// as yielding the core to another program costs a time slice of milliseconds.
const PATIENCE: u32 = 1024;
/// The same where there are more threads than cores: a thread soon yields to those it waits for.
const PATIENCE_OVERSUBSCRIBED: u32 = 64;

/// Has all threads stop if the one that watches them panics, or runs out of memory: it then waits
/// for them.
struct StopOnPanic<'s>(&'s AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// How many threads there are, and how they share the cores.
#[derive(Clone, Copy)]
struct Crew {
    threads: usize,
    /// How many PEs each of them has at first.
    share: usize,
    cpu_share: CpuShare,
    /// Rounds of idle steps before a thread yields.
    patience: u32,
    stack: usize,
}

impl Crew {
    fn new(pes: usize, layout: ThreadLayout, watch: &LoopMonitor<'_, '_>) -> Self {
        let cpu_share = watch
            .processes
            .as_ref()
            .map_or(CpuShare::alone(cores()), |processes| processes.group.cpu_share());
        let share = if layout.one_thread_per_pe { 1 } else { pes.div_ceil(cpu_share.threads()) };
        let threads = pes.div_ceil(share);
        let patience =
            if cpu_share.suffices_for(threads) { PATIENCE } else { PATIENCE_OVERSUBSCRIBED };
        Crew { threads, share, cpu_share, patience, stack: watch.run.stack }
    }

    /// Pins the current thread to its core, if the threads of all processes take all cores.
    fn pin(&self, number: usize) {
        let Crew { threads, cpu_share, .. } = self;
        pin(cpu_share.number as usize * threads + number, cpu_share.of as usize * threads);
    }

    /// Begins a thread.
    ///
    /// # Errors
    /// If the system refuses it. All others stop then.
    fn begin<'s, T: Send + 's>(
        &self,
        scope: &'s Scope<'s, '_>,
        name: String,
        number: usize,
        stop: &AtomicBool,
        work: impl FnOnce() -> T + Send + 's,
    ) -> Result<ScopedJoinHandle<'s, T>, Error> {
        let begun =
            thread::Builder::new().name(name).stack_size(self.stack).spawn_scoped(scope, work);
        begun.map_err(|cause| {
            // The other threads wait for the PEs of this one, and look at this flag now and then.
            stop.store(true, Ordering::Relaxed);
            Error::no_thread(number, self.threads, cause)
        })
    }
}

/// Steps PEs until all of them are done.
///
/// # Errors
/// If the system refuses a thread, another process is gone, or the run is to end and comes no
/// further.
pub(crate) fn drive(
    pes: &mut [&mut dyn AnyPe],
    watch: &mut LoopMonitor<'_, '_>,
    layout: ThreadLayout,
    all: &AllPes,
    communication: &mut CommunicationWork<'_>,
) -> Result<Driven, Error> {
    watch.begin(pes, all.first);
    let crew = Crew::new(pes.len(), layout, watch);
    let threads = Threads::new(pes.len(), crew.threads);
    let assignment = PeAssignment::new(pes.len(), crew.threads, crew.share);
    let mut moving = Moving::new(&assignment, layout);
    let ending = watch.ending(&all.region, all.pes);
    watch.processes.iter_mut().try_for_each(|processes| processes.begin())?;
    let surroundings = Surroundings {
        ending: &ending,
        communication,
        assignment: moving.are_on().then_some(&assignment),
        timed: moving.moves_single_pes() || layout.measured,
        patience: crew.patience,
        migrate_at_random: layout.migrate_at_random,
    };
    let ended = thread::scope(|scope| {
        let _no_thread_outlives_this_one = StopOnPanic(&threads.stop);
        let workers = begin_workers(scope, pes, &threads, surroundings, &all.region, crew)?;
        let couriers = begin_couriers(scope, communication, &threads, &all.region, crew)?;
        let looked = || moving.look(&threads, &assignment);
        let left = watch_over(&threads, communication, crew.patience, &ending, watch, looked);
        if let Some(why) = left {
            let error = leave(why, watch);
            workers.into_iter().chain(couriers).for_each(|thread| _ = thread.join());
            return Err(error);
        }
        let ended = join_all(workers, couriers, &threads, watch)?;
        if ended.full.is_some() {
            ending.break_off();
            pass_on(&ending, watch);
        }
        Ok(ended)
    });
    let closed = ended.and_then(|ended| {
        // A run that fails leaves messages on their way.
        let fails = ending.is_broken_off() || watch.run.control.is_abandoned();
        communication.close(watch.processes.as_deref_mut(), fails)?;
        Ok(ended)
    });
    let ended = closed.inspect_err(|_| communication.abandon())?;
    watch.run.go_on()?;
    let mut busy = vec![0; threads.boards.len()];
    ended.busy.iter().for_each(|(pe, time)| busy[*pe] = *time);
    assignment.into_arriving().for_each(|stepped| busy[stepped.number] = stepped.busy);
    threads.into_rows().for_each(|rows| watch.merge.add(rows));
    Ok(Driven {
        full: ended.full,
        cut_short: ending.earlier_than(watch.until),
        times: Some(ThreadTimes { times: ended.times, share: crew.share }),
        moved: moving.moved(),
        busy,
        oversubscribed: !crew.cpu_share.suffices_for(crew.threads + communication.threads()),
        couriers: None,
        machine: None,
    })
}

/// The error of a run whose threads are left. A process other than the first need not wait for
/// them, and nobody waits for those of a run that comes no further.
fn leave(why: Left, watch: &mut LoopMonitor<'_, '_>) -> Error {
    let why = match why {
        Left::Lost(why) => why,
        Left::NoEnd { seconds } => {
            watch.run.control.leave(Error::NoEnd { seconds });
            return Error::NoEnd { seconds };
        }
    };
    let processes = watch.processes.as_mut().expect("only one of several processes is lost");
    let error = lost(&mut processes.group, why);
    if let Error::Share(share) = &error {
        watch.run.control.leave(Error::Share(share.clone()));
    }
    error
}

/// What a thread leaves.
#[derive(Default)]
struct ThreadEnd {
    /// Its PEs, and how long they were at work, in nanoseconds.
    busy: Vec<(usize, u64)>,
    /// Where memory ran out, if it did.
    full: Option<OutOfMemory>,
    /// How its time went, if it does not belong to one PE alone.
    time: Option<SharedTime>,
}

/// What several threads leave.
#[derive(Default)]
struct ThreadEnds {
    busy: Vec<(usize, u64)>,
    full: Option<OutOfMemory>,
    /// By thread.
    times: Vec<Option<SharedTime>>,
}

/// Threads that step PEs or carry messages.
type Begun<'s> = Vec<ScopedJoinHandle<'s, ThreadEnd>>;

/// Begins the threads of PEs, each with neighbours.
fn begin_workers<'s, 'w: 's, 'p: 's>(
    scope: &'s Scope<'s, '_>,
    pes: &'p mut [&mut dyn AnyPe],
    threads: &'w Threads,
    surroundings: Surroundings<'w, 'p>,
    region: &'w Region,
    crew: Crew,
) -> Result<Begun<'s>, Error> {
    let mut stepped =
        pes.iter_mut().map(|pe| &mut **pe as &mut dyn AnyPe).enumerate().map(SteppedPe::new);
    let mut begin = |number| {
        let pes = stepped.by_ref().take(crew.share).collect();
        let mut worker = Worker::new(number, pes, threads.worker_guard(number), surroundings);
        let work = move || {
            crew.pin(number);
            let _member = region.enter();
            let (full, time) = worker.work();
            let pes = worker.into_pes();
            let busy = pes.into_iter().map(|stepped| (stepped.number, stepped.busy)).collect();
            ThreadEnd { busy, full, time }
        };
        crew.begin(scope, format!("warpline-{number}"), number, &threads.stop, work)
    };
    (0..crew.threads).map(&mut begin).collect()
}

/// Begins the threads that only send and receive, if there are any.
fn begin_couriers<'s, 'w: 's>(
    scope: &'s Scope<'s, '_>,
    communication: &'w CommunicationWork<'_>,
    threads: &'w Threads,
    region: &'w Region,
    crew: Crew,
) -> Result<Begun<'s>, Error> {
    let begin = |number| {
        let guard = threads.guard();
        let work = move || {
            let _guard = guard;
            let _member = region.enter();
            let _quiet = PanicSilencer::new();
            serve(communication, number, threads, crew.patience);
            ThreadEnd::default()
        };
        crew.begin(scope, format!("warpline-c{number}"), number, &threads.stop, work)
    };
    (0..communication.threads()).map(begin).collect()
}

/// What all threads leave: all of them have ended, whatever became of the first.
///
/// # Errors
/// If one waited for a lock of a process that is gone.
fn join_all(
    workers: Begun<'_>,
    couriers: Begun<'_>,
    threads: &Threads,
    watch: &mut LoopMonitor<'_, '_>,
) -> Result<ThreadEnds, Error> {
    let workers = join(workers, &threads.bug);
    let couriers = join(couriers, &threads.bug);
    let joined = workers.and_then(|workers| {
        let full = workers.full.or(couriers?.full);
        Ok(ThreadEnds { full, ..workers })
    });
    joined.map_err(|Deserted| {
        let processes = watch.processes.as_mut();
        let processes = processes.expect("a lock without a holder belongs to several processes");
        let why = processes.group.check().expect_err("whoever has had the lock is gone");
        lost(&mut processes.group, why)
    })
}

/// What threads leave.
///
/// # Errors
/// If one waited for a lock of a process that is gone.
fn join(threads: Begun<'_>, bug: &Mutex<String>) -> Result<ThreadEnds, Deserted> {
    let mut all = ThreadEnds::default();
    let mut deserted = false;
    for thread in threads {
        match thread.join() {
            Ok(ThreadEnd { busy, full, time }) => {
                all.busy.extend(busy);
                all.full = all.full.or(full);
                all.times.push(time);
            }
            Err(panic) => match Exhausted::from_panic(panic) {
                Ok(why) => all.full = all.full.or(Some(OutOfMemory { place: None, why })),
                Err(panic) if panic.is::<Deserted>() => deserted = true,
                Err(_) => panic!(
                    "a mistake of the engine: {}",
                    bug.lock().unwrap_or_else(PoisonError::into_inner)
                ),
            },
        }
    }
    if deserted { Err(Deserted) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    fn joined(threads: Vec<fn() -> ThreadEnd>) -> Result<ThreadEnds, Deserted> {
        let bug = Mutex::new("oh no".to_owned());
        thread::scope(|scope| {
            join(threads.into_iter().map(|thread| scope.spawn(thread)).collect(), &bug)
        })
    }

    #[test]
    fn a_lock_of_a_process_that_is_gone_is_no_mistake_of_the_engine() {
        let ends = || ThreadEnd { busy: vec![(1, 0)], ..ThreadEnd::default() };
        let deserted = || resume_unwind(Box::new(Deserted));
        assert_eq!(joined(vec![ends, ends]).unwrap().busy, [(1, 0), (1, 0)]);
        assert!(joined(vec![ends, deserted, deserted, ends]).is_err());
    }

    #[test]
    #[should_panic(expected = "a mistake of the engine: oh no")]
    fn any_other_panic_is_one() {
        let _ = joined(vec![|| panic!("oh no")]);
    }
}
