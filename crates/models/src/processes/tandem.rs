//! Stations in tandem, which every customer visits one after another.
//!
//! Each station is an LP, so that the model runs on many cores. Customers travel as messages; the
//! way to the next station is the lookahead. In theory (Burke, Jackson), every station is an M/M/c
//! queue of its own.

use warpline::process::prelude::*;

/// The stations, and their parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Tandem {
    /// Number of stations.
    #[parameter(default = 100, range = 1..=100_000_000)]
    pub stations: u32,
    /// Number of servers at each station.
    #[parameter(default = 1, range = 1..=100_000)]
    pub servers: u32,
    /// Mean number of customers that come per unit of time; they come at random.
    #[parameter(default = 0.8, range = 1e-9..=1e9)]
    pub arrival_rate: f64,
    /// Mean time that a server needs for a customer; the times are exponential.
    #[parameter(default = 1.0, range = 1e-9..=1e9)]
    pub service: f64,
    /// Time to the next station: the lookahead.
    #[parameter(default = 1.0, range = 0.0..=1e9)]
    pub way: f64,
}

const SERVED: Counter = Counter::slot(0);
const LEFT: Counter = Counter::slot(1);
const STAY: Mean = Mean::slot(2);
const BUSY: TimeMean = TimeMean::slot(3);

/// A customer.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub struct Customer {
    /// When it came to the first station.
    pub came: f64,
}

impl Tandem {
    async fn server(self: Arc<Self>, sim: Sim<Customer>) {
        let next = sim.id().0 + 1;
        loop {
            let customer = sim.receive().await;
            let service = sim.exponential(self.service);
            sim.span(BUSY, sim.now(), sim.now() + service, 1.0);
            sim.sleep(service).await;
            sim.count(SERVED, 1);
            if next < self.stations {
                sim.send(next, self.way, customer);
            } else {
                sim.count(LEFT, 1);
                sim.observe(STAY, sim.now() - customer.came);
            }
        }
    }
}

#[model]
impl ProcessModel for Tandem {
    type Message = Customer;

    fn lps(&self) -> u32 {
        self.stations
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let next = lp.0 + 1;
        let link = Link { to: LpId(next), lookahead: self.way };
        Some(if next < self.stations { vec![link] } else { vec![] })
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SERVED, "served", "", "services of all stations");
        declare.counter(LEFT, "left", "customers", "customers who left the last station").series();
        declare.mean(STAY, "stay", "", "time from coming to the first station to leaving the last");
        declare.time_mean(BUSY, "busy", "servers", "servers of all stations who serve").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<Customer>) {
        for _ in 0..self.servers {
            sim.spawn(Arc::clone(&self).server(sim));
        }
        if sim.id() == LpId(0) {
            loop {
                sim.sleep(sim.exponential(1.0 / self.arrival_rate)).await;
                sim.send(sim.id(), 0.0, Customer { came: sim.now() });
            }
        }
    }
}

impl Configure for Tandem {
    type Parameters = Self;

    const NAME: &'static str = "tandem";
    const ABOUT: &'static str = "stations that every customer visits one after another";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 10_000.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        Ok(parameters.clone())
    }
}
