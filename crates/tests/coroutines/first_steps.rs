//! A process that sleeps and counts, and others that start processes and hold resources.

use warpline::prelude::*;
use warpline::process::prelude::*;

struct Clock;

const TICKS: Counter = Counter::slot(0);

#[model]
impl ProcessModel for Clock {
    type Message = ();

    fn lps(&self) -> u32 {
        3
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(TICKS, "ticks", "", "how often clocks ticked");
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        loop {
            sim.sleep(1.0).await;
            sim.count(TICKS, 1);
        }
    }
}

#[test]
fn clocks_tick() {
    let run = Simulation::new(Coroutines::new(Clock)).end(10.5).run().unwrap();
    assert_eq!(run.record.results["ticks"], 30);
    assert_eq!(run.record.committed_events, 30);
    assert!(run.states.iter().all(|lp| lp.processes() == 1 && lp.waits() == 1));
}

struct Bank;

const SERVED: Counter = Counter::slot(0);
const STAY: Mean = Mean::slot(1);
const WAIT: Mean = Mean::slot(2);
const WAITING: TimeMean = TimeMean::slot(3);
const IN_USE: TimeMean = TimeMean::slot(4);

#[model]
impl ProcessModel for Bank {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SERVED, "served", "", "customers served");
        declare.mean(STAY, "stay", "", "time from arrival to departure");
        declare.mean(WAIT, "wait", "", "time in the queue");
        declare.time_mean(WAITING, "waiting", "", "customers in the queue");
        declare.time_mean(IN_USE, "in_use", "", "tills in use");
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let till = Resource::new(sim, "till", 1)
            .observe_wait(WAIT)
            .observe_waiting(WAITING)
            .observe_use(IN_USE);
        loop {
            sim.sleep(sim.exponential(1.25)).await;
            sim.spawn(async move {
                let came = sim.now();
                let _till = till.request().await;
                sim.sleep(sim.exponential(1.0)).await;
                sim.count(SERVED, 1);
                sim.observe(STAY, sim.now() - came);
            });
        }
    }
}

#[test]
fn a_bank_is_an_mm1_queue() {
    let run = Simulation::new(Coroutines::new(Bank)).end(200_000.0).run().unwrap();
    let results = &run.record.results;
    let mean = |name: &str| results[name]["mean"].as_f64().unwrap_or_else(|| panic!("{results}"));
    assert!((mean("stay") - 5.0).abs() < 0.3, "{results}");
    assert!((mean("wait") - 4.0).abs() < 0.3, "{results}");
    assert!((mean("waiting") - 3.2).abs() < 0.3, "{results}");
    assert!((mean("in_use") - 0.8).abs() < 0.02, "{results}");
}
