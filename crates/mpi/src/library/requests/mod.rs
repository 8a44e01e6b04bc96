//! Requests of MPI together with the memory that they work on. All memory that MPI reads or writes
//! between two calls is owned here.
//!
//! The invariant: while a request is in use, MPI may touch its memory at any time, so nobody else
//! does. `held[i]` is `Some` exactly while request `i` is in use, and holds that memory, always on
//! the heap, where it stays when its owner moves. The memory is given out only when MPI says that
//! the request is done. If that can no longer be found out (after an error, on a thread that may
//! not call MPI, or during a panic), memory and requests are leaked, and the session counts them.

mod collectives;
mod receives;
mod sends;

use std::ffi::c_int;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::comm::Communicator;
use super::error::{Error, Result};
use super::ffi;

/// The bytes of a send.
pub(crate) struct Outgoing(pub(crate) Vec<u8>);

/// Empty, with capacity for the bytes of a receive.
pub(crate) struct Incoming(Vec<u8>);

/// The numbers of a reduction: this rank's, and room for the results.
pub(crate) struct Operands {
    pub(crate) mine: Vec<u64>,
    pub(crate) result: Vec<u64>,
}

/// How operands are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionKind {
    /// The least, as `i64`.
    Min,
    /// The sum.
    Sum,
    /// Sums of some, and the least keys of the rest, as the first operand says.
    Composite,
}

/// A barrier needs no memory.
pub(crate) struct Nothing;

/// What MPI says about a receive that is done.
#[derive(Default)]
struct Found {
    source: c_int,
    /// In bytes.
    length: c_int,
}

/// A fixed number of requests, all of the kind `M`.
pub(crate) struct Requests<'m, M> {
    comm: Arc<Communicator<'m>>,
    raw: NonNull<ffi::RequestArray>,
    held: Vec<Option<M>>,
    /// How many operands composite reductions have, if there have been any.
    width: Option<usize>,
    /// An error of MPI, after which nothing is certain about the requests.
    failed: Option<Error>,
}

// SAFETY: nothing but `&mut self` leads to the array and the memory, which belong to no thread.
// Every call of MPI comes after `Session::enter`, which panics, or `may_tidy_up`, which says no, on
// a thread that may not call it.
unsafe impl<M: Send> Send for Requests<'_, M> {}

impl<'m, M> Requests<'m, M> {
    /// # Panics
    /// If `count` is 0, or far beyond what memory can hold.
    pub(crate) fn new(comm: &Arc<Communicator<'m>>, count: usize) -> Result<Self> {
        let raw_count = c_int::try_from(count)
            .ok()
            .filter(|&count| count > 0)
            .expect("there are from 1 to 2^31 - 1 requests");
        let out_of_memory = Error::Memory { bytes: count.saturating_mul(size_of::<Option<M>>()) };
        let mut held = Vec::new();
        held.try_reserve_exact(count).map_err(|_| out_of_memory.clone())?;
        held.resize_with(count, || None);
        // SAFETY: MPI is running, or there would be no communicator.
        let raw = NonNull::new(unsafe { ffi::warpline_mpi_make_requests(raw_count) })
            .ok_or(out_of_memory)?;
        comm.session.add();
        Ok(Requests { comm: comm.clone(), raw, held, width: None, failed: None })
    }

    pub(crate) fn is_active(&self, index: usize) -> bool {
        self.held[index].is_some()
    }

    /// Keeps what MPI reported, if it is an error.
    fn check(&mut self, call: &'static str, code: c_int) -> Result<()> {
        self.comm.check(call, code).inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// An error if anything has failed before.
    pub(crate) fn usable(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Keeps memory for the use of a free request.
    fn hold(&mut self, index: usize, memory: M) -> Result<&mut M> {
        self.usable()?;
        assert!(!self.is_active(index), "request {index} is in use");
        Ok(self.held[index].insert(memory))
    }

    /// The memory of a request, if it is done. `found` is given for a receive.
    fn test(&mut self, index: usize, found: Option<&mut Found>) -> Result<Option<M>> {
        self.usable()?;
        if !self.is_active(index) {
            return Ok(None);
        }
        let mut source = ptr::null_mut();
        let mut length = ptr::null_mut();
        if let Some(found) = found {
            source = &raw mut found.source;
            length = &raw mut found.length;
        }
        let mut done = 0;
        self.comm.session.enter();
        // SAFETY: MPI is running and this thread may call it. The array has a request of this
        // index. Both pointers are null, or lead to what is borrowed until the call returns.
        let code = unsafe {
            ffi::warpline_mpi_test(self.raw.as_ptr(), index as c_int, &mut done, source, length)
        };
        self.check("MPI_Test", code)?;
        Ok(if done == 0 { None } else { self.held[index].take() })
    }

    /// Whether a destructor may wait until all is done.
    fn may_wait(&self) -> bool {
        self.failed.is_none() && self.comm.session.may_tidy_up()
    }
}

impl<M> Drop for Requests<'_, M> {
    fn drop(&mut self) {
        let mut idle = self.failed.is_none() && self.held.iter().all(Option::is_none);
        if !idle && self.may_wait() {
            // SAFETY: MPI is running and this thread may call it. The array has as many requests.
            idle =
                unsafe { ffi::warpline_mpi_wait_all(self.raw.as_ptr(), self.held.len() as c_int) }
                    == 0;
        }
        if idle {
            if self.comm.session.may_tidy_up() {
                // SAFETY: MPI is running and this thread may call it. No request is in use.
                unsafe { ffi::warpline_mpi_end_composite(self.raw.as_ptr()) };
            }
            // SAFETY: no request is in use any more, and nothing leads to the array after this.
            unsafe { ffi::warpline_mpi_free_requests(self.raw.as_ptr()) };
            self.comm.session.remove();
        } else {
            // MPI may still use the memory. The array keeps its requests, and the session counts it
            // as leaked.
            mem::forget(mem::take(&mut self.held));
        }
    }
}
