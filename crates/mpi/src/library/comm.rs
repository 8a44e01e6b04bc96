//! Communicators: separate worlds of messages and collective calls.

use std::cell::Cell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::Arc;

use super::error::{Error, Result};
use super::ffi;
use super::session::Session;

/// All ranks, and messages between them that no other communicator sees.
///
/// It may be given to another thread, but not shared between threads. Where several threads use
/// MPI, each has its own [`Comm::duplicate`], as all ranks must make collective calls on one
/// communicator in the same order.
///
/// ```compile_fail,E0277
/// fn share<'m>(comm: &warpline_mpi::Comm<'m>) {
///     std::thread::scope(|scope| {
///         scope.spawn(|| comm.rank());
///     });
/// }
/// ```
///
/// Below [`ThreadLevel::Multiple`](crate::ThreadLevel::Multiple), everything that uses MPI panics
/// on threads other than the one that started MPI. This is checked at each use, which costs a
/// nanosecond, because the level is known only at run time. To let types check it would also forbid
/// preparing something on one thread for another.
pub struct Comm<'m> {
    shared: Arc<Communicator<'m>>,
    not_shared_between_threads: PhantomData<Cell<()>>,
}

impl<'m> Comm<'m> {
    pub(crate) fn new(communicator: Communicator<'m>) -> Self {
        Comm { shared: Arc::new(communicator), not_shared_between_threads: PhantomData }
    }

    pub(crate) fn shared(&self) -> &Arc<Communicator<'m>> {
        &self.shared
    }

    /// The number of this rank, below [`Comm::size`].
    pub fn rank(&self) -> u32 {
        self.shared.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.shared.size
    }

    /// Another communicator of the same ranks. All of them must call this. It waits for the others.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn duplicate(&self) -> Result<Comm<'m>> {
        self.shared.duplicate().map(Comm::new)
    }

    /// Ends all ranks, with this exit code if the launcher passes it on.
    pub fn abort(&self, code: i32) -> ! {
        self.shared.session.abort(code)
    }
}

/// A communicator of MPI, which is freed when this is dropped.
pub(crate) struct Communicator<'m> {
    pub(crate) session: &'m Session,
    handle: u64,
    pub(crate) rank: u32,
    pub(crate) size: u32,
}

impl<'m> Communicator<'m> {
    pub(crate) fn world_rank_and_size(session: &Session) -> Result<(u32, u32)> {
        session.enter();
        // SAFETY: MPI is running, and this thread may call it.
        rank_and_size(session, unsafe { ffi::warpline_mpi_world() })
    }

    /// A duplicate of the communicator that MPI starts with.
    pub(crate) fn world(session: &'m Session) -> Result<Self> {
        session.enter();
        // SAFETY: MPI is running, and this thread may call it.
        Self::duplicate_of(session, unsafe { ffi::warpline_mpi_world() })
    }

    pub(crate) fn duplicate(&self) -> Result<Self> {
        Self::duplicate_of(self.session, self.handle)
    }

    fn duplicate_of(session: &'m Session, handle: u64) -> Result<Self> {
        session.enter();
        let mut made = 0;
        // SAFETY: MPI is running, this thread may call it, and the handle is that of a communicator
        // that has not been freed.
        session.check("MPI_Comm_dup", unsafe { ffi::warpline_mpi_duplicate(handle, &mut made) })?;
        Self::adopt(session, made)
    }

    /// The ranks with which this one can share memory.
    pub(crate) fn split_by_node(&self) -> Result<Self> {
        let mut made = 0;
        // SAFETY: as `raw` says.
        self.check("MPI_Comm_split_type", unsafe {
            ffi::warpline_mpi_split_by_node(self.raw(), &mut made)
        })?;
        Self::adopt(self.session, made)
    }

    fn adopt(session: &'m Session, handle: u64) -> Result<Self> {
        session.add();
        let mut made = Communicator { session, handle, rank: 0, size: 0 };
        (made.rank, made.size) = rank_and_size(session, handle)?;
        Ok(made)
    }

    /// The handle, for a call of MPI that follows at once. MPI is running and this thread may call
    /// it, or this panics. The communicator has not been freed, as only dropping it does that.
    #[inline]
    pub(crate) fn raw(&self) -> u64 {
        self.session.enter();
        self.handle
    }

    /// The number of a rank for MPI.
    ///
    /// # Panics
    /// If there is no such rank.
    #[inline]
    pub(crate) fn raw_rank(&self, rank: u32) -> c_int {
        assert!(rank < self.size, "there is no rank {rank} among {}", self.size);
        // It fits, as MPI counts ranks in this type.
        rank as c_int
    }

    #[inline]
    pub(crate) fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        self.session.check(call, code)
    }
}

impl Drop for Communicator<'_> {
    fn drop(&mut self) {
        // Freeing is collective, "though it is anticipated that this operation will normally be
        // implemented to be local" (MPI 3.1, 6.4.3), as it is in Open MPI and MPICH: ranks that
        // drop communicators in different order do not wait for each other.
        if self.session.may_tidy_up() {
            // SAFETY: as `raw` says; whatever used the communicator has kept it alive, and is gone.
            if unsafe { ffi::warpline_mpi_free(self.raw()) } == 0 {
                self.session.remove();
            }
        }
    }
}

fn rank_and_size(session: &Session, handle: u64) -> Result<(u32, u32)> {
    let mut rank = 0;
    let mut size = 0;
    // SAFETY: MPI is running, this thread has just called it, and the handle is that of a
    // communicator that has not been freed.
    session.check("MPI_Comm_rank", unsafe {
        ffi::warpline_mpi_rank_and_size(handle, &mut rank, &mut size)
    })?;
    let number = |found: c_int| {
        u32::try_from(found).map_err(|_| Error::Mpi {
            call: "MPI_Comm_rank",
            code: found,
            text: "a negative rank".into(),
        })
    };
    Ok((number(rank)?, number(size)?))
}
