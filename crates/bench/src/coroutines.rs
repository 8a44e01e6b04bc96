//! Models of processes beside models of events: M/M/1 with a resource and a process per customer,
//! against the state machine that is written by hand.

use warpline::prelude::*;
use warpline::process::prelude::*;
use warpline::{Configure, Synchronisation};
use warpline_bench::measuring::{alternate, tell};
use warpline_models::mm1::{Mm1, Mm1Parameters};

const END: f64 = 4e6;

/// Prints how many customers a second each way serves, and the ratio.
pub(crate) fn compare() {
    println!("M/M/1 of processes and of events: million customers a second on one core\n");
    let rivals = ["events", "processes"].map(|way| vec!["coroutines", way]);
    let measured = alternate(&rivals);
    let [events, processes] = [0, 1].map(|way| measured[way].rate / 1e6);
    println!("{:>10} {:>10} {:>10}", "events", "processes", "ratio");
    println!("{events:>10.2} {processes:>10.2} {:>10.2}\n", processes / events);
}

/// Measures one way in this process.
pub(crate) fn measure(way: &str) {
    match way {
        "events" => tell(rate::<Mm1>(3.0)),
        "processes" => tell(rate::<Coroutines<Bank>>(2.0)),
        _ => panic!("customers are events or processes, and not {way}"),
    }
}

/// Customers a second, each of whom takes so many events.
fn rate<M: Model + Configure>(events: f64) -> f64 {
    let simulation = Simulation::<M>::configured(&M::Parameters::default());
    let run = simulation.and_then(|simulation| {
        simulation.end(END).sync(Synchronisation::Sequential).records(Records::Drop).run()
    });
    run.unwrap_or_else(|error| panic!("{error}")).record.event_rate / events
}

/// M/M/1 with a process per customer. It observes what `mm1` does.
struct Bank(Mm1Parameters);

const STAY: Histogram = Histogram::slot(0);
const MEAN_STAY: Mean = Mean::slot(1);
const WAITING: TimeMean = TimeMean::slot(2);

#[model]
impl ProcessModel for Bank {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.histogram(STAY, "stay", "", "time from arrival to departure");
        declare.mean(MEAN_STAY, "mean_stay", "", "mean time from arrival to departure").series();
        declare.time_mean(WAITING, "customers", "", "customers waiting").series();
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        let till = Resource::new(sim, "till", 1).observe_waiting(WAITING);
        let gap = 1.0 / self.0.arrival_rate;
        let service = 1.0 / self.0.service_rate;
        loop {
            sim.sleep(sim.exponential(gap)).await;
            sim.spawn(async move {
                let came = sim.now();
                let _till = till.request().await;
                sim.sleep(sim.exponential(service)).await;
                let stay = sim.now() - came;
                sim.sample(STAY, stay);
                sim.observe(MEAN_STAY, stay);
            });
        }
    }
}

impl Configure for Bank {
    type Parameters = Mm1Parameters;

    const NAME: &'static str = "bank";
    const ABOUT: &'static str = "M/M/1 with a process per customer";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = END;

    fn configure(parameters: &Mm1Parameters) -> Result<Self, String> {
        Ok(Bank(parameters.clone()))
    }
}
