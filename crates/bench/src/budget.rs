//! Memory budgets: optimistic runs without a budget, and with one of a tenth more than a sequential
//! run takes, plus what each PE needs for itself.

use warpline::prelude::{Context, Init};
use warpline::{Configure, MemoryLimit, Model, Simulation, Synchronisation};
use warpline_bench::measuring::{alternate_for, tell_run};
use warpline_models::hypercube::Hypercube;
use warpline_models::pcs::Pcs;

use crate::hostile::{self, Hostile};
use crate::workloads::phold;

/// The bytes that a PE may need beside its share of the memory of a sequential run: a quarter of
/// what the documentation of `--memory` allows.
const OF_PE: u64 = 1 << 20;
const PES: u32 = 2;
const ROUNDS: usize = 3;

/// A million LPs with states of 100 bytes, and an event each.
struct Wide;

impl Model for Wide {
    type State = [u8; 100];
    type Event = ();

    fn lps(&self) -> u32 {
        1_000_000
    }

    fn init(&self, lp: &mut Init<Self>) -> [u8; 100] {
        let delay = lp.random().exponential(1.0);
        lp.send(lp.id(), delay, ());
        [0; 100]
    }

    fn handle(&self, state: &mut [u8; 100], (): &(), lp: &mut Context<Self>) {
        state[lp.random().below(100) as usize] += 1;
        let to = lp.random().below(self.lps());
        let delay = lp.random().exponential(1.0);
        lp.send(to, delay, ());
    }
}

/// Prints a row for every workload.
pub(crate) fn compare() {
    println!(
        "Memory: million committed events per second and MB; with the budget, 1.1 times as much as \
         sequential and {} MB for each PE\n",
        OF_PE >> 20
    );
    println!(
        "{:<12} {:>14}  {:>14}  {:>8}  {:>14}  {:>6}  {:>10}",
        "", "sequential", "no limit", "budget", "with it", "ratio", "efficiency"
    );
    let workloads = ["W1", "W2", "wide", "pcs", "hypercube"].into_iter().chain(hostile::names());
    for workload in workloads {
        let sequential = alternate_for(1, &[vec!["budget", workload, "sequential"]])[0];
        let bytes = (1.1 * sequential.memory) as u64 + u64::from(PES) * OF_PE;
        let budget = bytes.to_string();
        let both = alternate_for(
            ROUNDS,
            &[vec!["budget", workload, "unlimited"], vec!["budget", workload, &budget]],
        );
        let of = |rate: f64, memory: f64| format!("{:>6.2} {:>7.1}", rate / 1e6, memory / 1e6);
        println!(
            "{workload:<12} {}  {}  {:>8.1}  {}  {:>6.2}  {:>10.3}",
            of(sequential.rate, sequential.memory),
            of(both[0].rate, both[0].memory),
            bytes as f64 / 1e6,
            of(both[1].rate, both[1].memory),
            both[1].rate / both[0].rate,
            both[1].efficiency
        );
    }
    println!();
}

/// One run in this process: `sequential`, `unlimited`, or with a budget in bytes.
pub(crate) fn measure(workload: &str, budget: &str) {
    match workload {
        "wide" => run(Simulation::new(Wide).end(3.0), budget),
        "pcs" => run(usual::<Pcs>().end(1000.0), budget),
        "hypercube" => run(usual::<Hypercube>().end(20_000.0), budget),
        _ if workload.starts_with('W') => run(phold(workload), budget),
        _ => {
            let (model, end) = Hostile::find(workload).expect("the name of a model");
            run(Simulation::new(model).end(end), budget);
        }
    }
}

/// A model with its usual parameters.
fn usual<'a, M: Model + Configure>() -> Simulation<'a, M> {
    Simulation::configured(&Default::default()).expect("the usual parameters are valid")
}

fn run<M: Model>(simulation: Simulation<'_, M>, budget: &str) {
    let simulation = match budget {
        "sequential" => simulation.sync(Synchronisation::Sequential),
        _ => simulation.sync(Synchronisation::Optimistic).threads(PES),
    };
    let simulation = match budget.parse() {
        Ok(bytes) => simulation.memory(MemoryLimit::Bytes(bytes)),
        Err(_) => simulation,
    };
    let record = simulation.run().unwrap_or_else(|why| panic!("{why}")).record;
    tell_run(&record);
}
