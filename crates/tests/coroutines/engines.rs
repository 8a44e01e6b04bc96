//! Models of processes on all engines: one answer.

use warpline::prelude::*;
use warpline::process::prelude::*;
use warpline::{Configure, Synchronisation};

/// Stations in a ring. Each has a till and passes its customers on.
#[derive(Clone, Debug, Parameters)]
pub(crate) struct RingParameters {
    /// Number of stations.
    #[parameter(default = 8, range = 1..=1000)]
    stations: u32,
    /// Time that a customer walks at least.
    #[parameter(default = 0.5, range = 0.0..=10.0)]
    walk: f64,
}

pub(crate) struct Ring(RingParameters);

#[derive(Clone, Debug, PartialEq, Portable)]
pub(crate) struct Customer {
    number: u32,
    hops: u32,
}

const SERVED: Counter = Counter::slot(0);
const STAY: Mean = Mean::slot(1);
const LOST: Counter = Counter::slot(2);
const LEFT: Counter = Counter::slot(3);
const HOPS: Mean = Mean::slot(4);

#[model]
impl ProcessModel for Ring {
    type Message = Customer;

    fn lps(&self) -> u32 {
        self.0.stations
    }

    fn lookahead(&self) -> f64 {
        self.0.walk
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SERVED, "served", "", "customers served");
        declare.mean(STAY, "stay", "", "time at a station");
        declare.counter(LOST, "lost", "", "customers who lost patience");
        declare.counter(LEFT, "left", "", "customers who waited at the end");
        declare.mean(HOPS, "hops", "", "hops of the last customer of a station");
    }

    async fn run(self: Arc<Self>, sim: Sim<Customer>) {
        let till = Resource::new(sim, "till", 1);
        let last = Shared::new(sim, 0);
        sim.at_end(move |end| {
            end.count(LEFT, end.waiting(till) as u64);
            end.observe(HOPS, f64::from(end.shared(last).copied().unwrap_or(0)));
        });
        for number in 0..3 {
            let delay = self.0.walk + sim.exponential(1.0);
            sim.send(sim.id(), delay, Customer { number, hops: 0 });
        }
        loop {
            let customer = sim.receive().await;
            last.set(customer.hops);
            let this = Arc::clone(&self);
            sim.spawn(async move {
                let came = sim.now();
                match sim.timeout(3.0, till.request()).await {
                    Some(_till) => {
                        sim.sleep(sim.exponential(0.7)).await;
                        sim.count(SERVED, 1);
                        sim.observe(STAY, sim.now() - came);
                    }
                    None => sim.count(LOST, 1),
                }
                let to = (sim.id().0 + 1 + customer.number) % sim.lps();
                let delay = this.0.walk + sim.exponential(0.3);
                sim.send(to, delay, Customer { hops: customer.hops + 1, ..customer });
            });
        }
    }
}

impl Configure for Ring {
    type Parameters = RingParameters;
    const NAME: &'static str = "ring";
    const ABOUT: &'static str = "stations in a ring";
    const TIME_UNIT: &'static str = "min";
    const DEFAULT_END: f64 = 100.0;

    fn configure(parameters: &RingParameters) -> Result<Self, String> {
        Ok(Ring(parameters.clone()))
    }
}

fn ring(walk: f64) -> Simulation<'static, Coroutines<Ring>> {
    Simulation::configured(&RingParameters { stations: 8, walk }).unwrap().end(300.0)
}

fn outcome(run: &Run<Coroutines<Ring>>) -> (String, String, String) {
    (
        run.record.digest.clone(),
        run.record.results.to_string(),
        format!("{:?}", run.states.iter().collect::<Vec<_>>()),
    )
}

#[test]
fn every_engine_gives_one_answer() {
    let alone = ring(0.5).sync(Synchronisation::Sequential).run().unwrap();
    assert!(alone.record.committed_events > 5000, "{}", alone.record.committed_events);
    let hops = &alone.record.results["hops"];
    assert_eq!(hops["count"], 8, "each station looks back at the end: {hops}");
    assert!(hops["mean"].as_f64().unwrap() > 100.0, "{hops}");
    let expected = outcome(&alone);
    for sync in [Synchronisation::Conservative, Synchronisation::Mixed, Synchronisation::Optimistic]
    {
        for threads in [2, 3] {
            let run = ring(0.5).sync(sync).threads(threads).run().unwrap();
            assert_eq!(outcome(&run), expected, "{sync:?} with {threads} threads");
            assert!(run.record.parallel.is_some(), "{sync:?}");
        }
    }
    let auto = ring(0.5).threads(2).run().unwrap();
    assert_eq!(outcome(&auto), expected);
}

#[test]
fn optimistic_runs_become_mixed_and_runs_without_lookahead_sequential() {
    let planned = |walk, sync| {
        let plan = ring(walk).sync(sync).threads(2).plan().unwrap();
        let sync = plan.into_iter().find(|setting| setting.name == "sync").unwrap();
        (sync.value.to_string(), sync.why)
    };
    let (value, why) = planned(0.5, Synchronisation::Optimistic);
    assert_eq!(value, "\"mixed\"");
    assert!(why.contains("nothing undoes what processes do"), "{why}");
    for sync in [Synchronisation::Optimistic, Synchronisation::Conservative] {
        let (value, why) = planned(0.0, sync);
        assert_eq!(value, "\"sequential\"");
        assert!(why.contains("without lookahead"), "{why}");
        let run = ring(0.0).sync(sync).threads(2).run().unwrap();
        let alone = ring(0.0).sync(Synchronisation::Sequential).run().unwrap();
        assert_eq!(outcome(&run), outcome(&alone));
    }
}

#[test]
fn processes_are_verified_without_being_undone() {
    let verified = ring(0.5).verify().unwrap();
    assert!(verified.never_undone && verified.tried == 0 && verified.events > 5000);
}

#[test]
fn all_lps_of_processes_stay_conservative() {
    let refused = ring(0.5).conservative_lps(warpline::LpChoice::none()).threads(2).run();
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("nothing undoes what its processes do"), "{message}");
}
