use super::AllgatherBy;
use super::ring::gather_round;
use super::steps::Steps;
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::Data;

impl Comm {
    /// Every rank gets the data of all ranks, one after the other: `MPI_Allgather`. All ranks give
    /// as many bytes.
    #[track_caller]
    pub fn allgather(&self, data: impl Into<Data>) -> impl Future<Output = Data> + Send {
        self.gather_all(Call::here(Name::Allgather), AllgatherBy::Auto, data.into())
    }

    /// Like [`allgather`](Self::allgather), by this algorithm.
    #[track_caller]
    pub fn allgather_by(
        &self,
        by: AllgatherBy,
        data: impl Into<Data>,
    ) -> impl Future<Output = Data> + Send {
        self.gather_all(Call::here(Name::Allgather), by, data.into())
    }

    pub(crate) async fn gather_all(&self, call: Call, by: AllgatherBy, data: Data) -> Data {
        let steps = Steps::begin(self, call);
        let by = by.chosen(data.len(), self.size());
        Box::pin(async move {
            match by {
                AllgatherBy::Bruck => bruck(&steps, data).await,
                AllgatherBy::RecursiveDoubling => doubling(&steps, data).await,
                AllgatherBy::Auto | AllgatherBy::Ring => {
                    let block = data.len();
                    let all = gather_round(&steps, 0, data).await;
                    all.iter().for_each(|data| steps.check_len(data, block));
                    Data::joined(all.iter())
                }
            }
        })
        .await
    }
}

/// Pairs exchange all that they have. The ranks are a power of two.
async fn doubling(steps: &Steps<'_>, data: Data) -> Data {
    let me = steps.me();
    let mut held = data;
    let mut mask = 1;
    while mask < steps.size() {
        let other = me ^ mask;
        let theirs = steps.exchange(other, held.clone(), other).await;
        steps.check_len(&theirs, held.len());
        let pair = if other > me { [held, theirs] } else { [theirs, held] };
        held = Data::joined(pair.iter());
        mask <<= 1;
    }
    held
}

/// J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing
/// systems", TPDS 8(11), 1997.
async fn bruck(steps: &Steps<'_>, data: Data) -> Data {
    let (me, size) = (steps.me(), steps.size());
    let block = data.len();
    let mut held = data;
    let mut distance = 1;
    while distance < size {
        let bytes = block * u64::from(distance.min(size - distance));
        let first = held.part(0..bytes);
        let (to, from) = (steps.before(me, distance), steps.after(me, distance));
        let more = steps.exchange(to, first, from).await;
        steps.check_len(&more, bytes);
        held = Data::joined([held, more].iter());
        distance *= 2;
    }
    let at = u64::from(size - me) * block;
    let all = held.len();
    Data::joined([held.part(at..all), held.part(0..at)].iter())
}
