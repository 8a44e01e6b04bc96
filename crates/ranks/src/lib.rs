//! Virtual MPI: programs whose ranks are logical processes (LPs), on a network that one does not
//! have.
//!
//! A program is what one rank does, with the calls of MPI as async functions:
//! ```
//! use warpline_ranks::prelude::*;
//!
//! /// Every rank greets its neighbour, and waits for the others.
//! struct Hello { target: Target }
//!
//! impl RankProgram for Hello {
//!     fn ranks(&self) -> u32 { 4 }
//!     fn target(&self) -> &Target { &self.target }
//!     async fn run(self: Arc<Self>, rank: Rank) {
//!         let next = (rank.id() + 1) % rank.size();
//!         rank.send(next, 7, &[rank.id()][..]).await;
//!         let (data, status) = rank.recv(ANY_SOURCE, 7, 4).await;
//!         assert_eq!(Some(data.values::<u32>()[0]), status.source);
//!         rank.barrier().await;
//!     }
//! }
//! # let model = Ranks::new(Hello { target: Target::flat(Wire::new(1e-6, 1e9)) });
//! # assert_eq!(warpline_model::Model::lps(&model), 4);
//! ```
//! [`Ranks`] makes it a `Model`, which every engine runs. Time is in seconds.
//!
//! # Time
//! A rank's clock, [`Rank::wtime`], advances by what it computes, by what its calls cost it, and by
//! waiting. Messages take the time that the [`Target`] says: up to [`Target::eager_most`] bytes go
//! at once, and longer ones first ask the receiver, whose card answers as soon as the receive is
//! there. What the program does between calls takes no time, unless it says so by
//! [`Rank::compute`].
//!
//! # What cannot be undone
//! The state of a rank lies in its coroutine, which cannot be copied. So ranks are conservative:
//! they execute only what is certain to happen. The least latency is the lookahead.

mod call;
mod collectives;
mod comm;
mod data;
mod making;
mod model;
mod network;
mod packet;
mod progress;
mod rank;
mod running;
mod status;
mod target;
mod waiting;

pub use collectives::{AllgatherBy, AllreduceBy, AlltoallBy, BcastBy, ReduceBy};
pub use comm::{
    ANY_SOURCE, ANY_TAG, Comm, Peer, Persistent, Request, Tag, test_all, test_any, test_some,
    wait_all, wait_any, wait_some,
};
pub use data::{Data, Datatype, Element, Op};
pub use making::{Cartesian, Graph};
pub use model::any::AnyRanks;
pub use model::lp::RankLp;
pub use model::{RankProgram, Ranks};
pub use packet::{Accept, Content, Envelope, Offer, RankEvent};
pub use rank::Rank;
pub use status::Status;
pub use target::{Target, Wire};

/// What a program of ranks usually needs, in one `use`.
pub mod prelude {
    pub use std::sync::Arc;

    pub use crate::{
        ANY_SOURCE, ANY_TAG, Cartesian, Comm, Data, Element, Op, Peer, Persistent, Rank,
        RankProgram, Ranks, Request, Status, Target, Wire, test_all, test_any, test_some, wait_all,
        wait_any, wait_some,
    };
    pub use warpline_model::prelude::*;
}
