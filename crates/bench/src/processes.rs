//! Two processes against two threads: on PHOLD in four sizes, and with payloads of up to 64 KiB,
//! which processes share without a copy.

use warpline::{Configure, Error, Model, Parameters, Payload, Simulation, Synchronisation};
use warpline_bench::measuring::{alternate, tell_run};
use warpline_models::phold::Phold;
use warpline_models::simplesim::SimpleSim;

use crate::workloads::{WORKLOADS, parameters, phold};

/// Engines: conservative, optimistic, and optimistic without use of lookahead.
const ENGINES: [&str; 3] = ["conservative", "optimistic", "time-warp"];
/// Payloads of PHOLD, in bytes.
const PAYLOADS: [&str; 6] = ["8", "9", "100", "1000", "8000", "65536"];
/// Messages of SimpleSim, in bytes.
const MESSAGES: [&str; 4] = ["0", "500", "5000", "50000"];

/// Prints a row for every workload, and one for every size of payload.
pub(crate) fn compare() {
    compare_workloads();
    compare_sizes();
    println!();
}

fn compare_workloads() {
    println!(
        "Two processes against two threads: million committed events per second, and their ratio\n"
    );
    print!("{:<10}", "");
    ENGINES.iter().for_each(|engine| print!(" {engine:^26}"));
    println!();
    for workload in WORKLOADS {
        let rivals: Vec<_> = ENGINES
            .iter()
            .flat_map(|engine| {
                ["threads", "processes"].map(|of| vec!["processes", workload.0, of, engine])
            })
            .collect();
        let measured = alternate(&rivals);
        print!("{:<10}", workload.0);
        for pair in measured.chunks(2) {
            print!(
                " {:>8.2} {:>8.2} {:>8.2}",
                pair[0].rate / 1e6,
                pair[1].rate / 1e6,
                pair[1].rate / pair[0].rate
            );
        }
        println!();
    }
}

fn compare_sizes() {
    for (model, sizes) in [("phold", &PAYLOADS[..]), ("simplesim", &MESSAGES[..])] {
        println!("\n{model} by bytes of a message, conservative, ratio to the smallest\n");
        let rivals =
            |of| sizes.iter().map(|&size| vec!["payload", model, size, of]).collect::<Vec<_>>();
        let [threads, processes] = ["threads", "processes"].map(|of| alternate(&rivals(of)));
        for (index, size) in sizes.iter().enumerate() {
            print!("{size:>10}");
            for measured in [&threads, &processes] {
                print!(
                    " {:>8.2} {:>6.2}",
                    measured[index].rate / 1e6,
                    measured[index].rate / measured[0].rate
                );
            }
            println!();
        }
    }
}

/// A run of two PEs, in threads or in processes.
fn run<M: warpline::Model>(simulation: Simulation<'_, M>, of: &str, engine: &str) {
    let simulation =
        if of == "processes" { simulation.processes(2).threads(1) } else { simulation.threads(2) };
    let simulation = match engine {
        "conservative" => simulation.sync(Synchronisation::Conservative),
        engine => simulation.sync(Synchronisation::Optimistic).use_lookahead(engine != "time-warp"),
    };
    let record = match simulation.run() {
        // The other process measures.
        Err(Error::Share(_)) => return,
        run => run.expect("the workload runs").record,
    };
    tell_run(&record);
}

pub(crate) fn measure(workload: &str, of: &str, engine: &str) {
    run(phold(workload), of, engine);
}

pub(crate) fn measure_payload(model: &str, bytes: &str, of: &str) {
    if model == "phold" {
        let (mut parameters, _) = parameters("W1");
        parameters.set("payload", bytes).expect("a size");
        if parameters.payload <= 8 {
            run_conservative::<Phold>(&parameters, 1000.0, of);
        } else {
            run_conservative::<Phold<Payload>>(&parameters, 1000.0, of);
        }
        return;
    }
    let mut parameters = <SimpleSim as Configure>::Parameters::default();
    for (name, value) in [("message-size", bytes), ("limit", "1500")] {
        parameters.set(name, value).expect("a parameter");
    }
    run_conservative::<SimpleSim>(&parameters, 400.0, of);
}

fn run_conservative<M: Model + Configure>(parameters: &M::Parameters, end: f64, of: &str) {
    let simulation = Simulation::<M>::configured(parameters).expect("valid parameters");
    run(simulation.end(end), of, "conservative");
}
