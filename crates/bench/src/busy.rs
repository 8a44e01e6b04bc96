//! What moving PEs between threads gains with uneven models, and on machines that are busy with
//! something else.

use std::process::Child;

use warpline::{Simulation, Synchronisation};
use warpline_bench::measuring::{Measurement, measure, median, tell_run, this_program};

use crate::hostile::Hostile;

/// How many times each run is repeated.
const ROUNDS: usize = 5;
/// The models, and how many times as long their runs are as elsewhere.
const MODELS: [(&str, f64); 3] = [("costly", 6.0), ("uneven", 4.0), ("friendly", 10.0)];
/// The ways to run them: PEs, and whether they move.
const WAYS: [&str; 4] = ["sequential", "2", "8-stay", "8"];

/// Compares all ways on all models: alone, beside a process that never rests, and two runs at once.
pub(crate) fn compare() {
    println!(
        "Busy machines: event rates relative to a sequential run in the same circumstances, on all \
         cores\n"
    );
    println!(
        "{:<10} {:<26} {:>11} {:>9} {:>9} {:>9}",
        "", "", "sequential", "2 PEs", "8 stay", "8 move"
    );
    for (model, _) in MODELS {
        row(model, "alone", measure);
        row(model, "beside one busy process", |words| {
            let _busy = Busy::start();
            measure(words)
        });
        row(model, "two at once, together", two_at_once);
    }
    println!();
}

/// Measures all ways in turn, and prints a line.
fn row(model: &str, circumstances: &str, measure: impl Fn(&[&str]) -> Measurement) {
    let mut measured: Vec<Vec<Measurement>> = WAYS.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (way, measured) in WAYS.iter().zip(&mut measured) {
            measured.push(measure(&["busy", model, way]));
        }
    }
    let rates: Vec<f64> = measured.into_iter().map(|all| median(all).rate).collect();
    print!("{model:<10} {circumstances:<26} {:>8.2} M", rates[0] / 1e6);
    rates[1..].iter().for_each(|rate| print!(" {:>9.2}", rate / rates[0]));
    println!();
}

/// The sum of the rates of two runs at the same time.
fn two_at_once(words: &[&str]) -> Measurement {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| measure(words));
        let one = measure(words);
        let other = other.join().unwrap_or(one);
        Measurement { rate: one.rate + other.rate, ..one }
    })
}

/// A process that never rests.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        Busy(this_program().arg("spin").spawn().expect("the benchmark can start itself"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Takes a core until it is killed.
pub(crate) fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// One run in this process.
pub(crate) fn measure_one(model: &str, way: &str) {
    let longer = MODELS.iter().find(|known| known.0 == model).map_or(1.0, |known| known.1);
    let (model, end) = Hostile::find(model).expect("the name of a model");
    let simulation = Simulation::new(model).end(longer * end);
    let simulation = match way.split_once('-').unwrap_or((way, "")) {
        ("sequential", _) => simulation.sync(Synchronisation::Sequential),
        (pes, stay) => simulation
            .sync(Synchronisation::Optimistic)
            .threads(pes.parse().expect("a number of PEs"))
            .move_pes(stay.is_empty()),
    };
    let record = simulation.run().expect("hostile models run").record;
    tell_run(&record);
}
