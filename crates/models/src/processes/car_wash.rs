//! A car wash with a few machines: SimPy's "carwash".

use warpline::process::prelude::*;

/// The car wash, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct CarWash {
    /// Number of machines.
    #[parameter(default = 2, range = 1..=1_000_000)]
    pub machines: u32,
    /// Time that a machine takes for a car.
    #[parameter(unit = "min", default = 5.0, range = 0.0..=1e9)]
    pub wash: f64,
    /// Mean time between cars.
    #[parameter(unit = "min", default = 7.0, range = 1e-6..=1e9)]
    pub gap: f64,
    /// By how much the time between cars may be shorter or longer.
    #[parameter(unit = "min", default = 2.0, range = 0.0..=1e9)]
    pub gap_spread: f64,
    /// Number of cars that wait at the opening.
    #[parameter(default = 4, range = 0..=1_000_000)]
    pub early: u32,
}

const WASHED: Counter = Counter::slot(0);
const DIRT: Mean = Mean::slot(1);
const WAIT: Mean = Mean::slot(2);
const WAITING: TimeMean = TimeMean::slot(3);
const BUSY: TimeMean = TimeMean::slot(4);

impl CarWash {
    async fn car(self: Arc<Self>, sim: Sim<()>, machines: Resource) {
        let _machine = machines.request().await;
        sim.sleep(self.wash).await;
        sim.observe(DIRT, f64::from(50 + sim.below(50)));
        sim.count(WASHED, 1);
    }
}

#[model]
impl ProcessModel for CarWash {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(WASHED, "washed", "cars", "cars that were washed").series();
        declare.mean(DIRT, "dirt", "%", "share of the dirt that was washed off");
        declare.mean(WAIT, "wait", "min", "time that a car waits for a machine");
        declare.time_mean(WAITING, "waiting", "cars", "cars that wait").series();
        declare.time_mean(BUSY, "busy", "machines", "machines at work").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let machines = Resource::new(sim, "machines", self.machines)
            .observe_wait(WAIT)
            .observe_waiting(WAITING)
            .observe_use(BUSY);
        for _ in 0..self.early {
            sim.spawn(Arc::clone(&self).car(sim, machines));
        }
        loop {
            let gap = sim.uniform(self.gap - self.gap_spread, self.gap + self.gap_spread);
            sim.sleep(gap).await;
            sim.spawn(Arc::clone(&self).car(sim, machines));
        }
    }
}

impl Configure for CarWash {
    type Parameters = Self;

    const NAME: &'static str = "car-wash";
    const ABOUT: &'static str = "a car wash with a few machines";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 480.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        if parameters.gap_spread > parameters.gap {
            return Err(format!(
                "`gap-spread` ({}) must be at most `gap` ({}), as no time is negative",
                parameters.gap_spread, parameters.gap
            ));
        }
        Ok(parameters.clone())
    }
}
