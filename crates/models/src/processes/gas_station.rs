//! A gas station whose tank a truck refills when it runs low: SimPy's "gas station refuelling".

use warpline::process::prelude::*;

/// The gas station, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct GasStation {
    /// Number of pumps.
    #[parameter(default = 2, range = 1..=1_000_000)]
    pub pumps: u32,
    /// What the station's tank holds.
    #[parameter(unit = "l", default = 200.0, range = 1e-3..=1e12)]
    pub tank: f64,
    /// Share of the tank below which the truck is called.
    #[parameter(default = 0.25, range = 0.0..=1.0)]
    pub threshold: f64,
    /// Time that the truck needs to come.
    #[parameter(unit = "s", default = 300.0, range = 0.0..=1e9)]
    pub truck: f64,
    /// Speed at which a pump fills a car.
    #[parameter(unit = "l/s", default = 2.0, range = 1e-6..=1e6)]
    pub speed: f64,
    /// Least that a car takes; all amounts up to the most are equally likely.
    #[parameter(unit = "l", default = 25.0, range = 0.0..=1e9)]
    pub least_fill: f64,
    /// Most that a car takes.
    #[parameter(unit = "l", default = 45.0, range = 0.0..=1e9)]
    pub most_fill: f64,
    /// Least time between cars; all times up to the most are equally likely.
    #[parameter(unit = "s", default = 30.0, range = 1e-6..=1e9)]
    pub least_gap: f64,
    /// Most time between cars.
    #[parameter(unit = "s", default = 300.0, range = 1e-6..=1e9)]
    pub most_gap: f64,
}

const CARS: Counter = Counter::slot(0);
const TRUCKS: Counter = Counter::slot(1);
const FILL: Mean = Mean::slot(2);
const STAY: Mean = Mean::slot(3);
const LEVEL: TimeMean = TimeMean::slot(4);
const BUSY: TimeMean = TimeMean::slot(5);

impl GasStation {
    async fn car(self: Arc<Self>, sim: Sim<()>, pumps: Resource, tank: Container) {
        let came = sim.now();
        let fill = sim.uniform(self.least_fill, self.most_fill);
        let _pump = pumps.request().await;
        tank.get(fill).await;
        sim.sleep(fill / self.speed).await;
        sim.count(CARS, 1);
        sim.observe(FILL, fill);
        sim.observe(STAY, sim.now() - came);
    }

    async fn refill(self: Arc<Self>, sim: Sim<()>, tank: Container) {
        let low = self.threshold * self.tank;
        loop {
            sim.wait_until(move || tank.level() < low).await;
            sim.sleep(self.truck).await;
            tank.put(self.tank - tank.level()).await;
            sim.count(TRUCKS, 1);
        }
    }
}

#[model]
impl ProcessModel for GasStation {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(CARS, "cars", "cars", "cars that were filled").series();
        declare.counter(TRUCKS, "trucks", "trucks", "trucks that filled the tank");
        declare.mean(FILL, "fill", "l", "what a car took");
        declare.mean(STAY, "stay", "s", "time of a car at the station");
        declare.time_mean(LEVEL, "level", "l", "what is in the tank").series();
        declare.time_mean(BUSY, "busy", "pumps", "pumps in use").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let pumps = Resource::new(sim, "pumps", self.pumps).observe_use(BUSY);
        let tank = Container::new(sim, "tank", self.tank, self.tank).observe_level(LEVEL);
        sim.spawn_named("refill", Arc::clone(&self).refill(sim, tank));
        loop {
            sim.sleep(sim.uniform(self.least_gap, self.most_gap)).await;
            sim.spawn(Arc::clone(&self).car(sim, pumps, tank));
        }
    }
}

impl Configure for GasStation {
    type Parameters = Self;

    const NAME: &'static str = "gas-station";
    const ABOUT: &'static str = "a gas station whose tank a truck refills when it runs low";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 86_400.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        let GasStation { tank, threshold, least_fill, most_fill, .. } = *parameters;
        if least_fill > most_fill {
            return Err(format!(
                "`least-fill` ({least_fill}) must be at most `most-fill` ({most_fill})"
            ));
        }
        if parameters.least_gap > parameters.most_gap {
            return Err(format!(
                "`least-gap` ({}) must be at most `most-gap` ({})",
                parameters.least_gap, parameters.most_gap
            ));
        }
        if threshold * tank < most_fill {
            return Err(format!(
                "a car that takes {most_fill} l (`most-fill`) could wait for ever, as the truck \
                 comes only if less than {} l are left: raise `threshold` or `tank`",
                threshold * tank
            ));
        }
        Ok(parameters.clone())
    }
}
