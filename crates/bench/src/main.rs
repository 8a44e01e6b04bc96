//! `make bench`: how fast Warpline is on this machine, as ratios to a bare loop measured in the
//! same sitting.
//!
//! Every measurement runs in a process of its own, so that memory is counted for it alone, and
//! rivals take turns (A B A B …), so that a machine whose speed drifts treats them alike. Medians
//! are printed.

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
mod wires;
mod workloads;

use std::process::ExitCode;

use warpline_bench::rivals;

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
        ["measure", pending @ ("ladder" | "heap"), workload] => {
            workloads::measure_warpline(workload, pending)
        }
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
        ["measure", "hostile", model, rule, threads] => {
            hostile::measure(model, rule, threads, None)
        }
        ["measure", "hostile", model, rule, threads, seed] => {
            hostile::measure(model, rule, threads, Some(seed))
        }
        _ => {
            eprintln!(
                "usage: warpline-bench [workloads | network [TOPOLOGY.json] | parallel [TOPOLOGY.json] | phases WORKLOAD | wires | mailboxes | processes | rivals | hold | budget | hostile [MODEL] | busy | auto [RUN]]"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
