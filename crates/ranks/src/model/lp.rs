//! The state of an LP that is a rank: its program, and its messages.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::call::{Call, Name};
use crate::network::Network;
use crate::packet::RankEvent;
use crate::progress::Progress;
use crate::running::{Running, lend};

/// The program of a rank, as far as it has come.
pub(crate) type Coroutine = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state of a rank.
pub struct RankLp {
    /// None once it has come to its end.
    program: Option<Coroutine>,
    progress: Progress,
}

/// Coroutines cannot be copied. Engines know, and never copy such a state.
impl Clone for RankLp {
    fn clone(&self) -> Self {
        panic!("the state of a rank cannot be copied, as coroutines cannot")
    }
}

impl fmt::Debug for RankLp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { clock, has_ended, .. } = &self.progress;
        f.debug_struct("RankLp")
            .field("clock", clock)
            .field("has_ended", has_ended)
            .field("unread", &self.progress.unread())
            .finish()
    }
}

impl RankLp {
    /// A rank at time 0, whose program has not begun.
    #[track_caller]
    pub(crate) fn new() -> Self {
        RankLp { program: None, progress: Progress::new(Call::here(Name::Init)) }
    }

    /// Begins the program, which `make` makes.
    pub(crate) fn begin(&mut self, make: impl FnOnce() -> Coroutine, net: Network<'_>) {
        self.program = Some(make());
        self.go_on(net);
    }

    /// An event has reached the rank.
    #[inline]
    pub(crate) fn handle(&mut self, event: &RankEvent, mut net: Network<'_>) {
        if self.progress.arrive(event, &mut net) {
            self.go_on(net);
        }
    }

    /// What the rank waits for, if it can no longer come.
    pub(crate) fn stuck(&self, rank: u32, most: usize) -> (u64, Vec<String>) {
        self.progress.stuck(rank, most)
    }

    /// The rank's time, in seconds.
    pub(crate) fn clock(&self) -> f64 {
        self.progress.clock
    }

    /// Lets the program go on until it waits.
    fn go_on(&mut self, net: Network<'_>) {
        let Some(program) = &mut self.program else { return };
        let rank = net.me;
        let mut running = Running { progress: &mut self.progress, net };
        let mut context = Context::from_waker(Waker::noop());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            lend(&mut running, || program.as_mut().poll(&mut context))
        }));
        let Running { progress, mut net } = running;
        match polled {
            Ok(Poll::Ready(())) => {
                progress.end(&mut net);
                self.program = None;
            }
            Ok(Poll::Pending) if progress.waits() => {}
            Ok(Poll::Pending) => progress.fail(
                &mut net,
                "it waits for something outside of the simulation, which would never wake it; a rank may wait only for its own \
                 calls of MPI and computations"
                    .to_owned(),
            ),
            Err(panic) => resume_unwind(name_call(rank, progress.call, panic)),
        }
    }
}

/// A panic whose message, if it has one, names the rank and its call.
#[cold]
fn name_call(rank: u32, call: Call, panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    let message = match panic.downcast_ref::<&str>() {
        Some(text) => Some(*text),
        None => panic.downcast_ref::<String>().map(String::as_str),
    };
    let Some(message) = message else { return panic };
    Box::new(format!("rank {rank}, in or after {call}: {message}"))
}
