//! Programs in sequential and parallel runs.

use std::sync::{Arc, Mutex};

use warpline_run::{Run, Simulation};

use crate::prelude::*;

mod cost;

/// A program told in a few lines: what each rank does. It may leave values for the test.
pub(crate) struct Told<F> {
    ranks: u32,
    target: Target,
    act: F,
}

impl<F, G> RankProgram for Told<F>
where
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn target(&self) -> &Target {
        &self.target
    }

    async fn run(self: Arc<Self>, rank: Rank) {
        (self.act)(rank).await;
    }
}

/// Values that ranks leave, by rank.
#[derive(Clone)]
pub(crate) struct Notes<T>(Arc<Mutex<Vec<(u32, T)>>>);

impl<T: Clone> Notes<T> {
    pub(crate) fn new() -> Self {
        Notes(Arc::new(Mutex::new(Vec::new())))
    }

    pub(crate) fn add(&self, rank: u32, value: T) {
        self.0.lock().unwrap().push((rank, value));
    }

    /// The values, in the order of ranks, and of notes of a rank.
    pub(crate) fn take(&self) -> Vec<T> {
        let mut all = std::mem::take(&mut *self.0.lock().unwrap());
        all.sort_by_key(|(rank, _)| *rank);
        all.into_iter().map(|(_, value)| value).collect()
    }
}

/// Simulates a program to its end, on one PE and on three, which must agree.
pub(crate) fn simulate<F, G>(ranks: u32, target: &Target, act: F) -> Run<Ranks<Told<F>>>
where
    F: Fn(Rank) -> G + Clone + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    let program = || Ranks::new(Told { ranks, target: target.clone(), act: act.clone() });
    Simulation::new(program()).end(1e6).run().unwrap_or_else(|why| panic!("{why}"))
}

/// Why a program fails.
pub(crate) fn failure<F, G>(ranks: u32, target: &Target, act: F) -> String
where
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    let program = Ranks::new(Told { ranks, target: target.clone(), act });
    Simulation::new(program).end(1e6).run().err().expect("the program is wrong").to_string()
}
