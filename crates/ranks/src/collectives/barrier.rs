use super::steps::Steps;
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::Data;

impl Comm {
    /// Waits until all ranks have called this, by dissemination: in round k, each rank tells the one
    /// 2ᵏ further on, in ⌈log₂ p⌉ rounds (D. Hensgen, R. Finkel, U. Manber, "Two algorithms for
    /// barrier synchronization", IJPP 1988).
    #[track_caller]
    pub fn barrier(&self) -> impl Future<Output = ()> + Send {
        let call = Call::here(Name::Barrier);
        async move {
            let steps = Steps::begin(self, call);
            let (me, size) = (steps.me(), steps.size());
            let mut distance = 1;
            while distance < size {
                let to = (me + distance) % size;
                let from = (me + size - distance) % size;
                steps.exchange(to, Data::size(0), from).await;
                distance *= 2;
            }
        }
    }
}
