//! Programs in sequential and parallel runs.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use warpline::ranks::prelude::*;
use warpline::{Error, Run, Simulation, Synchronisation};

mod collectives;
mod communicators;
mod cost;
mod engines;
mod matching;
mod mistakes;

/// What a rank does in a program that is told.
type Act = Arc<dyn Fn(Rank) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A program told in a few lines: what each rank does. It is one type for all of them, as the engine
/// is compiled for each.
struct Told {
    ranks: u32,
    target: Target,
    act: Act,
}

impl RankProgram for Told {
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

fn boxed<F, G>(act: F) -> Act
where
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |rank| Box::pin(act(rank)))
}

/// Values that ranks leave, by rank.
#[derive(Clone)]
struct Notes<T>(Arc<Mutex<Vec<(u32, T)>>>);

impl<T: Clone> Notes<T> {
    fn new() -> Self {
        Notes(Arc::new(Mutex::new(Vec::new())))
    }

    fn add(&self, rank: u32, value: T) {
        self.0.lock().unwrap().push((rank, value));
    }

    /// The values, in the order of ranks, and of notes of a rank.
    fn take(&self) -> Vec<T> {
        let mut all = std::mem::take(&mut *self.0.lock().unwrap());
        all.sort_by_key(|(rank, _)| *rank);
        all.into_iter().map(|(_, value)| value).collect()
    }
}

/// What a rank does that leaves notes.
fn noting<T, F, G>(notes: &Notes<T>, act: F) -> impl Fn(Rank) -> G + Send + Sync + 'static
where
    T: Clone + Send + 'static,
    F: Fn(Rank, Notes<T>) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    let notes = notes.clone();
    move |rank| act(rank, notes.clone())
}

/// Simulates a program to its end, and returns the notes that its ranks leave.
fn noted<T, F, G>(ranks: u32, target: &Target, act: F) -> Vec<T>
where
    T: Clone + Send + 'static,
    F: Fn(Rank, Notes<T>) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    let notes = Notes::new();
    simulate(ranks, target, noting(&notes, act));
    notes.take()
}

/// Simulates a program to its end, and returns what each rank has in the end.
fn results<T, F, G>(ranks: u32, target: &Target, act: F) -> Vec<T>
where
    T: Clone + Send + 'static,
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = T> + Send + 'static,
{
    let results = noted(ranks, target, move |rank, notes| {
        let id = rank.id();
        let end = act(rank);
        async move { notes.add(id, end.await) }
    });
    assert_eq!(results.len(), ranks as usize, "all ranks came to their end");
    results
}

/// Simulates a program to its end.
fn simulate<F, G>(ranks: u32, target: &Target, act: F) -> Run<Ranks<Told>>
where
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    run(ranks, target, boxed(act)).unwrap_or_else(|why| panic!("{why}"))
}

/// Why a program fails.
fn failure<F, G>(ranks: u32, target: &Target, act: F) -> String
where
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    match run(ranks, target, boxed(act)) {
        Ok(_) => panic!("the program is wrong, and nothing says so"),
        Err(why) => why.to_string(),
    }
}

fn run(ranks: u32, target: &Target, act: Act) -> Result<Run<Ranks<Told>>, Error> {
    let program = Ranks::new(Told { ranks, target: target.clone(), act });
    Simulation::new(program).end(1e6).sync(Synchronisation::Sequential).run()
}
