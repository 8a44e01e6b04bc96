//! A rank, as its program sees it.

pub(crate) mod futures;
mod observing;

use std::ops::Deref;

use self::futures::catch_up;
use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::running::with;

/// A rank of a program, and the communicator of all ranks: all calls of [`Comm`] are its calls, too.
#[derive(Debug)]
pub struct Rank {
    world: Comm,
}

/// What is known of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The sender's rank in the communicator; `None` if there was none, as in `MPI_PROC_NULL`.
    pub source: Option<u32>,
    /// The tag.
    pub tag: u32,
    /// The number of bytes.
    pub bytes: u64,
    /// Whether the request was withdrawn before it found a message.
    pub is_cancelled: bool,
}

impl Rank {
    pub(crate) fn new(id: u32, size: u32) -> Self {
        Rank { world: Comm::world(id, size) }
    }

    /// The communicator of all ranks.
    pub fn world(&self) -> &Comm {
        &self.world
    }

    /// The rank's time, in seconds.
    pub fn wtime(&self) -> f64 {
        with(|progress, _| progress.clock)
    }

    /// Computes for so many seconds.
    ///
    /// # Panics
    /// If the time is negative or not finite.
    #[track_caller]
    pub fn compute(&self, seconds: f64) -> impl Future<Output = ()> + Send + use<> {
        assert!(
            seconds >= 0.0 && seconds.is_finite(),
            "a rank cannot compute for {seconds} s; give a time of 0 or more"
        );
        let call = Call::here(Name::Compute);
        async move {
            with(|progress, net| {
                progress.enter(call, net);
                progress.clock += seconds;
            });
            catch_up().await;
        }
    }
}

impl Deref for Rank {
    type Target = Comm;

    fn deref(&self) -> &Comm {
        &self.world
    }
}
