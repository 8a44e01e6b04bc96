//! Measurements in processes of their own, in turn.

use std::process::Command;

use warpline::record::RunRecord;

/// How often each rival runs.
const ROUNDS: usize = 5;

/// A measurement made in a process of its own.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Events, or whatever is counted, per second.
    pub rate: f64,
    /// Peak memory in bytes.
    pub memory: f64,
    /// Committed over processed events; in `rivals`, how many cores were used.
    pub efficiency: f64,
}

/// This program, to be started once more.
///
/// # Panics
/// If the system does not say where it is.
pub fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("the benchmark knows its own path"))
}

/// Hands a rate to the parent process.
pub fn tell(rate: f64) {
    tell_all(rate, 1.0);
}

/// Hands the rate and the efficiency of a run to the parent process.
pub fn tell_run(record: &RunRecord) {
    let efficiency = record.parallel.as_ref().map_or(1.0, |parallel| parallel.efficiency);
    tell_all(record.event_rate, efficiency);
}

/// Hands a rate and an efficiency to the parent process, with the peak memory of this one.
pub fn tell_all(rate: f64, efficiency: f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()
    });
    println!("{rate} {} {efficiency}", peak.unwrap_or(f64::NAN) * 1024.0);
}

/// Runs each of `rivals` in turn, and returns the median of each.
pub fn alternate(rivals: &[Vec<&str>]) -> Vec<Measurement> {
    alternate_for(ROUNDS, rivals)
}

/// The same, with each run so many times.
pub fn alternate_for(rounds: usize, rivals: &[Vec<&str>]) -> Vec<Measurement> {
    let mut measured: Vec<Vec<Measurement>> = vec![Vec::new(); rivals.len()];
    for _ in 0..rounds {
        for (rival, measured) in rivals.iter().zip(&mut measured) {
            measured.push(measure(rival));
        }
    }
    measured.into_iter().map(median).collect()
}

/// Measures one rival once, in a process of its own.
///
/// # Panics
/// If that process prints no measurement.
pub fn measure(words: &[&str]) -> Measurement {
    let output =
        this_program().arg("measure").args(words).output().expect("the benchmark can start itself");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [rate, memory, efficiency] => Measurement { rate, memory, efficiency },
        _ => panic!(
            "measuring {words:?} printed {text:?}\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

/// The measurement with the median rate.
pub fn median(mut measured: Vec<Measurement>) -> Measurement {
    measured.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    measured[measured.len() / 2]
}
