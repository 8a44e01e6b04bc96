//! A harbour: ships come in and leave at high tide only, with tugs.

use warpline::process::prelude::*;

/// The harbour, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct Harbour {
    /// Mean time between ships; the times are exponential.
    #[parameter(unit = "h", default = 8.0, range = 1e-6..=1e9)]
    pub gap: f64,
    /// Number of berths.
    #[parameter(default = 4, range = 1..=1_000_000)]
    pub berths: u32,
    /// Number of tugs. A ship needs two to come in and one to leave.
    #[parameter(default = 3, range = 2..=1_000_000)]
    pub tugs: u32,
    /// Time that tugs take for a ship, each way.
    #[parameter(unit = "h", default = 0.5, range = 0.0..=1e9)]
    pub tow: f64,
    /// Least time to unload a ship; all times up to twice as much are equally likely.
    #[parameter(unit = "h", default = 10.0, range = 0.0..=1e9)]
    pub unloading: f64,
    /// Time from one high tide to the next.
    #[parameter(unit = "h", default = 12.42, range = 1e-3..=1e9)]
    pub period: f64,
    /// How long the water is high enough, from time 0 on and in every period.
    #[parameter(unit = "h", default = 5.0, range = 1e-3..=1e9)]
    pub high_water: f64,
}

const SHIPS: Counter = Counter::slot(0);
const WAIT: Mean = Mean::slot(1);
const STAY: Mean = Mean::slot(2);
const BERTHS: TimeMean = TimeMean::slot(3);
const TUGS: TimeMean = TimeMean::slot(4);

const TUGS_IN: u32 = 2;
const TUGS_OUT: u32 = 1;

/// What ships share.
#[derive(Clone, Copy)]
struct Port {
    berths: Resource,
    tugs: Resource,
    high_water: Gate,
}

impl Harbour {
    async fn ship(self: Arc<Self>, sim: Sim<()>, port: Port) {
        let came = sim.now();
        let _berth = port.berths.request().await;
        self.tow(sim, port, TUGS_IN).await;
        sim.observe(WAIT, sim.now() - self.tow - came);
        sim.sleep(sim.uniform(self.unloading, 2.0 * self.unloading)).await;
        self.tow(sim, port, TUGS_OUT).await;
        sim.observe(STAY, sim.now() - came);
        sim.count(SHIPS, 1);
    }

    /// Tows a ship once the water is high and tugs are free. The water may have fallen when they
    /// are.
    async fn tow(&self, sim: Sim<()>, port: Port, tugs: u32) {
        loop {
            port.high_water.wait().await;
            let _tugs = port.tugs.request_many(tugs, 0).await;
            if port.high_water.is_open() {
                sim.sleep(self.tow).await;
                return;
            }
        }
    }

    async fn tides(self: Arc<Self>, sim: Sim<()>, high_water: Gate) {
        loop {
            high_water.open();
            sim.sleep(self.high_water).await;
            high_water.close();
            sim.sleep(self.period - self.high_water).await;
        }
    }
}

#[model]
impl ProcessModel for Harbour {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SHIPS, "ships", "ships", "ships that came and left");
        declare.mean(WAIT, "wait", "h", "time until a ship is towed in");
        declare.mean(STAY, "stay", "h", "time from coming to leaving");
        declare.time_mean(BERTHS, "berths", "berths", "berths that are taken").series();
        declare.time_mean(TUGS, "tugs", "tugs", "tugs that tow").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let port = Port {
            berths: Resource::new(sim, "berths", self.berths).observe_use(BERTHS),
            tugs: Resource::new(sim, "tugs", self.tugs).observe_use(TUGS),
            high_water: Gate::new(sim, "high water"),
        };
        sim.spawn_named("tides", Arc::clone(&self).tides(sim, port.high_water));
        loop {
            sim.sleep(sim.exponential(self.gap)).await;
            sim.spawn(Arc::clone(&self).ship(sim, port));
        }
    }
}

impl Configure for Harbour {
    type Parameters = Self;

    const NAME: &'static str = "harbour";
    const ABOUT: &'static str = "ships that come and leave at high tide, with tugs";
    const TIME_UNIT: &'static str = "h";
    const DEFAULT_END: f64 = 8760.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        if parameters.high_water > parameters.period {
            return Err(format!(
                "`high-water` ({}) must be at most `period` ({})",
                parameters.high_water, parameters.period
            ));
        }
        Ok(parameters.clone())
    }
}
