//! A bank whose customers leave if they have to wait for too long: SimPy's "bank renege".
//!
//! With exponential patience it is the queue that is called Erlang A.

use warpline::process::prelude::*;

/// The bank, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Bank {
    /// Mean time between customers; the times are exponential.
    #[parameter(unit = "min", default = 10.0, range = 1e-6..=1e9)]
    pub gap: f64,
    /// Mean time that a teller needs for a customer; the times are exponential.
    #[parameter(unit = "min", default = 12.0, range = 1e-6..=1e9)]
    pub service: f64,
    /// Number of tellers.
    #[parameter(default = 1, range = 1..=1_000_000)]
    pub tellers: u32,
    /// Mean time that a customer is ready to wait.
    #[parameter(unit = "min", default = 2.0, range = 0.0..=1e9)]
    pub patience: f64,
    /// How patience differs from customer to customer.
    #[parameter(default = Spread::Uniform)]
    pub spread: Spread,
}

/// How customers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Spread {
    /// Not at all.
    None,
    /// From half the mean to one and a half of it, all equally likely.
    Uniform,
    /// Exponentially.
    Exponential,
}

const SERVED: Counter = Counter::slot(0);
const RENEGED: Counter = Counter::slot(1);
const WAIT: Mean = Mean::slot(2);
const WAITING: TimeMean = TimeMean::slot(3);
const BUSY: TimeMean = TimeMean::slot(4);

impl Bank {
    async fn customer(self: Arc<Self>, sim: Sim<()>, tellers: Resource) {
        let came = sim.now();
        let patience = match self.spread {
            Spread::None => self.patience,
            Spread::Uniform => sim.uniform(0.5 * self.patience, 1.5 * self.patience),
            Spread::Exponential => sim.exponential(self.patience),
        };
        let teller = sim.timeout(patience, tellers.request()).await;
        sim.observe(WAIT, sim.now() - came);
        if teller.is_none() {
            sim.count(RENEGED, 1);
            return;
        }
        sim.sleep(sim.exponential(self.service)).await;
        sim.count(SERVED, 1);
    }
}

#[model]
impl ProcessModel for Bank {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SERVED, "served", "customers", "customers who were served");
        declare.counter(RENEGED, "reneged", "customers", "customers who left unserved");
        declare.mean(WAIT, "wait", "min", "time in the queue, until served or gone");
        declare.time_mean(WAITING, "waiting", "customers", "customers in the queue").series();
        declare.time_mean(BUSY, "busy", "tellers", "tellers who serve").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let tellers =
            Resource::new(sim, "tellers", self.tellers).observe_waiting(WAITING).observe_use(BUSY);
        loop {
            sim.sleep(sim.exponential(self.gap)).await;
            sim.spawn(Arc::clone(&self).customer(sim, tellers));
        }
    }
}

impl Configure for Bank {
    type Parameters = Self;

    const NAME: &'static str = "bank";
    const ABOUT: &'static str = "a bank whose customers leave if they wait for too long";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 10_000.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        Ok(parameters.clone())
    }
}
