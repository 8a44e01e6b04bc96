use super::ring::gather_round;
use super::steps::Steps;
use super::{BcastBy, gather::scatter_down};
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::Data;
use crate::data::parts::Blocks;

impl Comm {
    /// All ranks get the root's data: `MPI_Bcast`. All ranks give data of the same size; what is in
    /// that of others does not matter.
    #[track_caller]
    pub fn bcast(&self, root: u32, data: impl Into<Data>) -> impl Future<Output = Data> + Send {
        self.broadcast(Call::here(Name::Bcast), BcastBy::Auto, root, data.into())
    }

    /// Like [`bcast`](Self::bcast), by this algorithm.
    #[track_caller]
    pub fn bcast_by(
        &self,
        by: BcastBy,
        root: u32,
        data: impl Into<Data>,
    ) -> impl Future<Output = Data> + Send {
        self.broadcast(Call::here(Name::Bcast), by, root, data.into())
    }

    async fn broadcast(&self, call: Call, by: BcastBy, root: u32, data: Data) -> Data {
        let steps = Steps::begin(self, call);
        if !steps.check_root(root) {
            return data;
        }
        let by = by.chosen(data.len(), self.size());
        Box::pin(async move {
            match by {
                BcastBy::ScatterAllgather => scattered(&steps, root, data).await,
                BcastBy::Auto | BcastBy::Binomial => binomial(&steps, root, data).await,
            }
        })
        .await
    }
}

/// Along a binomial tree.
pub(super) async fn binomial(steps: &Steps<'_>, root: u32, mut data: Data) -> Data {
    let (size, bytes) = (steps.size(), data.len());
    let place = steps.before(steps.me(), root);
    let mut mask = 1;
    while mask < size && place & mask == 0 {
        mask <<= 1;
    }
    if mask < size {
        data = steps.recv(steps.before(steps.me(), mask)).await;
        steps.check_len(&data, bytes);
    }
    mask >>= 1;
    while mask > 0 {
        if place + mask < size {
            steps.send(steps.after(steps.me(), mask), data.clone()).await;
        }
        mask >>= 1;
    }
    data
}

/// Blocks go down a binomial tree, and round a ring.
async fn scattered(steps: &Steps<'_>, root: u32, data: Data) -> Data {
    let blocks = Blocks::of(&data, steps.size());
    let held = if steps.me() == root { Some(data) } else { None };
    let own = scatter_down(steps, root, held, &|places| blocks.bytes(places)).await;
    let all = gather_round(steps, root, own).await;
    Data::joined(all.iter())
}
