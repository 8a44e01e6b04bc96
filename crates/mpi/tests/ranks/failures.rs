//! How things go wrong.

use std::io::{self, Write};
use std::mem;

use warpline_mpi::{Error, Launch, Mpi, Receiver, SendPool, Tag, ThreadLevel};

use crate::traffic::{receive_limits, send_limits};

const TAG: Tag = Tag::new(0);

fn start(launch: Launch) -> Mpi {
    Mpi::start(launch, ThreadLevel::Funneled).expect("MPI starts")
}

/// One rank panics, with messages in flight, while the others wait for it.
pub(crate) fn panics(launch: Launch) {
    let mpi = start(launch);
    let comm = mpi.world().expect("there is a communicator");
    let mut pool = SendPool::new(&comm, send_limits(1 << 20, 4)).expect("there is memory");
    let mut receiver = Receiver::new(&comm, TAG, receive_limits(8, 2)).expect("there is memory");
    if mpi.rank() == 1 {
        // Nobody receives this with tag 1.
        let mut buffer = pool.take().expect("there is memory");
        buffer.grow(1 << 20).expect("it is the capacity");
        assert!(pool.send(0, Tag::new(1), buffer).expect("it is sent").refused().is_none());
        panic!("this rank panics");
    }
    while receiver.poll(|_, _| ()).expect("MPI reports no error") == 0 {}
}

/// One rank panics when it has nothing to tidy up, while the others wait for it.
pub(crate) fn panics_early(launch: Launch) {
    let mpi = start(launch);
    assert_ne!(mpi.rank(), 1, "this rank panics");
    drop(mpi.world());
}

/// MPI must not be finished while it may write to receives that nobody will ever take back.
pub(crate) fn leaks(launch: Launch) {
    let mpi = start(launch);
    let comm = mpi.world().expect("there is a communicator");
    mem::forget(Receiver::new(&comm, TAG, receive_limits(8, 2)).expect("there is memory"));
}

/// The pool's capacity is more than the receiver's.
pub(crate) fn truncates(launch: Launch) {
    let mpi = start(launch);
    let comm = mpi.world().expect("there is a communicator");
    if mpi.rank() == 0 {
        let mut pool = SendPool::new(&comm, send_limits(100, 4)).expect("there is memory");
        let mut buffer = pool.take().expect("there is memory");
        buffer.grow(100).expect("it is the capacity");
        assert!(pool.send(1, TAG, buffer).expect("it is sent").refused().is_none());
        comm.gather(&[]).expect("MPI reports no error");
        return;
    }
    let mut receiver = Receiver::new(&comm, TAG, receive_limits(50, 2)).expect("there is memory");
    let error = loop {
        if let Err(error) = receiver.poll(|_, _| panic!("it does not fit")) {
            break error;
        }
    };
    assert_eq!(receiver.poll(|_, _| ()).err(), Some(error.clone()), "it stays failed");
    assert!(
        matches!(&error, Error::Mpi { text, .. } if text.to_lowercase().contains("truncate")),
        "{error}"
    );
    // In one piece: the launcher and the other rank write, too.
    io::stderr().write_all(format!("as expected: {error}\n").as_bytes()).expect("stderr is open");
    comm.gather(&[]).expect("MPI reports no error");
}

/// One rank ends all, while the others wait for it.
pub(crate) fn aborts(launch: Launch) {
    let mpi = start(launch);
    let comm = mpi.world().expect("there is a communicator");
    if mpi.rank() == 2 {
        mpi.abort(7);
    }
    comm.gather(&[]).expect("MPI reports no error");
}

/// The environment is that of four ranks, but MPI finds one.
pub(crate) fn other_launcher(launch: Launch) {
    assert_eq!(
        Mpi::start(launch, ThreadLevel::Funneled).err(),
        Some(Error::OtherLauncher { launched: 4, found: 1 })
    );
}
