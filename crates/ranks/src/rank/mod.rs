//! A rank, as its program sees it.

mod observing;

use std::ops::Deref;

use crate::call::{Call, Name};
use crate::comm::Comm;
use crate::running::with;
use crate::waiting::catch_up;

/// A rank of a program, and the communicator of all ranks: all calls of [`Comm`] are its calls, too.
#[derive(Debug)]
pub struct Rank {
    world: Comm,
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
