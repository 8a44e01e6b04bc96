//! `make bench`: how fast Warpline is on this machine, as ratios to a bare loop measured in the
//! same session.
//!
//! Every measurement runs in a process of its own, so that its memory is counted alone. Rivals take
//! turns (A B A B …), so that a machine whose speed drifts treats them alike. Medians are printed.

mod auto;
mod bare;
mod budget;
mod busy;
mod cluster;
mod coroutines;
mod hold;
mod hostile;
mod mailboxes;
mod network;
mod parallel;
mod processes;
mod timers;
mod wires;
mod workloads;

use std::process::ExitCode;

use warpline_bench::rivals;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_known = match words[..] {
        ["spin"] => busy::spin(),
        ["measure", ref what @ ..] => measure(what),
        ref what => compare(what),
    };
    if is_known {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "usage: warpline-bench [workloads | network [TOPOLOGY.json] | parallel [TOPOLOGY.json] | \
         phases WORKLOAD | wires | mailboxes | processes | coroutines | rivals | hold | budget | \
         hostile [MODEL] | busy | auto [RUN] | timers | cluster]"
    );
    ExitCode::from(2)
}

fn compare_all() {
    workloads::compare();
    network::compare(None);
    parallel::compare(None);
    wires::compare();
    mailboxes::compare();
    processes::compare();
    coroutines::compare();
    hold::compare();
    budget::compare();
    hostile::compare(None);
    busy::compare();
    auto::compare(None);
    timers::compare();
    cluster::compare();
}

/// Prints a comparison. Returns whether there is such a one.
fn compare(what: &[&str]) -> bool {
    match *what {
        [] => compare_all(),
        ["workloads"] => workloads::compare(),
        ["network"] => network::compare(None),
        ["network", topology] => network::compare(Some(topology)),
        ["parallel"] => parallel::compare(None),
        ["parallel", topology] => parallel::compare(Some(topology)),
        ["phases", workload] => parallel::phases(workload),
        ["wires"] => wires::compare(),
        ["mailboxes"] => mailboxes::compare(),
        ["processes"] => processes::compare(),
        ["coroutines"] => coroutines::compare(),
        ["rivals"] => rivals::compare(),
        ["busy"] => busy::compare(),
        ["hold"] => hold::compare(),
        ["budget"] => budget::compare(),
        ["hostile"] => hostile::compare(None),
        ["hostile", model] => hostile::compare(Some(model)),
        ["timers"] => timers::compare(),
        ["cluster"] => cluster::compare(),
        ["auto"] => auto::compare(None),
        ["auto", name] => auto::compare(Some(name)),
        _ => return false,
    }
    true
}

/// Makes one measurement in this process. Returns whether there is such a one.
fn measure(what: &[&str]) -> bool {
    match *what {
        ["auto", kind, name, grid, engine] => auto::measure(kind, name, grid, engine),
        ["bare", workload] => workloads::measure_bare(workload),
        [pending @ ("ladder" | "heap"), workload] => workloads::measure_warpline(workload, pending),
        ["parallel", workload, engine] => parallel::measure(workload, engine),
        ["processes", workload, of, engine] => processes::measure(workload, of, engine),
        ["cluster", pes, way] => cluster::measure(pes, way),
        ["coroutines", way] => coroutines::measure(way),
        ["payload", model, bytes, of] => processes::measure_payload(model, bytes, of),
        ["rival", rival, bytes, use_, of] => rivals::measure(rival, bytes, use_, of),
        ["timers", way, engine, connections] => timers::measure(way, engine, connections),
        ["rival-process"] => rivals::process(),
        ["budget", workload, budget] => budget::measure(workload, budget),
        ["busy", model, way] => busy::measure_one(model, way),
        ["mailbox", kind, senders, batch] => mailboxes::measure(kind, senders, batch),
        ["mailbox-latency", kind] => mailboxes::measure_latency(kind),
        ["wire", payload, kind, wire] => wires::measure(payload, kind, wire),
        ["network", topology, end] => network::measure(topology, end),
        ["hostile", model, rule, threads] => hostile::measure(model, rule, threads, None),
        ["hostile", model, rule, threads, seed] => {
            hostile::measure(model, rule, threads, Some(seed))
        }
        _ => return false,
    }
    true
}
