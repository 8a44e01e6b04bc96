//! Everything that goes well, one thing after the other, on one thread.

use std::thread;

use warpline_mpi::{Comm, Error, Launch, Mpi, Receiver, Result, Tag, ThreadLevel};

use crate::traffic::receive_limits;
use crate::{collective, pools, traffic};

pub(crate) fn run(launch: Launch) {
    let mpi = Mpi::start(launch, ThreadLevel::Funneled).expect("MPI starts");
    assert!(
        launch.rank().is_none_or(|rank| rank == mpi.rank())
            && launch.size().is_none_or(|size| size == mpi.size())
    );
    assert_eq!(Mpi::start(launch, ThreadLevel::Funneled).err(), Some(Error::AlreadyStarted));
    let comm = mpi.world().expect("there is a communicator");
    assert_eq!((comm.rank(), comm.size()), (mpi.rank(), mpi.size()));
    all(&comm).expect("MPI reports no error");
    if mpi.thread_level() != ThreadLevel::Multiple {
        other_threads_panic(&comm).expect("MPI reports no error");
    }
    drop(comm);
    mpi.finish().expect("MPI is finished");
    assert_eq!(Mpi::start(launch, ThreadLevel::Funneled).err(), Some(Error::AlreadyStarted));
}

/// MPI that was started for good is finished when nothing uses it any more, and not before.
pub(crate) fn for_good(launch: Launch) {
    let mpi = Mpi::start_for_good(launch, ThreadLevel::Multiple).expect("MPI starts");
    let comm = mpi.world().expect("there is a communicator");
    let kept = thread::spawn(move || {
        collective::barriers(&comm).expect("MPI reports no error");
        comm
    });
    let comm = kept.join().expect("another thread may use it");
    assert_eq!(mpi.finish_for_good(), Ok(false));
    drop(comm);
    assert_eq!(mpi.finish_for_good(), Ok(true));
    assert!(
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| mpi.world().is_ok())).is_err()
    );
}

/// Each part has a communicator of its own, as ranks may be in different parts at a time.
fn all(comm: &Comm<'_>) -> Result<()> {
    collective::nodes(&comm.duplicate()?)?;
    collective::gathering(&comm.duplicate()?)?;
    collective::reductions(&comm.duplicate()?, 300)?;
    collective::barriers(&comm.duplicate()?)?;
    traffic::everybody_to_everybody(&comm.duplicate()?, 12_000 / comm.size())?;
    traffic::kept_apart(&comm.duplicate()?)?;
    traffic::panic_while_handed_over(&comm.duplicate()?)?;
    traffic::too_long(&comm.duplicate()?)?;
    if comm.size() > 1 {
        pools::full(&comm.duplicate()?)?;
        pools::full_of_large(&comm.duplicate()?)?;
        pools::dropped_in_flight(&comm.duplicate()?)?;
    }
    Ok(())
}

/// Whatever uses MPI panics on a thread that may not, and still works on the one that may.
fn other_threads_panic(comm: &Comm<'_>) -> Result<()> {
    let mut receiver = Receiver::new(comm, Tag::new(0), receive_limits(8, 2))?;
    let panicked = thread::scope(|scope| scope.spawn(|| receiver.poll(|_, _| ())).join());
    let words = panicked.expect_err("it panics");
    let words = words.downcast_ref::<String>().expect("it is a text");
    assert!(words.contains("only the thread that started MPI may use it"), "{words}");
    assert_eq!(receiver.poll(|_, _| ())?, 0);
    Ok(())
}
