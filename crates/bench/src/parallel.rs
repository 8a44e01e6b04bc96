//! Time Warp against the sequential engine: speed-up, efficiency and memory, on PHOLD in four
//! sizes, with events of a microsecond, and on `network`.

use warpline::record::RunRecord;
use warpline::{Conservative, Horizon, Model, Simulation, Synchronisation};
use warpline_bench::measuring::{Measurement, alternate, tell_run};

use crate::network::{self, on_topology};
use crate::workloads::{WORKLOADS, phold};

/// Names of engines: the number of threads, and a letter. Conservative engines have `c` where the
/// engine chooses how, `w` with windows, `f` free-running, and `g` driven by GVT instead of bounds.
/// Time Warp that does not use lookahead has `!`.
const ENGINES: [&str; 11] = ["0", "1c", "1", "2c", "2w", "2f", "2g", "2", "2!", "8c", "8"];

/// Prints a row for every workload.
pub(crate) fn compare(topology: Option<&str>) {
    println!(
        "Time Warp: million committed events per second, ratio to sequential, efficiency, ratio of \
         peak memory"
    );
    println!(
        "(2g: driven by GVT; 2!: without use of lookahead; 8 threads may be more than there are \
         cores)\n"
    );
    print!("{:<9} {:>7} {:>7}", "", "seq.", "MB");
    ENGINES[1..].iter().for_each(|engine| print!("  {:^25}", format!("{engine} threads")));
    println!();
    let workloads =
        WORKLOADS.iter().map(|workload| workload.0.to_owned()).chain(["W1e".to_owned()]);
    for workload in workloads {
        row(&workload, &workload);
    }
    on_topology(topology, |path| row("network", path));
    println!();
}

fn row(name: &str, workload: &str) {
    let rivals: Vec<Vec<&str>> =
        ENGINES.iter().map(|engine| vec!["parallel", workload, engine]).collect();
    let measured = alternate(&rivals);
    let sequential = measured[0];
    print!("{name:<9} {:>7.2} {:>7.0}", sequential.rate / 1e6, sequential.memory / 1e6);
    for Measurement { rate, memory, efficiency } in &measured[1..] {
        print!(
            "  {:>6.2} {:>5.2} {efficiency:>5.3} {:>5.2}",
            rate / 1e6,
            rate / sequential.rate,
            memory / sequential.memory
        );
    }
    println!();
}

pub(crate) fn measure(workload: &str, engine: &str) {
    tell_run(&run_workload(workload, engine));
}

/// Runs a size of PHOLD, or `network` on the topology in a file.
fn run_workload(workload: &str, engine: &str) -> RunRecord {
    if workload.starts_with('W') {
        run(phold(workload), engine)
    } else {
        run(network::simulation(workload).end(network::END.parse().expect("a time")), engine)
    }
}

/// Prints, for a workload and every engine with PEs, how many nanoseconds each phase takes per
/// committed event and thread.
pub(crate) fn phases(workload: &str) {
    println!("{workload}: nanoseconds per committed event and thread\n");
    for engine in &ENGINES[1..] {
        let record = run_workload(workload, engine);
        let parallel = record.parallel.expect("a parallel run");
        let per_event = 1e9 / record.committed_events as f64;
        let certain = parallel.certain_events as f64
            / (parallel.certain_events + parallel.ahead_events) as f64;
        print!(
            "{engine:<3} {:>6.2} M/s, efficiency {:.3}, ",
            record.event_rate / 1e6,
            parallel.efficiency
        );
        print!("{certain:.3} certain, {} GVT: ", parallel.gvt_epochs);
        for (phase, seconds) in parallel.phase_seconds.list() {
            print!(" {phase} {:.1}", seconds * per_event);
        }
        println!();
    }
}

fn run<M: Model>(simulation: Simulation<'_, M>, engine: &str) -> RunRecord {
    let (threads, way) = engine
        .split_at(engine.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(engine.len()));
    let threads: u32 = threads.parse().expect("a number of threads");
    let conservative = match way {
        "c" | "g" => Some(Conservative::Auto),
        "w" => Some(Conservative::Windows),
        "f" => Some(Conservative::FreeRunning),
        _ => None,
    };
    let simulation = match way {
        "g" => simulation.horizon(Horizon::Gvt),
        _ => simulation,
    };
    let simulation = match threads {
        0 => simulation.sync(Synchronisation::Sequential),
        _ => match conservative {
            Some(how) => {
                simulation.sync(Synchronisation::Conservative).conservative(how).threads(threads)
            }
            None => simulation
                .sync(Synchronisation::Optimistic)
                .threads(threads)
                .use_lookahead(way != "!"),
        },
    };
    simulation.run().expect("the workload runs").record
}
