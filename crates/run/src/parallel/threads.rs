//! Steps PEs in threads, at most as many as there are processors, and watches them from the thread
//! that asked for the run. What a thread does is in [`worker`](super::worker).
//!
//! *At most one thread per core.* Where there are more PEs than cores, a thread steps several in
//! turn, neighbours together. Going on to the next takes nanoseconds, where a switch of threads
//! takes microseconds, and no PE waits for one whose thread was not given a core. Threads that take
//! all cores are pinned to them. They wait for longer than an answer takes before they yield: a
//! thread that yields its core to another program gets it back milliseconds later.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use warpline_base::Moment;
use warpline_kernel::PanicSilencer;
use warpline_memory::{Apart, Deserted, Exhausted, give_back_payloads};
use warpline_transport::{CpuShare, Lost, pin};

use super::any_pe::AnyPe;
use super::balance::Balance;
use super::board::{Board, PeStatus};
use super::communication_work::CommunicationWork;
use super::driven::{Driven, ThreadTimes};
use super::ending::Ending;
use super::gathering::Gathering;
use super::monitor::LoopMonitor;
use super::pe_assignment::PeAssignment;
use super::processes::lost;
use super::worker::{SteppedPe, SteppedPes, Surroundings, ThreadGuard, Worker, WorkerGuard};
use super::{AllPes, OutOfMemory};
use crate::Error;
use crate::machine::core_time::{CoreClock, SharedTime};
use crate::plan::cores;

/// How often the boards are read.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often what PEs say to all others is passed on to processes that share no memory with this one.
const PASS_ON_EVERY: Duration = Duration::from_millis(1);
/// After how many looks PEs may be moved.
const LOOKS_PER_MOVE: u32 = 2;
/// Rounds of idle steps before a thread yields. With a core of its own it waits longer than an answer takes, as yielding the core to
/// another program costs a time slice of milliseconds. If there are more threads than cores, it soon yields to those it waits for.
const PATIENCE: u32 = 1024;
const PATIENCE_IN_CROWD: u32 = 64;

/// Has all threads stop if the one that watches them panics, or runs out of memory: it waits for them then.
struct StopOnPanic<'s>(&'s AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// How PEs are divided among threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadLayout {
    /// Each has a thread of its own, however few cores there are.
    pub(crate) one_thread_per_pe: bool,
    /// They move to threads that have less to do.
    pub(crate) moves: bool,
    /// It is measured how long they are at work, whether they move or not.
    pub(crate) measured: bool,
    /// For tests: they move at random, all the time, by this seed.
    pub(crate) migrate_at_random: Option<u64>,
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
        let cpu_share = watch.processes.as_ref().map_or(CpuShare::alone(cores()), |processes| processes.group.cpu_share());
        let share = if layout.one_thread_per_pe { 1 } else { pes.div_ceil(cpu_share.threads()) };
        let threads = pes.div_ceil(share);
        let patience = if cpu_share.suffices_for(threads) { PATIENCE } else { PATIENCE_IN_CROWD };
        Crew { threads, share, cpu_share, patience, stack: watch.run.stack }
    }

    /// Pins the thread to its core, if the threads of all processes take all cores.
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
        (name, number): (String, usize),
        stop: &AtomicBool,
        work: impl FnOnce() -> T + Send + 's,
    ) -> Result<ScopedJoinHandle<'s, T>, Error> {
        let begun = thread::Builder::new().name(name).stack_size(self.stack).spawn_scoped(scope, work);
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
/// If the system refuses a thread, or another process is gone.
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
    let surroundings = Surroundings { ending: &ending, communication, assignment: moving.are_on().then_some(&assignment) };
    let timed = moving.moves || layout.measured;
    let ended = thread::scope(|scope| {
        let _no_thread_outlives_this_one = StopOnPanic(&threads.stop);
        let workers = begin_workers(scope, pes, &threads, surroundings, (crew, timed, layout.migrate_at_random))?;
        let couriers = begin_couriers(scope, communication, &threads, crew)?;
        let looked = || moving.look(&threads, &assignment);
        let gone = watch_over(&threads, (communication, crew.patience), &ending, watch, looked);
        if let (Some(why), Some(processes)) = (gone, &mut watch.processes) {
            let error = lost(&mut processes.group, why);
            if let Error::Share(share) = &error {
                watch.run.control.leave(share.clone());
            }
            workers.into_iter().for_each(|worker| _ = worker.join());
            couriers.into_iter().for_each(|courier| _ = courier.join());
            return Err(error);
        }
        // All of them, whatever became of the first.
        let (workers, couriers) = (join(workers, &threads.bug), join(couriers, &threads.bug));
        let joined = workers.and_then(|workers| Ok((workers, couriers?)));
        let ((pes, full, times), (_, none_to_send, _)) = joined.map_err(|Deserted| {
            let processes = watch.processes.as_mut().expect("a lock without a holder belongs to several processes");
            let why = processes.group.check().expect_err("whoever has had the lock is gone");
            lost(&mut processes.group, why)
        })?;
        let full = full.or(none_to_send);
        if full.is_some() {
            ending.break_off();
            pass_on(&ending, watch);
        }
        Ok::<_, Error>((pes, full, times))
    });
    let closed = ended.and_then(|ended| {
        // A run that fails leaves messages on their way.
        let fails = ending.is_broken_off() || watch.run.control.is_abandoned();
        communication.close(watch.processes.as_deref_mut(), fails)?;
        Ok(ended)
    });
    let (stepped, full, times) = closed.inspect_err(|_| communication.abandon())?;
    watch.run.go_on()?;
    let mut busy = vec![0; threads.boards.len()];
    stepped.iter().for_each(|(number, time)| busy[*number] = *time);
    assignment.into_arriving().for_each(|stepped| busy[stepped.number] = stepped.busy);
    for board in threads.boards {
        watch.merge.add(board.0.into_inner().unwrap_or_else(PoisonError::into_inner).rows);
    }
    Ok(Driven {
        full,
        cut_short: ending.earlier_than(watch.until),
        times: Some(ThreadTimes { times, share: crew.share }),
        moved: moving.moved(),
        busy,
        crowded: !crew.cpu_share.suffices_for(crew.threads + communication.threads()),
        couriers: None,
    })
}

/// Moves PEs between threads.
struct Moving {
    layout: ThreadLayout,
    /// Whether single PEs move.
    moves: bool,
    /// Whether all of them may be given one thread.
    gathers: bool,
    balance: Balance,
    gathering: Gathering,
    looks: u32,
}

impl Moving {
    fn new(assignment: &SteppedPes<'_>, layout: ThreadLayout) -> Self {
        let (pes, threads) = (assignment.pes(), assignment.threads());
        Moving {
            layout,
            moves: assignment.may_move() && (layout.moves || layout.migrate_at_random.is_some()),
            gathers: threads > 1 && layout.moves && layout.migrate_at_random.is_none(),
            balance: Balance::new(pes, threads),
            gathering: Gathering::new(),
            looks: 0,
        }
    }

    fn are_on(&self) -> bool {
        self.moves || self.gathers
    }

    /// Moves PEs where that helps.
    fn look(&mut self, threads: &Threads, assignment: &SteppedPes<'_>) {
        self.looks += 1;
        if self.gathers
            && let Some(status) = threads.statuses().into_iter().reduce(PeStatus::and)
        {
            self.gathering.look(Instant::now(), status, assignment);
        }
        if self.moves && self.layout.moves && !assignment.are_gathered() && self.looks.is_multiple_of(LOOKS_PER_MOVE) {
            let times = threads.clocks.iter().map(|clock| clock.0.time()).collect();
            self.balance.even_out(assignment, threads.statuses(), times);
        }
    }

    /// How often a PE was given to another thread.
    fn moved(&self) -> u64 {
        self.balance.moved + self.gathering.moved
    }
}

/// What the threads of PEs share.
struct Threads {
    /// By PE.
    boards: Vec<Board>,
    /// By thread.
    clocks: Vec<Apart<CoreClock>>,
    /// How many rows are on the boards.
    rows: AtomicUsize,
    /// How many threads have not ended.
    left: AtomicUsize,
    /// Has all of them end.
    stop: AtomicBool,
    /// The message of the first panic.
    bug: Mutex<String>,
}

impl Threads {
    fn new(pes: usize, threads: usize) -> Self {
        Threads {
            boards: (0..pes).map(|_| Board::default()).collect(),
            clocks: (0..threads).map(|_| Apart::default()).collect(),
            rows: AtomicUsize::new(0),
            left: AtomicUsize::new(threads),
            stop: AtomicBool::new(false),
            bug: Mutex::default(),
        }
    }

    fn have_ended(&self) -> bool {
        // Relaxed: whoever needs what they did joins them.
        self.left.load(Ordering::Relaxed) == 0
    }

    fn guard(&self) -> ThreadGuard<'_> {
        ThreadGuard { stop: &self.stop, bug: &self.bug }
    }

    /// The guard of a thread of PEs, watched by the current thread.
    fn worker_guard(&self, number: usize) -> WorkerGuard<'_> {
        WorkerGuard {
            thread: self.guard(),
            left: &self.left,
            boards: &self.boards,
            clock: &self.clocks[number].0,
            rows: &self.rows,
            watcher: thread::current(),
        }
    }

    /// The status of each PE.
    fn statuses(&self) -> Vec<PeStatus> {
        self.boards.iter().map(|board| board.0.lock().unwrap_or_else(PoisonError::into_inner).status).collect()
    }
}

/// The threads that step PEs or carry messages, and what each leaves.
type Begun<'s, T> = Vec<ScopedJoinHandle<'s, Ended<T>>>;

/// Begins the threads of PEs, each with neighbours. Each leaves the numbers of its PEs and how long they were at work.
fn begin_workers<'s, 'w: 's, 'p: 's>(
    scope: &'s Scope<'s, '_>,
    pes: &'p mut [&mut dyn AnyPe],
    threads: &'w Threads,
    surroundings: Surroundings<'w, 'p>,
    (crew, timed, migrate_at_random): (Crew, bool, Option<u64>),
) -> Result<Begun<'s, (usize, u64)>, Error> {
    let mut stepped = pes.iter_mut().map(|pe| &mut **pe as &mut dyn AnyPe).enumerate().map(SteppedPe::new);
    let mut begin = |number| {
        let pes = stepped.by_ref().take(crew.share).collect();
        let mut worker = Worker::new(number, pes, threads.worker_guard(number), surroundings, timed, crew.patience);
        let work = move || {
            crew.pin(number);
            let (full, time) = worker.work(migrate_at_random);
            (worker.into_pes().into_iter().map(|stepped| (stepped.number, stepped.busy)).collect(), full, time)
        };
        crew.begin(scope, (format!("warpline-{number}"), number), &threads.stop, work)
    };
    (0..crew.threads).map(&mut begin).collect()
}

/// Begins the threads that only send and receive, if there are any.
fn begin_couriers<'s, 'w: 's>(
    scope: &'s Scope<'s, '_>,
    communication: &'w CommunicationWork<'_>,
    threads: &'w Threads,
    crew: Crew,
) -> Result<Begun<'s, ()>, Error> {
    let begin = |number| {
        let guard = threads.guard();
        let work = move || {
            let (_guard, _quiet) = (guard, PanicSilencer::new());
            serve(communication, number, threads, crew.patience);
            // Nobody waits until the thread has done so itself.
            give_back_payloads();
            (Vec::new(), None, None)
        };
        crew.begin(scope, (format!("warpline-c{number}"), number), &threads.stop, work)
    };
    (0..communication.threads()).map(begin).collect()
}

/// Waits for so long, or until a thread wakes this one, and does meanwhile what the first process orders, if it may order anything.
fn wait_for(time: Duration, watch: &mut LoopMonitor<'_, '_>) {
    let since = Instant::now();
    while let Some(patience) = watch.processes.as_ref().and_then(|processes| processes.patience()) {
        let parked = Instant::now();
        thread::park_timeout(patience);
        obey(watch);
        if parked.elapsed() < patience || since.elapsed() >= time {
            return;
        }
    }
    thread::park_timeout(time.saturating_sub(since.elapsed()));
}

/// Does what there is to do for communication, for so long or until all threads of PEs have ended, and does meanwhile what the first process orders.
fn serve_for(time: Duration, communication: &CommunicationWork<'_>, threads: &Threads, watch: &mut LoopMonitor<'_, '_>, patience: u32) {
    let (since, mut obeyed, mut idle) = (Instant::now(), Duration::ZERO, 0u32);
    while !threads.have_ended() && since.elapsed() < time {
        let orders = watch.processes.as_ref().and_then(|processes| processes.patience());
        if orders.is_some_and(|patience| since.elapsed() - obeyed >= patience) {
            obey(watch);
            obeyed = since.elapsed();
        }
        idle = if communication.work() { 0 } else { idle.saturating_add(1) };
        if idle > patience {
            thread::yield_now();
        }
    }
}

/// Does what the first process has ordered.
fn obey(watch: &mut LoopMonitor<'_, '_>) {
    // If a process is gone, the next look finds that, too.
    watch.processes.iter_mut().for_each(|processes| _ = processes.obey());
}

/// Does what one of the threads has to do for communication until all threads of PEs have ended.
fn serve(communication: &CommunicationWork<'_>, number: usize, threads: &Threads, patience: u32) {
    let mut idle = 0u32;
    while !threads.have_ended() && !threads.stop.load(Ordering::Relaxed) {
        idle = if communication.work_as(number) { 0 } else { idle.saturating_add(1) };
        if idle > patience {
            thread::yield_now();
        } else if idle > 0 {
            std::hint::spin_loop();
        }
    }
}

/// Looks on until all threads have ended. Returns which process is gone, if one is; then, in a process that nobody needs any more, threads may
/// still be busy.
fn watch_over(
    threads: &Threads,
    (communication, patience): (&CommunicationWork<'_>, u32),
    ending: &Ending<'_>,
    watch: &mut LoopMonitor<'_, '_>,
    mut looked: impl FnMut(),
) -> Option<Lost> {
    let passes_on = watch.processes.as_ref().is_some_and(|processes| processes.group.passes_on());
    let every = if passes_on { PASS_ON_EVERY } else { LOOK_EVERY };
    let (mut gone, mut passed_on) = (None, 0);
    while !threads.have_ended() {
        if communication.is_for_watcher() {
            serve_for(every, communication, threads, watch, patience);
        } else {
            wait_for(watch.run.selector.patience().map_or(every, |patience| patience.min(every)), watch);
        }
        pass_on(ending, watch);
        passed_on += 1;
        if !threads.have_ended() && every * passed_on < LOOK_EVERY && threads.rows.load(Ordering::Relaxed) == 0 {
            continue;
        }
        passed_on = 0;
        if let (Some(why), Some(processes)) = (communication.trouble(), &mut watch.processes) {
            processes.group.give_up(why);
        }
        if let Err(why) = look(threads, ending, watch) {
            threads.stop.store(true, Ordering::Relaxed);
            gone = gone.or(Some(why));
            if watch.processes.as_ref().is_some_and(|processes| !processes.group.is_first()) {
                break;
            }
        }
        looked();
        if watch.run.control.is_abandoned() {
            threads.stop.store(true, Ordering::Relaxed);
            watch.processes.iter().for_each(|processes| processes.group.stop());
        }
    }
    // The others have to know what the last PEs have said.
    pass_on(ending, watch);
    gone
}

/// What a thread leaves: its PEs, where memory ran out, if it did, and how its time went, if it does not belong to one PE alone.
type Ended<T> = (Vec<T>, Option<OutOfMemory>, Option<SharedTime>);

/// What all threads leave when they have ended, with a time for each.
type AllEnded<T> = (Vec<T>, Option<OutOfMemory>, Vec<Option<SharedTime>>);

/// What threads leave.
///
/// # Errors
/// If one waited for a lock of a process that is gone.
fn join<T>(workers: Begun<'_, T>, bug: &Mutex<String>) -> Result<AllEnded<T>, Deserted> {
    let (mut pes, mut full, mut times, mut deserted) = (Vec::new(), None, Vec::new(), false);
    for worker in workers {
        match worker.join() {
            Ok((stepped, why, time)) => {
                full = full.or(why);
                pes.extend(stepped);
                times.push(time);
            }
            Err(panic) => match Exhausted::from_panic(panic) {
                Ok(why) => full = full.or(Some(OutOfMemory { place: None, why })),
                Err(panic) if panic.is::<Deserted>() => deserted = true,
                Err(_) => panic!("a mistake of the engine: {}", bug.lock().unwrap_or_else(PoisonError::into_inner)),
            },
        }
    }
    if deserted { Err(Deserted) } else { Ok((pes, full, times)) }
}

/// Passes on what PEs say to all others, to processes that share no memory with this one.
fn pass_on(ending: &Ending<'_>, watch: &mut LoopMonitor<'_, '_>) {
    let Some(processes) = &mut watch.processes else { return };
    if processes.group.passes_on() {
        processes.group.exchange(ending.tally());
    }
}

/// Reads all boards, and takes their rows. Has the PEs come to an end if another engine is to go on.
///
/// # Errors
/// If another process is gone.
fn look(threads: &Threads, ending: &Ending<'_>, watch: &mut LoopMonitor<'_, '_>) -> Result<(), Lost> {
    let Threads { boards, clocks, rows, .. } = threads;
    if let Some(processes) = &mut watch.processes {
        processes.obey()?;
        if processes.waits_with_rows() {
            return Ok(());
        }
    }
    let (mut status, mut settled) = (None, Some(Moment::Never));
    let mut loads = (0.0f64, 0.0f64);
    for board in boards {
        let mut notice = board.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.fetch_sub(notice.rows.len(), Ordering::Relaxed);
        watch.merge.add(std::mem::take(&mut notice.rows));
        status = Some(status.map_or(notice.status, |status: PeStatus| status.and(notice.status)));
        let load = notice.status.load_since(&PeStatus::default());
        loads = (loads.0.max(load), loads.1 + load);
        settled = settled.zip(notice.settled).map(|(a, b)| watch.merge.earlier(a, b));
    }
    let mut status = status.unwrap_or_default();
    watch.run.note_memory(Instant::now());
    if let Some(processes) = &mut watch.processes {
        processes.exchange(&mut status, &mut settled, &mut watch.merge)?;
    }
    settled.iter().try_for_each(|settled| watch.pass_on_before(settled))?;
    watch.processes.iter_mut().try_for_each(|processes| processes.go_on(&watch.rows))?;
    let unevenness = (loads.1 > 0.0).then(|| loads.0 * boards.len() as f64 / loads.1);
    watch.note(status, unevenness, clocks.iter().map(|clock| clock.0.time()).sum(), ending);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    fn joined(threads: Vec<fn() -> Ended<u32>>) -> Result<AllEnded<u32>, Deserted> {
        let bug = Mutex::new("oh no".to_owned());
        thread::scope(|scope| join(threads.into_iter().map(|thread| scope.spawn(thread)).collect(), &bug))
    }

    #[test]
    fn a_lock_of_a_process_that_is_gone_is_no_mistake_of_the_engine() {
        let ends = || (vec![1], None, None);
        let deserted = || resume_unwind(Box::new(Deserted));
        assert_eq!(joined(vec![ends, ends]).unwrap().0, [1, 1]);
        assert!(joined(vec![ends, deserted, deserted, ends]).is_err());
    }

    #[test]
    #[should_panic(expected = "a mistake of the engine: oh no")]
    fn any_other_panic_is_one() {
        let _ = joined(vec![|| panic!("oh no")]);
    }
}
