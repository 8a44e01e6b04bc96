//! Polls the processes of an LP: everything that is ready within an event, in the order in which it
//! became ready.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use warpline_memory::lend;

use crate::process::Ended;
use crate::running::{Running, RunningLp};
use crate::tables::NOBODY;

/// The waker of all processes. Nothing of the simulation uses it: an LP knows who waits for what.
struct Foreign;

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        panic!(
            "a process was woken by something outside of the simulation, such as a timer or a channel of an async runtime; \
             a process may wait only for what is the simulation's"
        );
    }
}

/// The waker of the processes that a thread polls. Whoever keeps a clone of it is not of the
/// simulation, and is found by their number.
struct ThreadWaker {
    foreign: Arc<Foreign>,
    waker: Waker,
}

impl ThreadWaker {
    fn new() -> Self {
        let foreign = Arc::new(Foreign);
        ThreadWaker { waker: Waker::from(Arc::clone(&foreign)), foreign }
    }

    fn clones(&self) -> usize {
        Arc::strong_count(&self.foreign)
    }
}

thread_local! {
    static WAKER: ThreadWaker = ThreadWaker::new();
}

/// Polls all processes that are ready, and those that become ready by that. Stops at a fault.
pub(crate) fn run_ready(running: &mut Running<'_>) {
    running.tables.steps = 0;
    running.begin_telling();
    // After a panic the tables are only used to say which process it was.
    let polled = catch_unwind(AssertUnwindSafe(|| WAKER.with(|waker| poll_ready(running, waker))));
    if let Err(panic) = polled {
        resume_unwind(name_process(running, panic));
    }
}

fn poll_ready(running: &mut Running<'_>, waker: &ThreadWaker) {
    loop {
        while let Some(process) = running.tables.ready.pop_front() {
            if !poll(running, process, waker) {
                return;
            }
        }
        if !running.tables.queue_conditions() {
            return;
        }
    }
}

/// Polls the process in this place. Returns `false` after a fault.
fn poll(running: &mut Running<'_>, process: u32, waker: &ThreadWaker) -> bool {
    let place = running.tables.processes.place(process);
    place.is_queued = false;
    let Some(mut coroutine) = place.coroutine.take() else { return true };
    running.tables.current = process;
    running.step();
    let clones = waker.clones();
    let mut context = Context::from_waker(&waker.waker);
    let pending = lend::<RunningLp, _>(running, || match coroutine.as_mut().poll(&mut context) {
        Poll::Pending => Some(coroutine),
        Poll::Ready(()) => None,
    });
    let place = running.tables.processes.place(process);
    let is_fine = match pending {
        None => {
            running.tell(|| "ends".to_owned());
            running.tables.end_process(process, Ended::Finished);
            true
        }
        Some(coroutine) if place.is_cancelled => {
            lend::<RunningLp, _>(running, || drop(coroutine));
            running.tell(|| "cancels itself".to_owned());
            running.tables.end_process(process, Ended::Cancelled);
            true
        }
        Some(coroutine) => {
            place.coroutine = Some(coroutine);
            let waits = place.waits > 0;
            running.tell_waits(process);
            (waits && waker.clones() <= clones) || refuse_foreign(running, process)
        }
    };
    running.tables.current = NOBODY;
    is_fine
}

#[cold]
fn refuse_foreign(running: &mut Running<'_>, process: u32) -> bool {
    let who = running.tables.processes.describe(process);
    running.lp.fail(format!(
        "{who} waits for something outside of the simulation, which would never wake it; a process may wait only for \
         what is the simulation's, such as Sim::sleep, Sim::receive or a resource"
    ));
    false
}

/// A panic whose message, if it has one, names the process that was polled.
#[cold]
fn name_process(running: &Running<'_>, panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    let message = match panic.downcast_ref::<&str>() {
        Some(text) => Some(*text),
        None => panic.downcast_ref::<String>().map(String::as_str),
    };
    let Some(message) = message.filter(|_| running.tables.current != NOBODY) else { return panic };
    let who = running.tables.processes.describe(running.tables.current);
    Box::new(format!("{who}: {message}"))
}
