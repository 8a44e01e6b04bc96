//! Collective calls that wait, for the beginning and the end of runs.

use std::ffi::c_int;

use super::buffer::room_for;
use super::comm::{Comm, Communicator};
use super::error::{Error, Result};
use super::ffi;
use super::tag::Tag;

/// MPI counts bytes by `int`, so long data goes in pieces of this many bytes: long enough to cost
/// nothing, and short enough that MPI never needs buffers of gigabytes.
const PIECE: usize = 1 << 20;
/// The rank that gathers and broadcasts.
const ROOT: u32 = 0;

impl Comm<'_> {
    /// Brings the bytes of all ranks to rank 0, which gets a list of them in the order of ranks;
    /// the others get nothing. There may be any number of bytes, and different numbers from
    /// different ranks. All ranks must call this. It waits for the others.
    ///
    /// # Errors
    /// [`Error::Mpi`], or [`Error::Memory`]; the other ranks then wait for ever, unless
    /// [`Comm::abort`] ends them.
    pub fn gather(&self, mine: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let comm = &**self.shared();
        let lengths = comm.all_gather(mine.len() as u64)?;
        if comm.rank != ROOT {
            mine.chunks(PIECE).try_for_each(|piece| comm.send(piece, ROOT))?;
            return Ok(None);
        }
        let mut all = Vec::new();
        for (rank, &length) in (0..comm.size).zip(&lengths) {
            if rank == ROOT {
                let mut copy = room_for(mine.len())?;
                copy.extend_from_slice(mine);
                all.push(copy);
                continue;
            }
            let mut theirs = zeros(length)?;
            theirs.chunks_mut(PIECE).try_for_each(|piece| comm.receive(piece, rank))?;
            all.push(theirs);
        }
        Ok(Some(all))
    }

    /// Brings the bytes of rank 0 to all ranks, where they replace `bytes`. All ranks must call
    /// this. It waits for rank 0.
    ///
    /// # Errors
    /// [`Error::Mpi`], or [`Error::Memory`]; other ranks may then wait for ever, unless
    /// [`Comm::abort`] ends them.
    pub fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let comm = &**self.shared();
        let mut length = (bytes.len() as u64).to_le_bytes();
        comm.broadcast(&mut length)?;
        if comm.rank != ROOT {
            *bytes = zeros(u64::from_le_bytes(length))?;
        }
        bytes.chunks_mut(PIECE).try_for_each(|piece| comm.broadcast(piece))
    }
}

/// The pieces have at most `PIECE` bytes.
impl Communicator<'_> {
    fn send(&self, piece: &[u8], to: u32) -> Result<()> {
        let to = self.raw_rank(to);
        let length = piece.len() as c_int;
        // SAFETY: as `raw` says. The bytes are borrowed until the call returns, when MPI has read
        // them.
        let code = unsafe {
            ffi::warpline_mpi_send(self.raw(), piece.as_ptr().cast(), length, to, Tag::COLLECTIVE)
        };
        self.check("MPI_Send", code)
    }

    fn receive(&self, piece: &mut [u8], from: u32) -> Result<()> {
        let from = self.raw_rank(from);
        let length = piece.len() as c_int;
        // SAFETY: as `raw` says. The bytes are borrowed until the call returns, when MPI has
        // written them.
        let code = unsafe {
            ffi::warpline_mpi_receive(
                self.raw(),
                piece.as_mut_ptr().cast(),
                length,
                from,
                Tag::COLLECTIVE,
            )
        };
        self.check("MPI_Recv", code)
    }

    pub(crate) fn broadcast(&self, piece: &mut [u8]) -> Result<()> {
        let from = self.raw_rank(ROOT);
        let length = piece.len() as c_int;
        // SAFETY: as `raw` says. The bytes are borrowed until the call returns, when MPI has read
        // or written them.
        let code = unsafe {
            ffi::warpline_mpi_broadcast(self.raw(), piece.as_mut_ptr().cast(), length, from)
        };
        self.check("MPI_Bcast", code)
    }

    /// One number of each rank, in the order of ranks.
    pub(crate) fn all_gather(&self, mine: u64) -> Result<Vec<u64>> {
        let mut all = Vec::new();
        let ranks = self.size as usize;
        all.try_reserve_exact(ranks)
            .map_err(|_| Error::Memory { bytes: ranks * size_of::<u64>() })?;
        all.resize(ranks, 0);
        // SAFETY: as `raw` says. There is room for one number of each rank, and all is borrowed
        // until the call returns.
        let code = unsafe { ffi::warpline_mpi_all_gather(self.raw(), &mine, all.as_mut_ptr()) };
        self.check("MPI_Allgather", code)?;
        Ok(all)
    }
}

fn zeros(bytes: u64) -> Result<Vec<u8>> {
    let bytes = usize::try_from(bytes).map_err(|_| Error::Memory { bytes: usize::MAX })?;
    let mut list = room_for(bytes)?;
    list.resize(bytes, 0);
    Ok(list)
}
