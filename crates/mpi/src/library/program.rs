//! MPI as the program sees it: started once, finished once.

use std::marker::PhantomData;

use super::comm::{Comm, Communicator};
use super::error::{Error, Result};
use super::session::{Session, ThreadLevel};
use crate::Launch;

/// The exit code when MPI cannot be finished: that of a panic.
const PANICKED: i32 = 101;

/// MPI from its start to its end, which comes when this is dropped.
///
/// Whatever uses MPI borrows it, so nothing can outlive it:
///
/// ```compile_fail,E0505
/// # use warpline_mpi::{Launch, Mpi, ThreadLevel};
/// let mpi = Mpi::start(Launch::detect().unwrap(), ThreadLevel::Funneled).unwrap();
/// let world = mpi.world().unwrap();
/// drop(mpi);
/// world.rank();
/// ```
///
/// It stays on the thread that started MPI, since MPI must be finished there:
///
/// ```compile_fail,E0277
/// # use warpline_mpi::{Launch, Mpi, ThreadLevel};
/// let mpi = Mpi::start(Launch::detect().unwrap(), ThreadLevel::Multiple).unwrap();
/// std::thread::spawn(move || drop(mpi));
/// ```
///
/// A rank that ends while others need it must call [`Mpi::abort`]; otherwise they wait for it, and
/// in the end it waits for them. While the thread panics, dropping this aborts by itself, with exit
/// code 101. It also does so where MPI may still write into memory, because something that uses MPI
/// was leaked, was dropped on a thread that may not call MPI, or has failed.
pub struct Mpi {
    /// `None` once it is finished.
    session: Option<Session>,
    rank: u32,
    size: u32,
    stays_on_thread: PhantomData<*const ()>,
}

impl Mpi {
    /// Starts MPI, which all ranks must do. The level granted may be lower or higher than the one
    /// wanted: see [`Mpi::thread_level`].
    ///
    /// # Errors
    /// [`Error::AlreadyStarted`], [`Error::OtherLauncher`], or [`Error::Mpi`].
    pub fn start(launch: Launch, wanted: ThreadLevel) -> Result<Mpi> {
        let session = Session::start(wanted)?;
        let (rank, size) = Communicator::world_rank_and_size(&session)?;
        let mpi = Mpi { session: Some(session), rank, size, stays_on_thread: PhantomData };
        match launch.size() {
            Some(launched) if launched != size => {
                Err(Error::OtherLauncher { launched, found: size })
            }
            _ => Ok(mpi),
        }
    }

    /// Which threads may use MPI.
    pub fn thread_level(&self) -> ThreadLevel {
        self.session().level()
    }

    /// The number of this rank, below [`Mpi::size`].
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// A new communicator of all ranks. All must call this, and in the same order where they call
    /// it several times. It waits for the others.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn world(&self) -> Result<Comm<'_>> {
        Communicator::world(self.session()).map(Comm::new)
    }

    /// Ends all ranks, with this exit code if the launcher passes it on.
    pub fn abort(&self, code: i32) -> ! {
        self.session().abort(code)
    }

    /// Finishes MPI, and waits until all ranks do so.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn finish(mut self) -> Result<()> {
        self.end()
    }

    /// Starts MPI for the rest of the program, so that what uses it may be kept anywhere.
    ///
    /// # Errors
    /// As [`Mpi::start`].
    pub fn start_for_good(launch: Launch, wanted: ThreadLevel) -> Result<&'static Mpi> {
        Ok(Box::leak(Box::new(Mpi::start(launch, wanted)?)))
    }

    /// Finishes MPI that was [started for good](Mpi::start_for_good), and waits until all ranks do
    /// so. While anything still uses MPI, it does nothing and returns `Ok(false)`. Once MPI is
    /// finished, any use panics.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn finish_for_good(&'static self) -> Result<bool> {
        let session = self.session();
        if session.alive() > 0 {
            return Ok(false);
        }
        session.finish().map(|()| true)
    }

    fn session(&self) -> &Session {
        self.session.as_ref().expect("it is there until this is consumed")
    }

    fn end(&mut self) -> Result<()> {
        let Some(session) = self.session.take() else { return Ok(()) };
        if std::thread::panicking() {
            session.abort(PANICKED);
        }
        if session.alive() > 0 {
            eprintln!(
                "error: rank {} has left messages unfinished, so all ranks are ended",
                self.rank
            );
            session.abort(PANICKED);
        }
        session.finish()
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("error: {error}");
        }
    }
}
