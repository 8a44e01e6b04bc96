//! Which algorithm is used.

/// From this size on, broadcasts scatter and gather, in bytes.
const BCAST_LONG: u64 = 12_288;
/// From so many ranks on, broadcasts scatter and gather.
const BCAST_RANKS: u32 = 8;
/// Above this size, reductions scatter and gather, in bytes.
const REDUCE_LONG: u64 = 2_048;
/// Above this size, reductions to all ranks go round a ring, in bytes, as in Open MPI.
const ALLREDUCE_RING: u64 = 1 << 20;
/// From this size of all blocks together on, gathering to all ranks goes round a ring, in bytes,
/// unless the ranks are a power of two.
const ALLGATHER_LONG: u64 = 81_920;
/// From this size of all blocks together on, gathering to all ranks goes round a ring, in bytes.
const ALLGATHER_LONGEST: u64 = 524_288;
/// Up to this size of a block, all ranks exchange blocks by Bruck's algorithm, in bytes.
const ALLTOALL_SHORT: u64 = 256;
/// From so many ranks on, all ranks exchange blocks by Bruck's algorithm.
const ALLTOALL_RANKS: u32 = 8;

/// How [`Comm::bcast_by`](crate::Comm::bcast_by) works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BcastBy {
    /// `Binomial` below 12 288 bytes or 8 ranks, `ScatterAllgather` otherwise.
    #[default]
    Auto,
    /// Along a binomial tree, in ⌈log₂ p⌉ rounds.
    Binomial,
    /// The root scatters along a binomial tree, then blocks go round a ring (van de Geijn).
    ScatterAllgather,
}

impl BcastBy {
    pub(super) fn chosen(self, bytes: u64, ranks: u32) -> Self {
        match self {
            BcastBy::Auto if bytes < BCAST_LONG || ranks < BCAST_RANKS => BcastBy::Binomial,
            BcastBy::Auto => BcastBy::ScatterAllgather,
            named => named,
        }
    }
}

/// How [`Comm::reduce_by`](crate::Comm::reduce_by) works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReduceBy {
    /// `Binomial` up to 2 048 bytes, `Rabenseifner` above.
    #[default]
    Auto,
    /// Along a binomial tree, in ⌈log₂ p⌉ rounds.
    Binomial,
    /// Recursive halving, and gathering along a binomial tree. If the operation does not commute,
    /// `Binomial` is used.
    Rabenseifner,
}

impl ReduceBy {
    pub(super) fn chosen(self, bytes: u64, commutes: bool) -> Self {
        match self {
            _ if !commutes => ReduceBy::Binomial,
            ReduceBy::Auto if bytes <= REDUCE_LONG => ReduceBy::Binomial,
            ReduceBy::Auto => ReduceBy::Rabenseifner,
            named => named,
        }
    }
}

/// How [`Comm::allreduce_by`](crate::Comm::allreduce_by) works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllreduceBy {
    /// `RecursiveDoubling` up to 2 048 bytes, `Rabenseifner` up to 1 MiB, `Ring` above.
    #[default]
    Auto,
    /// Pairs exchange everything, in log₂ p rounds.
    RecursiveDoubling,
    /// Blocks go round a ring twice. If the operation does not commute, `RecursiveDoubling` is
    /// used.
    Ring,
    /// Recursive halving, and recursive doubling to gather. If the operation does not commute,
    /// `RecursiveDoubling` is used.
    Rabenseifner,
}

impl AllreduceBy {
    pub(super) fn chosen(self, bytes: u64, commutes: bool) -> Self {
        match self {
            _ if !commutes => AllreduceBy::RecursiveDoubling,
            AllreduceBy::Auto if bytes <= REDUCE_LONG => AllreduceBy::RecursiveDoubling,
            AllreduceBy::Auto if bytes <= ALLREDUCE_RING => AllreduceBy::Rabenseifner,
            AllreduceBy::Auto => AllreduceBy::Ring,
            named => named,
        }
    }
}

/// How [`Comm::allgather_by`](crate::Comm::allgather_by) works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllgatherBy {
    /// By the size of all blocks together: `RecursiveDoubling` below 512 KiB if the ranks are a
    /// power of two, `Bruck` below 80 KiB if not, `Ring` otherwise.
    #[default]
    Auto,
    /// Blocks go round a ring, in p − 1 rounds.
    Ring,
    /// In ⌈log₂ p⌉ rounds, each with twice as many blocks.
    Bruck,
    /// Pairs exchange all that they have, in log₂ p rounds. If the ranks are no power of two,
    /// `Bruck` is used.
    RecursiveDoubling,
}

impl AllgatherBy {
    pub(super) fn chosen(self, block: u64, ranks: u32) -> Self {
        let total = block.saturating_mul(ranks.into());
        let is_power = ranks.is_power_of_two();
        match self {
            AllgatherBy::Auto if total < ALLGATHER_LONGEST && is_power => {
                AllgatherBy::RecursiveDoubling
            }
            AllgatherBy::Auto if total < ALLGATHER_LONG => AllgatherBy::Bruck,
            AllgatherBy::Auto => AllgatherBy::Ring,
            AllgatherBy::RecursiveDoubling if !is_power => AllgatherBy::Bruck,
            named => named,
        }
    }
}

/// How [`Comm::alltoall_by`](crate::Comm::alltoall_by) works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlltoallBy {
    /// `Bruck` for blocks of up to 256 bytes among 8 ranks or more, `Pairwise` otherwise.
    #[default]
    Auto,
    /// In ⌈log₂ p⌉ rounds, each with half of all blocks.
    Bruck,
    /// In p − 1 rounds, each with one block.
    Pairwise,
}

impl AlltoallBy {
    pub(super) fn chosen(self, block: u64, ranks: u32) -> Self {
        match self {
            AlltoallBy::Auto if block <= ALLTOALL_SHORT && ranks >= ALLTOALL_RANKS => {
                AlltoallBy::Bruck
            }
            AlltoallBy::Auto => AlltoallBy::Pairwise,
            named => named,
        }
    }
}
