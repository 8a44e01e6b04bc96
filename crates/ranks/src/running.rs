//! The rank that executes an event, as its program reaches it.
//!
//! A future cannot hold a reference to its LP between polls. So the LP lends what the program
//! calls for each poll.

use warpline_memory::{Lend, Loan};

use crate::network::Network;
use crate::progress::Progress;

/// The rank that executes an event.
pub(crate) struct Running<'a> {
    pub(crate) progress: &'a mut Progress,
    pub(crate) net: Network<'a>,
}

struct RunningRank;

impl Lend for RunningRank {
    type At<'a> = Running<'a>;
}

thread_local! {
    static RUNNING: Loan<RunningRank> = const { Loan::new() };
}

/// Lends the rank that executes an event to all that `body` calls.
#[inline]
pub(crate) fn lend<R>(running: &mut Running<'_>, body: impl FnOnce() -> R) -> R {
    RUNNING.with(|loan| loan.lend(running, body))
}

/// Borrows the rank that executes an event.
///
/// # Panics
/// If there is none, or if it is borrowed already.
#[inline]
#[track_caller]
pub(crate) fn with<R>(body: impl FnOnce(&mut Progress, &mut Network<'_>) -> R) -> R {
    let borrowed =
        RUNNING.with(|loan| loan.borrow(|running| body(running.progress, &mut running.net)));
    match borrowed {
        Some(value) => value,
        None => outside(),
    }
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!(
        "calls of MPI work only in the program of a rank, while it runs: not outside of a run or in another thread"
    )
}
