//! Machines that break down, and one repairer, who also does less urgent jobs: SimPy's "machine
//! shop".
//!
//! A machine that fails takes the repairer away from such a job, which goes on later. So the
//! machines see a repairer of their own: machine repair, or M/M/1//N.

use warpline::process::prelude::*;

/// The shop, and its parameters.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct MachineShop {
    /// Number of machines.
    #[parameter(default = 10, range = 1..=100_000)]
    pub machines: u32,
    /// Mean time that a machine takes for a part; the times are normal, with a fifth of it as
    /// deviation.
    #[parameter(unit = "min", default = 10.0, range = 1e-6..=1e9)]
    pub part: f64,
    /// Mean time from a repair to the next failure; the times are exponential.
    #[parameter(unit = "min", default = 300.0, range = 1e-6..=1e9)]
    pub up_time: f64,
    /// Mean time that a repair takes.
    #[parameter(unit = "min", default = 30.0, range = 1e-6..=1e9)]
    pub repair: f64,
    /// How the times of repairs are distributed.
    #[parameter(default = Times::Fixed)]
    pub repair_times: Times,
    /// Time that another job takes the repairer.
    #[parameter(unit = "min", default = 30.0, range = 1e-3..=1e9)]
    pub job: f64,
}

/// How times are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Times {
    /// All are the same.
    Fixed,
    /// Exponentially.
    Exponential,
}

const PARTS: Counter = Counter::slot(0);
const FAILURES: Counter = Counter::slot(1);
const JOBS: Counter = Counter::slot(2);
const WORKING: TimeMean = TimeMean::slot(3);
const BUSY: TimeMean = TimeMean::slot(4);

/// Priorities of those who ask for the repairer: the least comes first.
const REPAIR: i32 = 1;
const OTHER_JOB: i32 = 2;

impl MachineShop {
    /// Makes parts. A failure interrupts the work at a part, which goes on after the repair.
    async fn machine(self: Arc<Self>, sim: Sim<()>, repairer: Resource, working: Container) {
        sim.spawn(Arc::clone(&self).fail(sim, sim.this_process()));
        loop {
            let mut left = sim.draw(|random| random.normal(self.part, self.part / 5.0)).max(0.0);
            loop {
                let begun = sim.now();
                if sim.interruptible(sim.sleep(left)).await.is_ok() {
                    break;
                }
                left = (left - (sim.now() - begun)).max(0.0);
                working.get(1.0).await;
                {
                    let _repairer = repairer.request_preempting(REPAIR).await;
                    let repair = match self.repair_times {
                        Times::Fixed => self.repair,
                        Times::Exponential => sim.exponential(self.repair),
                    };
                    sim.sleep(repair).await;
                }
                working.put(1.0).await;
                sim.spawn(Arc::clone(&self).fail(sim, sim.this_process()));
            }
            sim.count(PARTS, 1);
        }
    }

    /// Lets a machine fail after a while.
    async fn fail(self: Arc<Self>, sim: Sim<()>, machine: Process) {
        sim.sleep(sim.exponential(self.up_time)).await;
        sim.interrupt(machine, "a failure");
        sim.count(FAILURES, 1);
    }

    /// Keeps the repairer busy between failures.
    async fn other_jobs(self: Arc<Self>, sim: Sim<()>, repairer: Resource) {
        loop {
            let mut left = self.job;
            while left > 0.0 {
                let _repairer = repairer.request_with_priority(OTHER_JOB).await;
                let begun = sim.now();
                match sim.interruptible(sim.sleep(left)).await {
                    Ok(()) => left = 0.0,
                    Err(_) => left -= sim.now() - begun,
                }
            }
            sim.count(JOBS, 1);
        }
    }
}

#[model]
impl ProcessModel for MachineShop {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(PARTS, "parts", "parts", "parts that were made").series();
        declare.counter(FAILURES, "failures", "", "failures of machines");
        declare.counter(JOBS, "jobs", "jobs", "other jobs that the repairer has finished");
        declare.time_mean(WORKING, "working", "machines", "machines that work").series();
        declare.time_mean(BUSY, "busy", "repairers", "repairers at a machine or another job");
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let repairer = Resource::new(sim, "repairer", 1).observe_use(BUSY);
        let all = f64::from(self.machines);
        let working = Container::new(sim, "working machines", all, all).observe_level(WORKING);
        for number in 0..self.machines {
            let machine = Arc::clone(&self).machine(sim, repairer, working);
            sim.spawn_named(format!("machine {number}"), machine);
        }
        sim.spawn_named("other jobs", Arc::clone(&self).other_jobs(sim, repairer));
    }
}

impl Configure for MachineShop {
    type Parameters = Self;

    const NAME: &'static str = "machine-shop";
    const ABOUT: &'static str = "machines that break down, and a repairer with other jobs";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 40_320.0;

    fn configure(parameters: &Self) -> Result<Self, String> {
        Ok(parameters.clone())
    }
}
