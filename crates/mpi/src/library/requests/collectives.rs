//! Reductions and barriers, in which all ranks take part.

use std::ffi::c_int;

use super::{Nothing, Operands, ReductionKind, Requests};
use crate::library::error::{Error, Result};
use crate::library::ffi;

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
