//! Receives, whose bytes MPI writes.

use std::ffi::c_int;

use super::{Found, Incoming, Requests};
use crate::library::buffer::room_for;
use crate::library::error::{Error, Result};
use crate::library::ffi;

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
