//! Blocks that go to one rank or come from one, along a binomial tree.

use std::ops::Range;

use super::steps::Steps;
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::Data;
use crate::data::parts::Blocks;

impl Comm {
    /// The root gets the data of all ranks, one after the other: `MPI_Gather`, along a binomial
    /// tree. All ranks give as many bytes. Others than the root get `None`.
    #[track_caller]
    pub fn gather(
        &self,
        root: u32,
        data: impl Into<Data>,
    ) -> impl Future<Output = Option<Data>> + Send {
        let call = Call::here(Name::Gather);
        let data = data.into();
        async move {
            let steps = Steps::begin(self, call);
            if !steps.check_root(root) {
                return None;
            }
            Box::pin(async move { gather_up(&steps, root, data).await }).await
        }
    }

    /// Every rank gets a block of the root's data: `MPI_Scatter`, along a binomial tree. The root
    /// gives `block` bytes for each rank, and others nothing.
    #[track_caller]
    pub fn scatter(
        &self,
        root: u32,
        data: Option<Data>,
        block: u64,
    ) -> impl Future<Output = Data> + Send {
        let call = Call::here(Name::Scatter);
        async move {
            let steps = Steps::begin(self, call);
            let wanted = block.saturating_mul(self.size().into());
            if !steps.check_root(root) {
                return Data::size(block);
            }
            if steps.me() == root && data.as_ref().map_or(0, Data::len) != wanted {
                steps.fail(format!(
                    "the root scatters {} bytes to {} ranks; {block} for each are {wanted}",
                    data.as_ref().map_or(0, Data::len),
                    self.size()
                ));
            }
            Box::pin(async move { scatter_equal(&steps, root, data, block).await }).await
        }
    }
}

/// Blocks of the same size go from the root to all ranks.
pub(super) async fn scatter_equal(
    steps: &Steps<'_>,
    root: u32,
    data: Option<Data>,
    block: u64,
) -> Data {
    // The tree hands out blocks from the root on.
    let turned = data.filter(|_| steps.me() == root).map(|data| {
        let at = u64::from(root) * block;
        let all = data.len();
        Data::joined([data.part(at..all), data.part(0..at)].iter())
    });
    let range = |places: Range<u32>| u64::from(places.start) * block..u64::from(places.end) * block;
    let own = scatter_down(steps, root, turned, &range).await;
    steps.check_len(&own, block);
    own
}

/// Hands out what the root holds, a range of bytes to each place after it, along a binomial tree.
/// Returns the rank's own.
pub(super) async fn scatter_down(
    steps: &Steps<'_>,
    root: u32,
    held: Option<Data>,
    bytes: &(impl Fn(Range<u32>) -> Range<u64> + Sync),
) -> Data {
    let size = steps.size();
    let place = steps.before(steps.me(), root);
    let mut mask = 1;
    while mask < size && place & mask == 0 {
        mask <<= 1;
    }
    let mut end = size.min(place.saturating_add(mask));
    let mut held = match held {
        Some(data) => data,
        None => {
            let wanted = bytes(place..end);
            let data = steps.recv(steps.before(steps.me(), mask)).await;
            steps.check_len(&data, wanted.end - wanted.start);
            data
        }
    };
    mask >>= 1;
    while mask > 0 {
        if place + mask < size {
            let (from, middle) = (bytes(place..place + 1).start, bytes(place + mask..end).start);
            let rest = held.part(middle - from..held.len());
            held = held.part(0..middle - from);
            steps.send(steps.after(steps.me(), mask), rest).await;
            end = place + mask;
        }
        mask >>= 1;
    }
    held
}

/// Gathers blocks of the same size at the root.
async fn gather_up(steps: &Steps<'_>, root: u32, data: Data) -> Option<Data> {
    let size = steps.size();
    let block = data.len();
    let place = steps.before(steps.me(), root);
    let mut held = data;
    let mut mask = 1;
    while mask < size {
        if place & mask != 0 {
            steps.send(steps.before(steps.me(), mask), held).await;
            return None;
        }
        if place + mask < size {
            let more = steps.recv(steps.after(steps.me(), mask)).await;
            steps.check_len(&more, block * u64::from(mask.min(size - place - mask)));
            held = Data::joined([held, more].iter());
        }
        mask <<= 1;
    }
    // From the root on, as the tree has gathered them, to the order of ranks.
    let at = held.len() - u64::from(root) * block;
    let all = held.len();
    Some(Data::joined([held.part(at..all), held.part(0..at)].iter()))
}

/// Hands out blocks of data that the first rank has, as equal as can be.
pub(super) async fn scatter_blocks(steps: &Steps<'_>, data: Option<Data>, blocks: Blocks) -> Data {
    scatter_down(steps, 0, data, &|places| blocks.bytes(places)).await
}
