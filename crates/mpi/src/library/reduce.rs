//! Reductions and barriers that do not block.

use std::sync::Arc;

use super::comm::Comm;
use super::error::{Error, Result};
use super::requests::{Nothing, Operands, ReductionKind, Requests};

/// How a reduction combines the numbers of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The least of them.
    Min,
    /// Their sum, modulo 2^64.
    Sum,
    /// Both at once. The first `sums` numbers are added up, modulo 2^64. The others form keys of
    /// `key` numbers each, of which the least at each place is found. The first number of a key
    /// counts most.
    Composite {
        /// How many numbers are added up.
        sums: u16,
        /// How many numbers make a key.
        key: u16,
    },
}

impl Reduction {
    /// The bits that are flipped before a reduction and after it. MPI finds minima of signed
    /// numbers; with the sign bit flipped, these are in the order of unsigned ones.
    fn flipped(self) -> u64 {
        match self {
            Reduction::Min => 1 << 63,
            Reduction::Sum | Reduction::Composite { .. } => 0,
        }
    }

    fn kind(self) -> ReductionKind {
        match self {
            Reduction::Min => ReductionKind::Min,
            Reduction::Sum => ReductionKind::Sum,
            Reduction::Composite { .. } => ReductionKind::Composite,
        }
    }

    /// The number before the operands that tells the shim what they are.
    fn header(self, width: usize) -> Option<u64> {
        match self {
            Reduction::Composite { sums, key } => {
                Some((width as u64 + 1) << 32 | u64::from(sums) << 16 | u64::from(key))
            }
            _ => None,
        }
    }
}

/// Reduces a few numbers over all ranks, again and again, one reduction at a time.
///
/// All ranks must have reducers of the same width, and start the same reductions in the same order.
/// A reducer has a communicator of its own, so its order relative to other calls does not matter.
/// Dropping it waits for a reduction that is in progress, but not during a panic.
pub struct Reducer<'m> {
    requests: Requests<'m, Operands>,
    width: usize,
    reduction: Reduction,
    /// The operands of the last reduction, unless one is in progress.
    idle: Option<Operands>,
}

impl<'m> Reducer<'m> {
    /// A reducer of `width` numbers. All ranks must call this. It waits for the others.
    ///
    /// # Errors
    /// [`Error::Mpi`], or [`Error::Memory`].
    pub fn new(comm: &Comm<'m>, width: usize) -> Result<Self> {
        let requests = Requests::new(&Arc::new(comm.shared().duplicate()?), 1)?;
        let empty = || {
            let mut list = Vec::new();
            // Room for a header.
            let most = width.saturating_add(1);
            list.try_reserve_exact(most)
                .map_err(|_| Error::Memory { bytes: most.saturating_mul(size_of::<u64>()) })?;
            Ok(list)
        };
        Ok(Reducer {
            requests,
            width,
            reduction: Reduction::Sum,
            idle: Some(Operands { mine: empty()?, result: empty()? }),
        })
    }

    /// Starts a reduction, of each number with those at the same place in the other ranks.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If a reduction is in progress, if there are not as many numbers as the reducer is wide, or
    /// if they are not a whole number of keys.
    pub fn start(&mut self, reduction: Reduction, mine: &[u64]) -> Result<()> {
        assert_eq!(mine.len(), self.width, "the reducer is for another number of operands");
        self.requests.usable()?;
        let mut operands = self.idle.take().expect("the last reduction has been fetched");
        operands.mine.clear();
        operands.mine.extend(
            reduction
                .header(self.width)
                .into_iter()
                .chain(mine.iter().map(|number| number ^ reduction.flipped())),
        );
        operands.result.clear();
        operands.result.resize(operands.mine.len(), 0);
        self.reduction = reduction;
        self.requests.start_reduce(reduction.kind(), operands)
    }

    /// The result, once per reduction, when all ranks have given their numbers.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn test(&mut self) -> Result<Option<&[u64]>> {
        let Some(mut operands) = self.requests.reduced()? else { return Ok(None) };
        operands.result.iter_mut().for_each(|number| *number ^= self.reduction.flipped());
        let first = operands.result.len() - self.width;
        Ok(Some(&self.idle.insert(operands).result[first..]))
    }

    /// Whether a reduction is in progress: it was started, and its result has not been fetched.
    pub fn is_busy(&self) -> bool {
        self.requests.is_active(0)
    }
}

/// Finds out when all ranks have arrived, again and again.
///
/// It has a communicator of its own, as a [`Reducer`] does.
pub struct Barrier<'m> {
    requests: Requests<'m, Nothing>,
}

impl<'m> Barrier<'m> {
    /// All ranks must call this. It waits for the others.
    ///
    /// # Errors
    /// [`Error::Mpi`], or [`Error::Memory`].
    pub fn new(comm: &Comm<'m>) -> Result<Self> {
        Ok(Barrier { requests: Requests::new(&Arc::new(comm.shared().duplicate()?), 1)? })
    }

    /// Says that this rank has arrived.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If it has arrived already, and not all others have since.
    pub fn arrive(&mut self) -> Result<()> {
        self.requests.start_barrier()
    }

    /// Whether all ranks have arrived: true once, after [`Barrier::arrive`].
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn test(&mut self) -> Result<bool> {
        self.requests.passed()
    }
}
