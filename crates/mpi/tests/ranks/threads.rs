//! Several threads of each rank use MPI at once, each with its own communicator.

use std::thread;

use warpline_mpi::{Launch, Mpi, Result, ThreadLevel};

use crate::{collective, traffic};

pub(crate) fn run(launch: Launch) {
    let mpi = Mpi::start(launch, ThreadLevel::Multiple).expect("MPI starts");
    if mpi.thread_level() != ThreadLevel::Multiple {
        eprintln!(
            "this MPI library grants {:?} only, so there is nothing to test",
            mpi.thread_level()
        );
        return;
    }
    let world = mpi.world().expect("there is a communicator");
    let comms = (0..3)
        .map(|_| world.duplicate())
        .collect::<Result<Vec<_>>>()
        .expect("there are communicators");
    thread::scope(|scope| {
        for comm in comms {
            scope.spawn(move || {
                let all = || {
                    traffic::everybody_to_everybody(&comm, 4_000 / comm.size())?;
                    collective::reductions(&comm, 100)?;
                    collective::gathering(&comm)
                };
                // A rank with a thread that is gone would keep the others waiting.
                if let Err(error) = all() {
                    eprintln!("{error}");
                    comm.abort(1);
                }
            });
        }
    });
}
