//! What processes cost: M/M/1 with a process per customer against the state machine that is written
//! by hand, queues in tandem on two cores against one, starting a million processes, a poll, and the
//! memory of a process that is suspended.

use std::time::Instant;

use warpline::prelude::*;
use warpline::process::prelude::*;
use warpline::{Configure, Synchronisation};
use warpline_bench::measuring::{alternate, measure as measure_alone, tell};
use warpline_models::mm1::{Mm1, Mm1Parameters};
use warpline_models::processes::tandem::Tandem;

const END: f64 = 4e6;
/// How long the queues in tandem are simulated.
const TANDEM_END: f64 = 20_000.0;
/// How many processes are started.
const STARTED: u32 = 1_000_000;
/// How many processes wait for a condition that is looked at in every event: few, and more than the
/// caches hold.
const POLLED: [u32; 2] = [100, 100_000];
/// How many polls are measured.
const POLLS: u32 = 20_000_000;

/// Prints how many customers a second each way serves, and the ratio; and the rest.
pub(crate) fn compare() {
    println!("M/M/1 of processes and of events: million customers a second on one core\n");
    compare_two(["events", "processes"]);
    println!("100 queues in tandem on one core and on two: million events a second\n");
    compare_two(["tandem-1", "tandem-2"]);

    let started = measure_alone(&["coroutines", "start"]);
    let seconds = f64::from(STARTED) / started.rate;
    println!("a million processes started and suspended: {seconds:.2} s");
    println!("a process that is suspended:");
    println!("  {:>6} bytes of its own, for one that ticks", size_of_process(tick));
    println!("  {:>6.0} bytes in all, with its wake-up", started.memory / f64::from(STARTED));
    for count in POLLED {
        let polls = measure_alone(&["coroutines", &format!("poll-{count}")]);
        println!("a poll of one of {count} processes: {:.0} ns", 1e9 / polls.rate);
    }
    println!();
}

fn size_of_process<F>(_: fn(Sim<()>) -> F) -> usize {
    size_of::<F>()
}

fn compare_two(ways: [&str; 2]) {
    let measured = alternate(&ways.map(|way| vec!["coroutines", way]));
    let [first, second] = [0, 1].map(|way| measured[way].rate / 1e6);
    println!("{:>10} {:>10} {:>10}", ways[0], ways[1], "ratio");
    println!("{first:>10.2} {second:>10.2} {:>10.2}\n", second / first);
}

/// Measures one way in this process.
pub(crate) fn measure(way: &str) {
    use Synchronisation::{Conservative, Sequential};

    match way {
        "events" => tell(rate::<Mm1>(END, Sequential, 1) / 3.0),
        "processes" => tell(rate::<Coroutines<Bank>>(END, Sequential, 1) / 2.0),
        "tandem-1" => tell(rate::<Coroutines<Tandem>>(TANDEM_END, Sequential, 1)),
        "tandem-2" => tell(rate::<Coroutines<Tandem>>(TANDEM_END, Conservative, 2)),
        "start" => tell(f64::from(STARTED) / Crowd { ticking: STARTED, waiting: 0 }.seconds(0.5)),
        way => match way.strip_prefix("poll-").and_then(|count| count.parse().ok()) {
            Some(count) => tell(poll_rate(count)),
            None => panic!("there is no measurement {way:?} of processes"),
        },
    }
}

/// Events a second.
fn rate<M: Model + Configure>(end: f64, engine: Synchronisation, threads: u32) -> f64 {
    let simulation = Simulation::<M>::configured(&M::Parameters::default());
    let run = simulation.and_then(|simulation| {
        simulation.end(end).sync(engine).threads(threads).records(Records::Drop).run()
    });
    run.unwrap_or_else(|error| panic!("{error}")).record.event_rate
}

/// Polls a second of processes of which there are so many: the time of events in which all of them
/// are polled, without that of the events themselves and of the start.
fn poll_rate(count: u32) -> f64 {
    let events = f64::from(POLLS / count);
    let seconds = |waiting, events| Crowd { ticking: 1, waiting }.seconds(events + 0.5);
    let polls = seconds(count, events) - seconds(count, 0.0) - seconds(0, events);
    f64::from(POLLS) / polls
}

/// Processes that tick, and processes that wait for what never happens.
struct Crowd {
    ticking: u32,
    waiting: u32,
}

impl Crowd {
    /// How long a run to this time takes.
    fn seconds(self, end: f64) -> f64 {
        let begin = Instant::now();
        let simulation = Simulation::new(Coroutines::new(self)).end(end);
        let run = simulation.sync(Synchronisation::Sequential).run();
        let seconds = begin.elapsed().as_secs_f64();
        assert!(run.is_ok(), "{:?}", run.err());
        seconds
    }
}

async fn tick(sim: Sim<()>) {
    loop {
        sim.sleep(1.0).await;
    }
}

impl ProcessModel for Crowd {
    type Message = ();

    fn lps(&self) -> u32 {
        1
    }

    async fn run(self: Arc<Self>, sim: Sim<()>) {
        for _ in 0..self.waiting {
            sim.spawn(async move { sim.wait_until(|| false).await });
        }
        for _ in 0..self.ticking {
            sim.spawn(tick(sim));
        }
    }
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
