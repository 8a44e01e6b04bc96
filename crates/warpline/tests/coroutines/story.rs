//! Short stories of the processes of one LP, which write down what happens when.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use warpline::process::ProcessLp;
use warpline::process::prelude::*;
use warpline::{Error, Simulation};

type Told = Pin<Box<dyn Future<Output = ()> + Send>>;
type Teller = Box<dyn Fn(Sim<u32>, Log) -> Told + Send + Sync>;

/// What happened when.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, sim: Sim<u32>, what: impl std::fmt::Display) {
        self.0.lock().unwrap().push(format!("{} {what}", sim.now()));
    }
}

struct Story {
    tell: Teller,
    log: Log,
}

impl ProcessModel for Story {
    type Message = u32;

    fn lps(&self) -> u32 {
        1
    }

    async fn run(self: Arc<Self>, sim: Sim<u32>) {
        (self.tell)(sim, self.log.clone()).await;
    }
}

/// What a story left.
pub(crate) struct Outcome {
    pub(crate) lines: Vec<String>,
    pub(crate) lp: ProcessLp<u32>,
}

/// Tells a story to time 100.
pub(crate) fn told<F: Future<Output = ()> + Send + 'static>(
    tell: impl Fn(Sim<u32>, Log) -> F + Send + Sync + 'static,
) -> Result<Outcome, Error> {
    told_with(1_000_000, tell)
}

/// Tells a story in which so many things may happen at one instant.
pub(crate) fn told_with<F: Future<Output = ()> + Send + 'static>(
    hops: u32,
    tell: impl Fn(Sim<u32>, Log) -> F + Send + Sync + 'static,
) -> Result<Outcome, Error> {
    let log = Log::default();
    let tell: Teller = Box::new(move |sim, log| Box::pin(tell(sim, log)));
    let story = Story { tell, log: log.clone() };
    let simulation = Simulation::new(Coroutines::new(story)).end(100.0).zero_delay_hops(hops);
    let run = simulation.run()?;
    let lines = std::mem::take(&mut *log.0.lock().unwrap());
    let lp = run.states.into_iter().next().unwrap();
    Ok(Outcome { lines, lp })
}
