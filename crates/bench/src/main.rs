//! `make bench`: how fast Warpline is on this machine, as ratios to a bare loop measured in the same sitting.
//!
//! Every measurement runs in a process of its own, so that memory is counted for it alone, and rivals take turns
//! (A B A B …), so that a machine whose speed drifts treats them alike. Medians are printed.

mod auto;
mod bare;
mod budget;
mod busy;
mod hold;
mod hostile;
mod mailboxes;
mod network;
mod parallel;
mod processes;
mod rivals;
mod wires;
mod workloads;

use std::process::{Command, ExitCode};

/// How often each rival runs.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => {
            workloads::compare();
            network::compare(None);
            parallel::compare(None);
            wires::compare();
            mailboxes::compare();
            processes::compare();
            hold::compare();
            budget::compare();
            hostile::compare(None);
            busy::compare();
            auto::compare(None);
        }
        ["workloads"] => workloads::compare(),
        ["network"] => network::compare(None),
        ["network", topology] => network::compare(Some(topology)),
        ["parallel"] => parallel::compare(None),
        ["parallel", topology] => parallel::compare(Some(topology)),
        ["phases", workload] => parallel::phases(workload),
        ["wires"] => wires::compare(),
        ["mailboxes"] => mailboxes::compare(),
        ["processes"] => processes::compare(),
        ["rivals"] => rivals::compare(),
        ["busy"] => busy::compare(),
        ["spin"] => busy::spin(),
        ["hold"] => hold::compare(),
        ["budget"] => budget::compare(),
        ["hostile"] => hostile::compare(None),
        ["hostile", model] => hostile::compare(Some(model)),
        ["auto"] => auto::compare(None),
        ["auto", name] => auto::compare(Some(name)),
        ["measure", "auto", kind, name, grid, engine] => auto::measure(kind, name, grid, engine),
        ["measure", "bare", workload] => workloads::measure_bare(workload),
        ["measure", pending @ ("ladder" | "heap"), workload] => workloads::measure_warpline(workload, pending),
        ["measure", "parallel", workload, engine] => parallel::measure(workload, engine),
        ["measure", "processes", workload, of, engine] => processes::measure(workload, of, engine),
        ["measure", "payload", model, bytes, of] => processes::measure_payload(model, bytes, of),
        ["measure", "rival", rival, bytes, use_, of] => rivals::measure(rival, bytes, use_, of),
        ["measure", "rival-process"] => rivals::process(),
        ["measure", "budget", workload, budget] => budget::measure(workload, budget),
        ["measure", "busy", model, way] => busy::measure_one(model, way),
        ["measure", "mailbox", kind, senders, batch] => mailboxes::measure(kind, senders, batch),
        ["measure", "mailbox-latency", kind] => mailboxes::measure_latency(kind),
        ["measure", "wire", payload, kind, wire] => wires::measure(payload, kind, wire),
        ["measure", "network", topology, end] => network::measure(topology, end),
        ["measure", "hostile", model, rule, threads] => hostile::measure(model, rule, threads, None),
        ["measure", "hostile", model, rule, threads, seed] => hostile::measure(model, rule, threads, Some(seed)),
        _ => {
            eprintln!(
                "usage: warpline-bench [workloads | network [TOPOLOGY.json] | parallel [TOPOLOGY.json] | phases WORKLOAD | wires | mailboxes | processes | rivals | hold | budget | hostile [MODEL] | busy | auto [RUN]]"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// A measurement made in a process of its own.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    /// Events, or whatever is counted, per second.
    rate: f64,
    /// Peak memory in bytes.
    memory: f64,
    /// Committed by processed events; in `rivals`, how many cores were used.
    efficiency: f64,
}

/// Hands a measurement to the parent process.
fn tell(rate: f64) {
    tell_all(rate, 1.0);
}

/// The same for an engine that may undo events.
fn tell_all(rate: f64, efficiency: f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    println!("{rate} {} {efficiency}", peak.unwrap_or(f64::NAN) * 1024.0);
}

/// Runs each of `rivals` in turn, and returns the median of each.
fn alternate(rivals: &[Vec<&str>]) -> Vec<Measurement> {
    alternate_for(ROUNDS, rivals)
}

/// The same, each so many times.
fn alternate_for(rounds: usize, rivals: &[Vec<&str>]) -> Vec<Measurement> {
    let mut measured: Vec<Vec<Measurement>> = vec![Vec::new(); rivals.len()];
    for _ in 0..rounds {
        for (rival, measured) in rivals.iter().zip(&mut measured) {
            measured.push(measure(rival));
        }
    }
    measured.into_iter().map(median).collect()
}

fn measure(words: &[&str]) -> Measurement {
    let this = std::env::current_exe().expect("the benchmark knows its own path");
    let output = Command::new(this).arg("measure").args(words).output().expect("the benchmark can start itself");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [rate, memory, efficiency] => Measurement { rate, memory, efficiency },
        _ => panic!("measuring {words:?} printed {text:?}\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn median(mut measured: Vec<Measurement>) -> Measurement {
    measured.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    measured[measured.len() / 2]
}
