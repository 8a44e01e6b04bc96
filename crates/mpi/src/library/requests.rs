//! Requests of MPI together with the memory that they work on. All memory that MPI reads or writes
//! between two calls is owned here.
//!
//! The invariant: while a request is in use, MPI may touch its memory at any time, so nobody else
//! does. `held[i]` is `Some` exactly while request `i` is in use, and holds that memory, always on
//! the heap, where it stays when its owner moves. The memory is given out only when MPI says that
//! the request is done. If that can no longer be found out (after an error, on a thread that may
//! not call MPI, or during a panic), memory and requests are leaked, and the session counts them.

use std::ffi::c_int;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::buffer::room_for;
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

impl Requests<'_, Outgoing> {
    pub(crate) fn start_send(
        &mut self,
        index: usize,
        to: u32,
        tag: c_int,
        bytes: Vec<u8>,
    ) -> Result<()> {
        let to = self.comm.raw_rank(to);
        let Ok(length) = c_int::try_from(bytes.len()) else {
            return Err(Error::TooLong { bytes: bytes.len() });
        };
        let comm = self.comm.raw();
        let pointer = self.hold(index, Outgoing(bytes))?.0.as_ptr();
        // SAFETY: as `raw` says. The array has a free request of this index. The bytes are held
        // until the request is done, and only read.
        let code = unsafe {
            ffi::warpline_mpi_start_send(
                self.raw.as_ptr(),
                index as c_int,
                comm,
                pointer.cast(),
                length,
                to,
                tag,
            )
        };
        self.check("MPI_Isend", code)
    }

    /// Of the first `active` requests, which are in use, gives back the memory of those that are
    /// done. Returns how many still are in use: those at the front.
    pub(crate) fn reclaim(
        &mut self,
        active: usize,
        mut done: impl FnMut(Vec<u8>),
    ) -> Result<usize> {
        self.usable()?;
        if active == 0 {
            return Ok(0);
        }
        assert!(active <= self.held.len());
        let mut found = 0;
        let mut indices = ptr::null();
        self.comm.session.enter();
        // SAFETY: MPI is running and this thread may call it. The array has at least as many
        // requests.
        let code = unsafe {
            ffi::warpline_mpi_test_some(
                self.raw.as_ptr(),
                active as c_int,
                &mut found,
                &mut indices,
            )
        };
        self.check("MPI_Testsome", code)?;
        let found = usize::try_from(found).unwrap_or(0);
        for place in 0..found {
            // SAFETY: `indices` is an array of the shim's with room for all requests, of which MPI
            // has filled the first `found`.
            let index = unsafe { *indices.add(place) };
            if let Some(Outgoing(bytes)) = self.held[index as usize].take() {
                done(bytes);
            }
        }
        if found > 0 {
            self.close_gaps(active);
        }
        Ok(active - found)
    }

    /// Moves the last requests in use, of the first `end`, to the free places before them.
    fn close_gaps(&mut self, mut end: usize) {
        let mut free = 0;
        loop {
            while free < end && self.is_active(free) {
                free += 1;
            }
            while free < end && !self.is_active(end - 1) {
                end -= 1;
            }
            if free >= end {
                return;
            }
            // SAFETY: both are in the array, the first is in use, and the other is free.
            unsafe {
                ffi::warpline_mpi_move_request(self.raw.as_ptr(), (end - 1) as c_int, free as c_int)
            };
            self.held.swap(free, end - 1);
        }
    }
}

impl Requests<'_, Incoming> {
    /// Receives at most `room` bytes, from any rank if no source is given. `bytes` is memory to be
    /// used again.
    pub(crate) fn start_receive(
        &mut self,
        index: usize,
        from: Option<u32>,
        tag: c_int,
        room: usize,
        mut bytes: Vec<u8>,
    ) -> Result<()> {
        let from = from.map_or(-1, |from| self.comm.raw_rank(from));
        let Ok(length) = c_int::try_from(room) else { return Err(Error::TooLong { bytes: room }) };
        bytes.clear();
        if bytes.capacity() < room {
            bytes = room_for(room)?;
        }
        let comm = self.comm.raw();
        let pointer = self.hold(index, Incoming(bytes))?.0.as_mut_ptr();
        // SAFETY: as `raw` says. The array has a free request of this index. There is capacity for
        // `room` bytes, which is held, and which nobody else touches, until the request is done.
        let code = unsafe {
            ffi::warpline_mpi_start_receive(
                self.raw.as_ptr(),
                index as c_int,
                comm,
                pointer.cast(),
                length,
                from,
                tag,
            )
        };
        self.check("MPI_Irecv", code)
    }

    /// The sender and the bytes, if they have arrived.
    pub(crate) fn received(&mut self, index: usize) -> Result<Option<(u32, Vec<u8>)>> {
        let mut found = Found::default();
        let Some(Incoming(mut bytes)) = self.test(index, Some(&mut found))? else {
            return Ok(None);
        };
        let unknown = || Error::Mpi {
            call: "MPI_Test",
            code: found.length,
            text: "a message without source or length".to_owned(),
        };
        let source = u32::try_from(found.source).map_err(|_| unknown())?;
        let length = usize::try_from(found.length).map_err(|_| unknown())?;
        assert!(length <= bytes.capacity(), "MPI has received more than it was to");
        // SAFETY: the receive is done, and MPI has written as many bytes, for which there is
        // capacity.
        unsafe { bytes.set_len(length) };
        Ok(Some((source, bytes)))
    }

    /// Gives up receiving. A message that is being received already is dropped.
    pub(crate) fn cancel(&mut self) {
        if !self.may_wait() {
            return;
        }
        for index in 0..self.held.len() {
            if !self.is_active(index) {
                continue;
            }
            // SAFETY: MPI is running and this thread may call it. The array has a request of this
            // index, which is in use.
            let code = unsafe { ffi::warpline_mpi_cancel(self.raw.as_ptr(), index as c_int) };
            if self.check("MPI_Cancel", code).is_err() {
                return;
            }
        }
    }
}

impl Requests<'_, Operands> {
    /// Reduces the operands of all ranks. There are as many results as operands. The first operand
    /// of a composite reduction says how many there are; all composite reductions of these requests
    /// must have as many. So must all ranks, which cannot be checked here.
    ///
    /// # Panics
    /// If this rank's operands are not as they must be.
    pub(crate) fn start_reduce(&mut self, kind: ReductionKind, operands: Operands) -> Result<()> {
        let length = operands.mine.len();
        assert_eq!(length, operands.result.len());
        let Ok(count) = c_int::try_from(length) else {
            return Err(Error::TooLong { bytes: length.saturating_mul(size_of::<u64>()) });
        };
        if kind == ReductionKind::Composite {
            self.check_composite(&operands.mine);
        }
        let comm = self.comm.raw();
        let raw = self.raw.as_ptr();
        let Operands { mine, result } = self.hold(0, operands)?;
        let mine = mine.as_ptr();
        let result = result.as_mut_ptr();
        // SAFETY: as `raw` says. The array has a free request of this index. Both lists have
        // `count` numbers and are held, and nobody else touches them, until the request is done.
        // Those of a composite reduction are as wide as the first of the array, and as their first
        // number says to the shim. It combines them with those of other ranks, which are as wide,
        // as all ranks start the same reductions: so it reads and writes within them.
        let code = unsafe {
            match kind {
                ReductionKind::Composite => {
                    ffi::warpline_mpi_start_composite(raw, 0, comm, mine, result, count)
                }
                _ => ffi::warpline_mpi_start_reduce(
                    raw,
                    0,
                    comm,
                    mine,
                    result,
                    count,
                    c_int::from(kind == ReductionKind::Sum),
                ),
            }
        };
        self.check("MPI_Iallreduce", code)
    }

    /// # Panics
    /// If the operands of a composite reduction are not as many as their header and the reductions
    /// before it say.
    fn check_composite(&mut self, operands: &[u64]) {
        let [header, ..] = *operands else { panic!("a composite reduction without operands") };
        let words = (header >> 32) as usize;
        let sums = (header >> 16 & 0xFFFF) as usize;
        let key = (header & 0xFFFF) as usize;
        let keys = operands.len().checked_sub(1 + sums);
        assert!(
            words == operands.len()
                && keys.is_some_and(|keys| keys == 0 || key > 0 && keys % key == 0)
        );
        assert!(
            *self.width.get_or_insert(words) == words,
            "composite reductions of one array of requests are equally wide"
        );
    }

    /// The operands, if all ranks have given theirs.
    pub(crate) fn reduced(&mut self) -> Result<Option<Operands>> {
        self.test(0, None)
    }
}

impl Requests<'_, Nothing> {
    pub(crate) fn start_barrier(&mut self) -> Result<()> {
        let comm = self.comm.raw();
        self.hold(0, Nothing)?;
        // SAFETY: as `raw` says. The array has a free request of this index.
        let code = unsafe { ffi::warpline_mpi_start_barrier(self.raw.as_ptr(), 0, comm) };
        self.check("MPI_Ibarrier", code)
    }

    /// Whether all ranks have arrived, if a barrier is in progress.
    pub(crate) fn passed(&mut self) -> Result<bool> {
        Ok(self.test(0, None)?.is_some())
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
