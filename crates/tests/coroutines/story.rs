//! Short stories of the processes of one LP, which write down what happens when.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use warpline::process::ProcessLp;
use warpline::process::prelude::*;
use warpline::{Error, Simulation};

type Told = Pin<Box<dyn Future<Output = ()> + Send>>;
type Teller = Box<dyn Fn(Sim<u32>, Log) -> Told + Send + Sync>;

/// What happened when, and what was measured.
#[derive(Clone, Default)]
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    values: Arc<Mutex<Vec<f64>>>,
}

impl Log {
    pub(crate) fn note(&self, sim: Sim<u32>, what: impl Display) {
        self.lines.lock().unwrap().push(format!("{} {what}", sim.now()));
    }

    pub(crate) fn measure(&self, value: f64) {
        self.values.lock().unwrap().push(value);
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

/// How a story is told.
pub(crate) struct Telling {
    pub(crate) end: f64,
    pub(crate) seed: u64,
    /// How many things may happen at one instant.
    pub(crate) hops: u32,
}

/// What a story left.
pub(crate) struct Outcome {
    pub(crate) lines: Vec<String>,
    pub(crate) values: Vec<f64>,
    pub(crate) lp: ProcessLp<u32>,
    pub(crate) events: u64,
}

impl Telling {
    pub(crate) fn tell<F: Future<Output = ()> + Send + 'static>(
        self,
        tell: impl Fn(Sim<u32>, Log) -> F + Send + Sync + 'static,
    ) -> Result<Outcome, Error> {
        let log = Log::default();
        let tell: Teller = Box::new(move |sim, log| Box::pin(tell(sim, log)));
        let story = Story { tell, log: log.clone() };
        let simulation = Simulation::new(Coroutines::new(story))
            .end(self.end)
            .seed(self.seed)
            .zero_delay_hops(self.hops);
        let run = simulation.run()?;
        let events = run.record.committed_events;
        let lp = run.states.into_iter().next().unwrap();
        let lines = std::mem::take(&mut *log.lines.lock().unwrap());
        let values = std::mem::take(&mut *log.values.lock().unwrap());
        Ok(Outcome { lines, values, lp, events })
    }
}

/// Tells a story to time 100.
pub(crate) fn told<F: Future<Output = ()> + Send + 'static>(
    tell: impl Fn(Sim<u32>, Log) -> F + Send + Sync + 'static,
) -> Result<Outcome, Error> {
    Telling { end: 100.0, seed: 1, hops: 1_000_000 }.tell(tell)
}
