//! Reductions: the data of all ranks become one.

use super::fold::Fold;
use super::gather::scatter_blocks;
use super::steps::Steps;
use super::{AllreduceBy, ReduceBy};
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::parts::Blocks;
use crate::data::{Data, Op};

impl Comm {
    /// The root gets what the data of all ranks become: `MPI_Reduce`. Others get `None`.
    #[track_caller]
    pub fn reduce(
        &self,
        root: u32,
        op: Op,
        data: impl Into<Data>,
    ) -> impl Future<Output = Option<Data>> + Send {
        self.reduce_at(Call::here(Name::Reduce), ReduceBy::Auto, root, op, data.into())
    }

    /// Like [`reduce`](Self::reduce), by this algorithm.
    #[track_caller]
    pub fn reduce_by(
        &self,
        by: ReduceBy,
        root: u32,
        op: Op,
        data: impl Into<Data>,
    ) -> impl Future<Output = Option<Data>> + Send {
        self.reduce_at(Call::here(Name::Reduce), by, root, op, data.into())
    }

    async fn reduce_at(
        &self,
        call: Call,
        by: ReduceBy,
        root: u32,
        op: Op,
        data: Data,
    ) -> Option<Data> {
        let steps = Steps::begin(self, call);
        if !steps.check_root(root) {
            return None;
        }
        let by = by.chosen(data.len(), op.commutes());
        Box::pin(async move {
            match by {
                ReduceBy::Rabenseifner => reduce_halves(&steps, root, op, data).await,
                ReduceBy::Auto | ReduceBy::Binomial => binomial(&steps, root, op, data).await,
            }
        })
        .await
    }

    /// Every rank gets what the data of all ranks become: `MPI_Allreduce`.
    #[track_caller]
    pub fn allreduce(&self, op: Op, data: impl Into<Data>) -> impl Future<Output = Data> + Send {
        self.reduce_all(Call::here(Name::Allreduce), AllreduceBy::Auto, op, data.into())
    }

    /// Like [`allreduce`](Self::allreduce), by this algorithm.
    #[track_caller]
    pub fn allreduce_by(
        &self,
        by: AllreduceBy,
        op: Op,
        data: impl Into<Data>,
    ) -> impl Future<Output = Data> + Send {
        self.reduce_all(Call::here(Name::Allreduce), by, op, data.into())
    }

    pub(crate) async fn reduce_all(&self, call: Call, by: AllreduceBy, op: Op, data: Data) -> Data {
        let steps = Steps::begin(self, call);
        let by = by.chosen(data.len(), op.commutes());
        Box::pin(async move {
            match by {
                AllreduceBy::Ring => ring(&steps, op, data).await,
                AllreduceBy::Rabenseifner => all_halves(&steps, op, data).await,
                AllreduceBy::Auto | AllreduceBy::RecursiveDoubling => {
                    doubling(&steps, op, data).await
                }
            }
        })
        .await
    }

    /// Every rank gets a block of what the data of all ranks become: `MPI_Reduce_scatter_block`. By
    /// recursive halving if the ranks are a power of two and the operation commutes; by exchange of
    /// pairs if only that; and by `reduce` and `scatter` otherwise.
    #[track_caller]
    pub fn reduce_scatter(
        &self,
        op: Op,
        data: impl Into<Data>,
    ) -> impl Future<Output = Data> + Send {
        let call = Call::here(Name::ReduceScatter);
        let data = data.into();
        async move {
            let steps = Steps::begin(self, call);
            let ranks = u64::from(self.size());
            let values = data.len() / data.datatype().size() as u64;
            if !data.len().is_multiple_of(ranks) || !values.is_multiple_of(ranks) {
                steps.fail(format!("{} bytes are no block for each of {ranks} ranks", data.len()));
                return data;
            }
            Box::pin(async move {
                let blocks = Blocks::of(&data, steps.size());
                if !op.commutes() {
                    let whole = binomial(&steps, 0, op, data).await;
                    scatter_blocks(&steps, whole, blocks).await
                } else if steps.size().is_power_of_two() {
                    let fold = Fold::of(steps.size(), None);
                    halving(&steps, &fold, steps.me(), op, data).await
                } else {
                    pairwise(&steps, op, data, blocks).await
                }
            })
            .await
        }
    }
}

/// Along a binomial tree, in the order of ranks from `root` on; if order matters, from rank 0 on.
pub(super) async fn binomial(steps: &Steps<'_>, root: u32, op: Op, mut data: Data) -> Option<Data> {
    let (me, size) = (steps.me(), steps.size());
    let top = if op.commutes() { root } else { 0 };
    let place = steps.before(me, top);
    let mut mask = 1;
    while mask < size && place & mask == 0 {
        if place + mask < size {
            let theirs = steps.recv(steps.after(me, mask)).await;
            data = steps.combine(op, &data, &theirs);
        }
        mask <<= 1;
    }
    if mask < size {
        steps.send(steps.before(me, mask), data.clone()).await;
    }
    if top != root {
        if me == top {
            steps.send(root, data).await;
            return None;
        }
        if me == root {
            return Some(steps.recv(top).await);
        }
    }
    (me == root).then_some(data)
}

/// Pairs exchange everything, in the order of ranks.
async fn doubling(steps: &Steps<'_>, op: Op, data: Data) -> Data {
    let fold = Fold::of(steps.size(), None);
    let mut held = fold.fold(steps, op, data).await;
    if let (Some(own), Some(number)) = (held.take(), fold.number(steps.me())) {
        let mut own = own;
        let mut mask = 1;
        while mask < fold.count {
            let other = fold.rank(number ^ mask);
            let theirs = steps.exchange(other, own.clone(), other).await;
            own = if number & mask == 0 {
                steps.combine(op, &own, &theirs)
            } else {
                steps.combine(op, &theirs, &own)
            };
            mask <<= 1;
        }
        held = Some(own);
    }
    fold.unfold(steps, held).await
}

/// Recursive halving: each round, pairs exchange the half that the other keeps, until everyone has
/// the block of its number.
async fn halving(steps: &Steps<'_>, fold: &Fold, number: u32, op: Op, data: Data) -> Data {
    let blocks = Blocks::of(&data, fold.count);
    let mut held = data;
    let (mut first, mut mask) = (0, fold.count / 2);
    while mask > 0 {
        let other = fold.rank(number ^ mask);
        let start = blocks.bytes(first..first + mask);
        let (low, high) = (held.part(0..start.end - start.start), {
            held.part(start.end - start.start..held.len())
        });
        let (kept, given) = if number & mask == 0 { (low, high) } else { (high, low) };
        let theirs = steps.exchange(other, given, other).await;
        held = steps.combine(op, &kept, &theirs);
        first += number & mask;
        mask /= 2;
    }
    held
}

/// Rabenseifner's algorithm for one rank: recursive halving, and a binomial tree to the root.
async fn reduce_halves(steps: &Steps<'_>, root: u32, op: Op, data: Data) -> Option<Data> {
    let fold = Fold::of(steps.size(), Some(root));
    let data = fold.fold(steps, op, data).await?;
    let number = fold.number(steps.me())?;
    let top = fold.number(root)?;
    let mut held = halving(steps, &fold, number, op, data).await;
    let mut mask = 1;
    while mask < fold.count {
        let other = fold.rank(number ^ mask);
        if (number ^ top) & mask != 0 {
            steps.send(other, held).await;
            return None;
        }
        let theirs = steps.recv(other).await;
        let pair = if number & mask == 0 { [held, theirs] } else { [theirs, held] };
        held = Data::joined(pair.iter());
        mask <<= 1;
    }
    Some(held)
}

/// Rabenseifner's algorithm for all ranks: recursive halving, and recursive doubling to gather.
async fn all_halves(steps: &Steps<'_>, op: Op, data: Data) -> Data {
    let fold = Fold::of(steps.size(), None);
    let mut held = fold.fold(steps, op, data).await;
    if let (Some(own), Some(number)) = (held.take(), fold.number(steps.me())) {
        let mut own = halving(steps, &fold, number, op, own).await;
        let mut mask = 1;
        while mask < fold.count {
            let other = fold.rank(number ^ mask);
            let theirs = steps.exchange(other, own.clone(), other).await;
            let pair = if number & mask == 0 { [own, theirs] } else { [theirs, own] };
            own = Data::joined(pair.iter());
            mask <<= 1;
        }
        held = Some(own);
    }
    fold.unfold(steps, held).await
}

/// Blocks go round a ring: once to be combined, and once more to reach everyone.
async fn ring(steps: &Steps<'_>, op: Op, data: Data) -> Data {
    let (me, size) = (steps.me(), steps.size());
    let (next, previous) = (steps.after(me, 1), steps.before(me, 1));
    let blocks = Blocks::of(&data, size);
    let mut all: Vec<Data> =
        (0..size).map(|block| data.part(blocks.bytes(block..block + 1))).collect();
    for round in 1..size {
        let (given, kept) = (steps.before(me, round - 1), steps.before(me, round));
        let theirs = steps.exchange(next, all[given as usize].clone(), previous).await;
        all[kept as usize] = steps.combine(op, &theirs, &all[kept as usize]);
    }
    for round in 1..size {
        let (given, taken) = (steps.before(next, round - 1), steps.before(next, round));
        all[taken as usize] = steps.exchange(next, all[given as usize].clone(), previous).await;
    }
    Data::joined(all.iter())
}

/// Every rank gets its block of each other one.
async fn pairwise(steps: &Steps<'_>, op: Op, data: Data, blocks: Blocks) -> Data {
    let me = steps.me();
    let block = |of: u32| data.part(blocks.bytes(of..of + 1));
    let mut own = block(me);
    for round in 1..steps.size() {
        let (to, from) = (steps.after(me, round), steps.before(me, round));
        let theirs = steps.exchange(to, block(to), from).await;
        own = steps.combine(op, &own, &theirs);
    }
    own
}
