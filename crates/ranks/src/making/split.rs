//! Communicators of some ranks of others.

use crate::call::{Call, Name};
use crate::collectives::{AllgatherBy, AllreduceBy};
use crate::comm::Comm;
use crate::data::{Data, Op};
use crate::running::with;

/// The most that a communicator's number can be: contexts have a bit more.
const NUMBER_MOST: u32 = u32::MAX >> 1;

impl Comm {
    /// A communicator of the same ranks, whose messages are apart: `MPI_Comm_dup`. The ranks agree
    /// on a number for it by an all-reduce.
    #[track_caller]
    pub fn dup(&self) -> impl Future<Output = Comm> + Send {
        let call = Call::here(Name::CommDup);
        async move {
            let number = self.agree(call).await;
            self.with_number(number)
        }
    }

    /// A communicator of those ranks that give the same colour, in the order of their keys, and of
    /// ranks among equals: `MPI_Comm_split`. Without a colour a rank gets none. The ranks tell each
    /// other by an all-gather.
    #[track_caller]
    pub fn split(
        &self,
        colour: Option<u32>,
        key: i32,
    ) -> impl Future<Output = Option<Comm>> + Send {
        let call = Call::here(Name::CommSplit);
        async move {
            let own = [u32::from(colour.is_some()), colour.unwrap_or(0), key as u32, next_number()];
            let all = self.gather_all(call, AllgatherBy::Auto, Data::from(own)).await;
            let all = all.values::<u32>();
            let told = all.chunks_exact(own.len());
            let number = told.clone().map(|told| told[3]).max().unwrap_or(0);
            use_number(number);
            let mut members: Vec<(i32, u32)> = (0..)
                .zip(told)
                .filter(|(_, told)| told[..2] == own[..2])
                .map(|(rank, told)| (told[2] as i32, rank))
                .collect();
            members.sort_unstable();
            colour?;
            let ranks = members.into_iter().map(|(_, rank)| rank);
            self.with_members(number, ranks.collect())
        }
    }

    /// A communicator of these ranks, in this order: `MPI_Comm_create`. All ranks of this one must
    /// call it with the same list; those that are not in it get `None`.
    ///
    /// # Panics
    /// If a rank is listed twice or does not exist.
    #[track_caller]
    pub fn create(&self, ranks: &[u32]) -> impl Future<Output = Option<Comm>> + Send {
        let call = Call::here(Name::CommCreate);
        async move {
            let number = self.agree(call).await;
            self.with_members(number, ranks.to_vec())
        }
    }

    /// The number of a communicator that is made: one that none of its ranks has used.
    pub(super) async fn agree(&self, call: Call) -> u32 {
        let own = Data::from([next_number()]);
        let all = self.reduce_all(call, AllreduceBy::Auto, Op::Max, own).await;
        let number = all.values::<u32>()[0];
        use_number(number);
        number
    }
}

/// The least number that this rank has used for no communicator.
fn next_number() -> u32 {
    with(|progress, _| progress.next_context)
}

/// This rank has used a number.
fn use_number(number: u32) {
    with(|progress, net| {
        if number >= NUMBER_MOST {
            progress
                .fail(net, format!("it has made {number} communicators, the most there can be"));
        }
        progress.next_context = number + 1;
    });
}
