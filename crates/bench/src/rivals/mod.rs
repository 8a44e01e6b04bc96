//! Messages from process to process in the manner of SimpleSim, by rival carriers: without a copy,
//! by Boost.Interprocess, and by copies through our own rings or through MPI.
//!
//! What a message costs depends on what a model does with its bytes. So there are three ways to use
//! them, the same for all carriers.

#[cfg(feature = "boost")]
mod boost;
mod carrier;
mod copies;
mod exchange;
#[cfg(feature = "mpi")]
mod mpi;
mod plan;
mod processes;
mod rival;
#[cfg(test)]
mod tests;
mod zero_copy;

use std::time::Duration;

use self::exchange::Done;
use self::plan::Plan;
use self::rival::{Rival, Use};
use crate::measuring::{alternate_for, tell_all, this_program};

/// How often each carrier runs.
const ROUNDS: usize = 3;
/// The numbers of processes.
const PROCESSES: [&str; 2] = ["2", "8"];
/// The bytes of a message.
const BYTES: [&str; 8] = ["8", "100", "500", "1000", "5000", "8000", "50000", "65536"];
/// How long a run warms up before it is measured.
const WARM_UP: Duration = Duration::from_millis(150);
/// How long it is measured.
const MEASURED: Duration = Duration::from_millis(350);

/// Prints a table for every number of processes and every use of the bytes.
pub fn compare() {
    let rivals: Vec<&str> =
        Rival::ALL.iter().filter(|one| one.0.is_available()).map(|one| one.1).collect();
    println!(
        "Messages between processes: nanoseconds per message of all processes together, of time \
         and of cores' time, each with\n\
         its ratio to zero-copy, or of zero-copy to its smallest message. Other programs prolong \
         the first, as idle processes\n\
         leave them their core. With the features `boost` and `mpi` there are more carriers."
    );
    for processes in PROCESSES {
        for (_, use_, about) in Use::ALL {
            println!("\n{processes} processes, {about}\n");
            print_table(&rivals, use_, processes);
        }
    }
    println!();
}

/// Prints a row for every size of a message, with the times of every rival.
fn print_table(rivals: &[&str], use_: &str, processes: &str) {
    print!("{:>8}", "bytes");
    rivals.iter().for_each(|rival| print!("  {rival:^31}"));
    println!();
    let mut smallest = None;
    for bytes in BYTES {
        let words: Vec<Vec<&str>> =
            rivals.iter().map(|rival| vec!["rival", rival, bytes, use_, processes]).collect();
        let times: Vec<[f64; 2]> = alternate_for(ROUNDS, &words)
            .iter()
            .map(|one| [1.0, one.efficiency].map(|cores| 1e9 * cores / one.rate))
            .collect();
        print!("{bytes:>8}");
        for (index, time) in times.iter().enumerate() {
            let to = if index == 0 { *smallest.get_or_insert(*time) } else { times[0] };
            print!(" ");
            (0..2).for_each(|kind| print!(" {:>8.1} {:>6.2}", time[kind], time[kind] / to[kind]));
        }
        println!();
    }
}

/// Measures one carrier, and tells the parent process.
pub fn measure(rival: &str, bytes: &str, use_: &str, processes: &str) {
    let plan = Plan {
        rival: rival.parse().expect("a carrier"),
        bytes: bytes.parse().expect("a size"),
        use_: use_.parse().expect("a use of the bytes"),
        processes: processes.parse().expect("a number of processes"),
        warm_up: WARM_UP,
        measured: MEASURED,
    };
    let command = || {
        let mut command = this_program();
        command.args(["measure", "rival-process"]);
        command
    };
    if let Some(done) = processes::run_first(&plan, command) {
        tell_done(done);
    }
}

/// The work of every process except the first, and of every rank of MPI.
pub fn process() {
    if let Some(done) = processes::run_other() {
        tell_done(done);
    }
}

fn tell_done(done: Done) {
    let seconds = MEASURED.as_secs_f64();
    tell_all(done.messages as f64 / seconds, done.on_cores as f64 / 1e9 / seconds);
}
