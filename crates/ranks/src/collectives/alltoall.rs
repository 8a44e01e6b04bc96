use super::AlltoallBy;
use super::steps::Steps;
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::Data;

impl Comm {
    /// Every rank gives a block for each, and gets a block of each: `MPI_Alltoall`. The blocks are
    /// of the same size, one after the other.
    #[track_caller]
    pub fn alltoall(&self, data: impl Into<Data>) -> impl Future<Output = Data> + Send {
        self.exchange_all(Call::here(Name::Alltoall), AlltoallBy::Auto, data.into())
    }

    /// Like [`alltoall`](Self::alltoall), by this algorithm.
    #[track_caller]
    pub fn alltoall_by(
        &self,
        by: AlltoallBy,
        data: impl Into<Data>,
    ) -> impl Future<Output = Data> + Send {
        self.exchange_all(Call::here(Name::Alltoall), by, data.into())
    }

    async fn exchange_all(&self, call: Call, by: AlltoallBy, data: Data) -> Data {
        let steps = Steps::begin(self, call);
        let ranks = u64::from(self.size());
        if !data.len().is_multiple_of(ranks) {
            steps.fail(format!("{} bytes are no block for each of {ranks} ranks", data.len()));
            return data;
        }
        let block = data.len() / ranks;
        let blocks: Vec<Data> =
            (0..ranks).map(|rank| data.part(rank * block..(rank + 1) * block)).collect();
        let by = by.chosen(block, self.size());
        Box::pin(async move {
            let received = match by {
                AlltoallBy::Bruck => bruck(&steps, blocks, block).await,
                AlltoallBy::Auto | AlltoallBy::Pairwise => pairwise(&steps, blocks, block).await,
            };
            Data::joined(received.iter())
        })
        .await
    }
}

/// Each round, every rank exchanges a block with another one.
async fn pairwise(steps: &Steps<'_>, mut blocks: Vec<Data>, block: u64) -> Vec<Data> {
    let (me, size) = (steps.me(), steps.size());
    let mut received = blocks.clone();
    for round in 1..size {
        let (to, from) = if size.is_power_of_two() {
            (me ^ round, me ^ round)
        } else {
            (steps.after(me, round), steps.before(me, round))
        };
        let sent = std::mem::replace(&mut blocks[to as usize], Data::size(0));
        let data = steps.exchange(to, sent, from).await;
        steps.check_len(&data, block);
        received[from as usize] = data;
    }
    received
}

/// Each round, blocks travel a power of two further, those whose way has that power.
async fn bruck(steps: &Steps<'_>, mut blocks: Vec<Data>, block: u64) -> Vec<Data> {
    let (me, size) = (steps.me(), steps.size());
    // From now on, each block is in the place that says how far it has to go.
    blocks.rotate_left(me as usize);
    let mut distance = 1;
    while distance < size {
        let places: Vec<u32> = (0..size).filter(|way| way & distance != 0).collect();
        let travelling = Data::joined(places.iter().map(|place| &blocks[*place as usize]));
        let (to, from) = (steps.after(me, distance), steps.before(me, distance));
        let bytes = travelling.len();
        let data = steps.exchange(to, travelling, from).await;
        steps.check_len(&data, bytes);
        if data.len() == bytes {
            for (number, place) in (0..).zip(places) {
                blocks[place as usize] = data.part(number * block..(number + 1) * block);
            }
        }
        distance *= 2;
    }
    (0..size).map(|from| blocks[steps.before(me, from) as usize].clone()).collect()
}
