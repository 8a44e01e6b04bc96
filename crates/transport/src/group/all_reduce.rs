//! Reductions over ranks, by MPI.

use warpline_kernel::gvt::{ALL_REDUCE_KEY, ALL_REDUCE_SUMS, ALL_REDUCE_WORDS, AllReduce};
use warpline_mpi::{Comm, Reducer, Reduction};

use super::ranks::in_words;

const COMPOSITE: Reduction =
    Reduction::Composite { sums: ALL_REDUCE_SUMS as u16, key: ALL_REDUCE_KEY as u16 };

/// MPI_Iallreduce, tested until it is complete.
struct MpiAllReduce(Reducer<'static>);

/// A reduction over these ranks. All of them have to call this; it waits for the others.
pub(super) fn all_reduce(comm: &Comm<'static>) -> Result<Box<dyn AllReduce>, String> {
    Ok(Box::new(MpiAllReduce(Reducer::new(comm, ALL_REDUCE_WORDS).map_err(in_words)?)))
}

impl AllReduce for MpiAllReduce {
    fn start(&mut self, mine: &[u64; ALL_REDUCE_WORDS]) -> Result<(), String> {
        self.0.start(COMPOSITE, mine).map_err(in_words)
    }

    fn test(&mut self) -> Result<Option<[u64; ALL_REDUCE_WORDS]>, String> {
        let reduced = self.0.test().map_err(in_words)?;
        Ok(reduced.map(|words| std::array::from_fn(|place| words[place])))
    }
}
