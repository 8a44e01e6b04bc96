//! Polls the processes of an LP: everything that is ready within an event, in the order in which it
//! became ready.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use crate::processes::PinnedFrame;
use crate::processes::process::Ended;
use crate::running::tables::NOBODY;
use crate::running::{Running, lend};

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

/// Polls the process in the place `first`, if that is one, all processes that are ready, and those
/// that become ready by that. Stops at a fault.
pub(crate) fn run_ready(running: &mut Running<'_>, first: Option<u32>) {
    // After a panic the tables are only used to say which process it was.
    let polled = catch_unwind(AssertUnwindSafe(|| {
        WAKER.with(|waker| poll_ready(running, first, waker));
    }));
    if let Err(panic) = polled {
        resume_unwind(name_process(running, panic));
    }
}

fn poll_ready(running: &mut Running<'_>, first: Option<u32>, waker: &ThreadWaker) {
    running.tables.has_progressed |= first.is_some();
    let clones = waker.clones();
    let mut next = first;
    while let Some(process) = next.take().or_else(|| running.tables.next_ready()) {
        if !poll(running, process, waker, clones) {
            break;
        }
    }
    running.tables.current = NOBODY;
}

/// Polls the process in this place. Returns `false` after a fault. `clones`: how many clones of the
/// waker there were before.
#[inline(always)]
fn poll(running: &mut Running<'_>, process: u32, waker: &ThreadWaker, clones: usize) -> bool {
    let place = running.tables.processes.place(process);
    // A wait that was forgotten, instead of dropped, may outlive its process.
    let frame = if place.is_used { place.frame.take() } else { None };
    let Some(mut frame) = frame else { return true };
    running.tables.current = process;
    running.tables.is_waiting = false;
    running.step();
    let mut context = Context::from_waker(&waker.waker);
    if lend(running, || frame.as_mut().poll(&mut context)).is_ready() {
        running.tell(|| "ends".to_owned());
        running.tables.end_process(process, frame, Ended::Finished);
        return true;
    }
    let place = running.tables.processes.place(process);
    if place.is_cancelled {
        end_cancelled(running, process, frame);
        return true;
    }
    place.frame = Some(frame);
    running.tell_waits(process);
    let waits = running.tables.is_waiting && waker.clones() <= clones;
    waits || refuse_foreign(running, process)
}

/// Ends a process that cancelled itself.
#[cold]
fn end_cancelled(running: &mut Running<'_>, process: u32, mut frame: PinnedFrame) {
    lend(running, || frame.as_mut().clear());
    running.tell(|| "cancels itself".to_owned());
    running.tables.end_process(process, frame, Ended::Cancelled);
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
