//! Polls the processes of an LP: everything that is ready within an event, in the order in which it
//! became ready.

use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};

use warpline_memory::lend;

use crate::processes::Ended;
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

static WAKER: LazyLock<Waker> = LazyLock::new(|| Waker::from(Arc::new(Foreign)));

/// Polls all processes that are ready, and those that become ready by that. Stops at a fault.
pub(crate) fn run_ready(running: &mut Running<'_>) {
    running.tables.steps = 0;
    running.begin_telling();
    loop {
        while let Some(process) = running.tables.ready.pop_front() {
            if !poll(running, process) {
                return;
            }
        }
        if !running.tables.queue_conditions() {
            return;
        }
    }
}

/// Polls the process in this place. Returns `false` after a fault.
fn poll(running: &mut Running<'_>, process: u32) -> bool {
    let place = running.tables.processes.place(process);
    place.is_queued = false;
    let Some(mut coroutine) = place.coroutine.take() else { return true };
    running.tables.current = process;
    running.step();
    let mut context = Context::from_waker(&WAKER);
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
            waits || refuse_foreign(running, process)
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
