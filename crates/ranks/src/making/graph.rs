//! Ranks as a graph.

use std::ops::Deref;

use crate::call::{Call, Name};
use crate::comm::{Comm, wait_all};
use crate::data::Data;

/// A communicator whose ranks know their neighbours: `MPI_Dist_graph_create_adjacent` without
/// reordering. All calls of [`Comm`] are its calls, too.
#[derive(Clone, Debug)]
pub struct Graph {
    comm: Comm,
    from: Vec<u32>,
    to: Vec<u32>,
}

/// The tag of messages between neighbours, which the program should not use itself.
const NEIGHBOURS: u32 = u32::MAX;

impl Comm {
    /// A graph in which this rank receives from some ranks and sends to others. All ranks call it.
    ///
    /// # Panics
    /// If there is no such rank.
    #[track_caller]
    pub fn graph(&self, from: &[u32], to: &[u32]) -> impl Future<Output = Graph> + Send {
        let call = Call::here(Name::GraphCreate);
        for rank in from.iter().chain(to) {
            self.in_world(*rank);
        }
        let (from, to) = (from.to_vec(), to.to_vec());
        async move {
            let number = self.agree(call).await;
            Graph { comm: self.with_number(number), from, to }
        }
    }
}

impl Graph {
    /// The ranks that this one receives from, and those that it sends to.
    pub fn neighbours(&self) -> (&[u32], &[u32]) {
        (&self.from, &self.to)
    }

    /// Sends this to all neighbours, and receives at most `most` bytes from each:
    /// `MPI_Neighbor_allgather`.
    #[track_caller]
    pub fn exchange(
        &self,
        data: impl Into<Data>,
        most: u64,
    ) -> impl Future<Output = Vec<Data>> + Send {
        let receives: Vec<_> =
            self.from.iter().map(|rank| self.comm.irecv(*rank, NEIGHBOURS, most)).collect();
        let data = data.into();
        let sends = self.to.iter().map(|rank| self.comm.isend(*rank, NEIGHBOURS, data.clone()));
        let sends: Vec<_> = sends.collect();
        async move {
            let received = wait_all(receives).await;
            wait_all(sends).await;
            received.into_iter().map(|(data, _)| data).collect()
        }
    }
}

impl Deref for Graph {
    type Target = Comm;

    fn deref(&self) -> &Comm {
        &self.comm
    }
}
