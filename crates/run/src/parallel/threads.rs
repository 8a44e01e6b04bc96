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
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use warpline_base::{Moment, VirtualTime};
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{Measured, PanicSilencer, Parts, Pe, Port};
use warpline_memory::{Apart, Deserted, Exhausted, give_back_payloads};
use warpline_model::Model;
use warpline_transport::{CpuShare, Lost, pin};

use super::balance::Balance;
use super::board::{Board, PeStatus};
use super::communication_work::CommunicationWork;
use super::control_messages::LoopEnd;
use super::ending::Ending;
use super::gathering::Gathering;
use super::monitor::LoopMonitor;
use super::pe_assignment::PeAssignment;
use super::plan::cores;
use super::processes::lost;
use super::worker::{SteppedPe, Surroundings, ThreadGuard, Worker, WorkerGuard};
use super::{AllPes, LoopOutcome, OutOfMemory};
use crate::Error;
use crate::machine::core_time::{CoreClock, SharedTime};

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

/// Steps PEs until all of them are done.
///
/// # Errors
/// If the system refuses a thread.
pub(crate) fn drive<M: Model, Q: PendingSet + Send, P: Port<M::Event> + Send>(
    pes: Vec<Pe<'_, M, Q, P>>,
    mut watch: LoopMonitor<'_, '_>,
    layout: ThreadLayout,
    all: AllPes,
    mut communication: CommunicationWork<M::Event>,
) -> Result<LoopOutcome<M>, Error> {
    watch.begin();
    for (pe, number) in pes.iter().zip(all.first..) {
        watch.run.control.watch(Some(number), pe.beat());
    }
    let boards: Vec<Board> = pes.iter().map(|_| Board::default()).collect();
    let cpu_share = watch.processes.as_ref().map_or(CpuShare::alone(cores()), |processes| processes.group.cpu_share());
    let share = if layout.one_thread_per_pe { 1 } else { pes.len().div_ceil(cpu_share.threads()) };
    let threads = pes.len().div_ceil(share);
    let patience = if cpu_share.suffices_for(threads) { PATIENCE } else { PATIENCE_IN_CROWD };
    let (stop, left, bug) = (AtomicBool::new(false), AtomicUsize::new(threads), Mutex::default());
    let clocks: Vec<Apart<CoreClock>> = (0..threads).map(|_| Apart::default()).collect();
    let (assignment, mut balance, mut looks) = (PeAssignment::new(pes.len(), threads, share), Balance::new(pes.len(), threads), 0u32);
    let (moves, mut gathering) = (assignment.may_move() && (layout.moves || layout.migrate_at_random.is_some()), Gathering::new());
    let gathers = threads > 1 && layout.moves && layout.migrate_at_random.is_none();
    let rows = AtomicUsize::new(0);
    let ending = watch.ending(&all.region, all.pes);
    watch.processes.iter_mut().try_for_each(|processes| processes.begin())?;
    let (first_thread, all_threads) = (cpu_share.number as usize * threads, cpu_share.of as usize * threads);
    let seen = Threads { boards: &boards, clocks: &clocks, rows: &rows, left: &left, stop: &stop };
    let ended = thread::scope(|scope| {
        let _no_thread_outlives_this_one = StopOnPanic(&stop);
        let (watcher, guard) = (thread::current(), || ThreadGuard { stop: &stop, bug: &bug });
        let (mut workers, mut couriers) = (Vec::new(), Vec::new());
        for (number, pes) in deal(pes.into_iter().enumerate().map(SteppedPe::new).collect(), share).into_iter().enumerate() {
            let (boards, clock) = (&boards[..], &clocks[number].0);
            let guard = WorkerGuard { thread: guard(), left: &left, boards, clock, rows: &rows, watcher: watcher.clone() };
            let timed = moves || layout.measured;
            let surroundings = Surroundings {
                ending: &ending,
                couriers: communication.couriers.as_ref(),
                assignment: (moves || gathers).then_some(&assignment),
            };
            let mut worker = Worker::new(number, pes, guard, surroundings, timed, patience);
            let work = move || {
                pin(first_thread + number, all_threads);
                let (full, time) = worker.work(layout.migrate_at_random);
                (worker.into_pes(), full, time)
            };
            let builder = thread::Builder::new().name(format!("warpline-{number}")).stack_size(watch.run.stack);
            let worker = builder.spawn_scoped(scope, work);
            workers.push(worker.map_err(|cause| {
                // The other threads wait for the PEs of this one, and look at this flag now and then.
                stop.store(true, Ordering::Relaxed);
                Error::no_thread(number, threads, cause)
            })?);
        }
        for number in 0..communication.threads() {
            let (communication, seen) = (&communication, &seen);
            let guard = guard();
            let work = move || {
                let (_guard, _quiet) = (guard, PanicSilencer::new());
                serve(communication, number, seen, patience);
                // Nobody waits until the thread has done so itself.
                give_back_payloads();
                (Vec::<()>::new(), None, None)
            };
            let builder = thread::Builder::new().name(format!("warpline-c{number}")).stack_size(watch.run.stack);
            couriers.push(builder.spawn_scoped(scope, work).map_err(|cause| {
                stop.store(true, Ordering::Relaxed);
                Error::no_thread(number, threads, cause)
            })?);
        }
        let even_out = || {
            looks += 1;
            if gathers && let Some(status) = statuses(&boards).into_iter().reduce(PeStatus::and) {
                gathering.look(Instant::now(), status, &assignment);
            }
            if moves && layout.moves && !assignment.are_gathered() && looks.is_multiple_of(LOOKS_PER_MOVE) {
                balance.even_out(&assignment, statuses(&boards), clocks.iter().map(|clock| clock.0.time()).collect());
            }
        };
        let gone = watch_over(&seen, (&communication, patience), &ending, &mut watch, even_out);
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
        let (workers, couriers) = (join(workers, &bug), join(couriers, &bug));
        let joined = workers.and_then(|workers| Ok((workers, couriers?)));
        let ((pes, full, times), (_, none_to_send, _)) = joined.map_err(|Deserted| {
            let processes = watch.processes.as_mut().expect("a lock without a holder belongs to several processes");
            let why = processes.group.check().expect_err("whoever has had the lock is gone");
            lost(&mut processes.group, why)
        })?;
        let full = full.or(none_to_send);
        if full.is_some() {
            ending.break_off();
            pass_on(&ending, &mut watch);
        }
        Ok::<_, Error>((pes, full, times))
    });
    let closed = ended.and_then(|(pes, full, times)| {
        // A run that fails leaves messages on their way.
        let fails = ending.is_broken_off() || watch.run.control.is_abandoned();
        communication.close(watch.processes.as_deref_mut(), fails)?;
        Ok((pes, full, times))
    });
    let (pes, full, times) = closed.inspect_err(|_| communication.abandon())?;
    watch.run.go_on()?;
    let mut pes: Vec<_> = pes.into_iter().chain(assignment.into_arriving()).collect();
    pes.sort_by_key(|stepped| stepped.number);
    for board in boards {
        watch.merge.add(board.0.into_inner().unwrap_or_else(PoisonError::into_inner).rows);
    }
    let cut_short = ending.earlier_than(watch.until);
    let busy = pes.iter().map(|stepped| stepped.busy).collect();
    let pes = pes.into_iter().map(|stepped| stepped.pe).collect();
    let crowded = !cpu_share.suffices_for(threads + communication.threads());
    let mut outcome = gather(pes, full, watch, cut_short)?;
    correct(&mut outcome.parts, &times, share);
    // Ports have noted what they know when they were dropped.
    Ok(LoopOutcome { moved: balance.moved + gathering.moved, busy, couriers: communication.counts(), crowded, ..outcome })
}

/// Corrects what PEs have measured of themselves by the times of their threads, where a thread had `share` of them at first. A PE that has
/// had a thread to itself has measured that.
fn correct<M: Model>(parts: &mut [Parts<M>], times: &[Option<SharedTime>], share: usize) {
    let mut measured: Vec<Measured> = parts.iter().map(|pe| pe.measured).collect();
    if times.iter().all(Option::is_some) {
        // They may have moved.
        times.iter().flatten().copied().sum::<SharedTime>().correct(&mut measured);
    } else {
        let shared = measured.chunks_mut(share).zip(times);
        shared.for_each(|(pes, time)| time.iter().for_each(|time| time.correct(pes)));
    }
    parts.iter_mut().zip(measured).for_each(|(pe, measured)| pe.measured = measured);
}

/// The threads of PEs, as seen from outside.
#[derive(Clone, Copy)]
struct Threads<'t> {
    /// By PE.
    boards: &'t [Board],
    /// By thread.
    clocks: &'t [Apart<CoreClock>],
    /// How many rows are on the boards.
    rows: &'t AtomicUsize,
    /// How many threads have not ended.
    left: &'t AtomicUsize,
    /// Has all of them end.
    stop: &'t AtomicBool,
}

impl Threads<'_> {
    fn have_ended(&self) -> bool {
        // Relaxed: whoever needs what they did joins them.
        self.left.load(Ordering::Relaxed) == 0
    }
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
fn serve_for<E: Send>(
    time: Duration,
    communication: &CommunicationWork<E>,
    threads: &Threads<'_>,
    watch: &mut LoopMonitor<'_, '_>,
    patience: u32,
) {
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
fn serve<E: Send>(communication: &CommunicationWork<E>, number: usize, threads: &Threads<'_>, patience: u32) {
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
fn watch_over<E: Send>(
    threads: &Threads<'_>,
    (communication, patience): (&CommunicationWork<E>, u32),
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
fn join<T>(workers: Vec<ScopedJoinHandle<'_, Ended<T>>>, bug: &Mutex<String>) -> Result<AllEnded<T>, Deserted> {
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

/// The status of each PE.
fn statuses(boards: &[Board]) -> Vec<PeStatus> {
    boards.iter().map(|board| board.0.lock().unwrap_or_else(PoisonError::into_inner).status).collect()
}

/// Divides PEs among threads, neighbours together.
fn deal<T>(pes: Vec<T>, share: usize) -> Vec<Vec<T>> {
    let mut pes = pes.into_iter();
    std::iter::from_fn(|| Some(pes.by_ref().take(share).collect()).filter(|some: &Vec<T>| !some.is_empty())).collect()
}

/// Reads all boards, and takes their rows. Has the PEs come to an end if another engine is to go on.
///
/// # Errors
/// If another process is gone.
fn look(threads: &Threads<'_>, ending: &Ending<'_>, watch: &mut LoopMonitor<'_, '_>) -> Result<(), Lost> {
    let Threads { boards, clocks, rows, .. } = *threads;
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

/// Collects what PEs leave behind.
pub(crate) fn gather<M: Model, Q: PendingSet, P: Port<M::Event>>(
    mut pes: Vec<Pe<'_, M, Q, P>>,
    mut full: Option<OutOfMemory>,
    watch: LoopMonitor<'_, '_>,
    cut_short: Option<VirtualTime>,
) -> Result<LoopOutcome<M>, Error> {
    let LoopMonitor { run, processes, looped, rows, until, mut merge, .. } = watch;
    // As in a sequential run, initialising LPs is not part of the loop.
    let looped = pes.iter().filter_map(Pe::initialised_at).min().unwrap_or(looped);
    let ended = Instant::now();
    let status = pes.iter().map(PeStatus::of).reduce(PeStatus::and).unwrap_or_default();
    run.note_segment(status.sample());
    if cut_short.is_some() && !run.selector.is_fixed() {
        pes.iter_mut().for_each(|pe| pe.fail_unreadable(until));
    }
    // The last payloads are dropped after the last verdict.
    let mut failure = pes.iter().map(Pe::failure).fold(Moment::Never, |earliest, failure| merge.earlier(earliest, failure));
    pes.iter_mut().for_each(|pe| merge.add(pe.take_rows()));
    if let Some(processes) = processes {
        let agreed = processes.agree(LoopEnd { failure, full }, &mut merge);
        LoopEnd { failure, full } = agreed.map_err(|why| lost(&mut processes.group, why))?;
    }
    let committed = pes.iter().map(|pe| pe.committed_before(&failure)).sum();
    let goes_on = cut_short.is_some() && !run.selector.is_fixed() && failure == Moment::Never && full.is_none() && !run.stop.is_on();
    let pending = if goes_on { pes.iter_mut().map(Pe::hand_over).collect() } else { Vec::new() };
    let parts = pes.into_iter().map(Pe::into_parts).collect();
    Ok(LoopOutcome {
        parts,
        pending,
        failure,
        committed,
        full,
        rows,
        merge,
        looped,
        ended,
        window: status.window,
        cut_short,
        goes_on,
        moved: 0,
        busy: Vec::new(),
        crowded: false,
        couriers: None,
    })
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
