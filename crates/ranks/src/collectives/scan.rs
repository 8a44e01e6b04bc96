//! Reductions over all ranks before.

use super::steps::Steps;
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::data::{Data, Op};

impl Comm {
    /// Every rank gets what the data of the ranks up to itself become: `MPI_Scan`, by recursive
    /// doubling.
    #[track_caller]
    pub fn scan(&self, op: Op, data: impl Into<Data>) -> impl Future<Output = Data> + Send {
        let call = Call::here(Name::Scan);
        let data = data.into();
        async move {
            let steps = Steps::begin(self, call);
            Box::pin(async move {
                let before = prefix(&steps, op, data.clone()).await;
                before.map_or_else(|| data.clone(), |before| steps.combine(op, &before, &data))
            })
            .await
        }
    }

    /// Every rank gets what the data of the ranks before it become: `MPI_Exscan`, by recursive
    /// doubling. The first rank gets `None`.
    #[track_caller]
    pub fn exscan(
        &self,
        op: Op,
        data: impl Into<Data>,
    ) -> impl Future<Output = Option<Data>> + Send {
        let call = Call::here(Name::Exscan);
        let data = data.into();
        async move {
            let steps = Steps::begin(self, call);
            Box::pin(async move { prefix(&steps, op, data).await }).await
        }
    }
}

/// What the data of the ranks before this one become.
async fn prefix(steps: &Steps<'_>, op: Op, data: Data) -> Option<Data> {
    let me = steps.me();
    // That of the ranks with which this one has exchanged, and itself.
    let mut known = data;
    let mut before: Option<Data> = None;
    let mut mask = 1;
    while mask < steps.size() {
        let other = me ^ mask;
        if other < steps.size() {
            let theirs = steps.exchange(other, known.clone(), other).await;
            if other < me {
                known = steps.combine(op, &theirs, &known);
                before = Some(match before {
                    Some(before) => steps.combine(op, &theirs, &before),
                    None => theirs,
                });
            } else {
                known = steps.combine(op, &known, &theirs);
            }
        }
        mask <<= 1;
    }
    before
}
