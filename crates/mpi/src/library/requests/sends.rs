//! Sends, whose bytes MPI reads.

use std::ffi::c_int;
use std::ptr;

use super::{Outgoing, Requests};
use crate::library::error::{Error, Result};
use crate::library::ffi;

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
