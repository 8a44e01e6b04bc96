//! Runs of several processes.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::tempdir;

use crate::support::system::{descendants, ended, is_at_work, signal, wait_for_work};
use crate::support::{Outcome, command, warpline};

/// Ways to run several processes.
const WAYS: [&str; 19] = [
    "--processes 2",
    "--processes 2 --sync conservative",
    "--processes 2 --threads 3 --sync conservative --conservative windows",
    "--processes 3 --threads 2 --use-lookahead no",
    "--processes 2 --messages copy",
    "--processes 2 --messages shared --undo reverse",
    "--processes 2 --gvt one-sided --use-lookahead no",
    "--processes 2 --threads 2 --gvt synchronous",
    "--processes 2 --gvt synchronous --barrier condvar",
    "--processes 4 --threads 1 --gvt synchronous --barrier central",
    "--processes 2 --gvt gsu --use-lookahead no",
    "--processes 4 --threads 1 --gvt gsu",
    "--processes 2 --pending heap --batch 7 --gvt-interval 50",
    "--processes 2 --sync mixed --conservative-lps 0",
    "--processes 2 --pool receiver --use-lookahead no",
    "--processes 3 --pool sender --use-lookahead no --pool-order fifo",
    "--processes 2 --pool receiver --sync conservative --messages shared",
    "--processes 2 --sub-pool 2 --use-lookahead no",
    "--processes 2 --threads 2 --pool sender --fossil-collection on-the-fly --use-lookahead no \
     --undo reverse",
];

/// The record says the same of the model as that of one process.
fn assert_same(line: &str, alone: &Outcome, together: &Outcome) {
    assert_eq!(together.code, 0, "{line}: {}", together.stderr);
    let [alone, together] = [alone.json(), together.json()];
    for part in ["digest", "state_digest", "committed_events", "results", "series", "end_time"] {
        assert_eq!(alone.get(part), together.get(part), "{part} of `{line}`");
    }
    assert_eq!(together["engine"]["transport"], "processes", "{line}");
}

/// Beyond some dozens, PEs of several processes have a mailbox each.
#[test]
fn many_pes_in_processes_have_one_answer() {
    let model = "phold --lps 200 --population 2 --end 10 --state-digest yes";
    let alone = warpline(&format!("run {model} --sync sequential --json"));
    for way in [
        "--processes 3 --threads 12 --sync conservative",
        "--processes 3 --threads 12 --use-lookahead no --messages copy",
        "--processes 4 --threads 25 --sync conservative --horizon gvt",
        "--processes 4 --threads 25 --use-lookahead no --messages shared --gvt gsu",
        "--processes 4 --threads 25 --use-lookahead no --gvt one-sided",
    ] {
        let line = format!("run {model} {way} --json");
        let together = warpline(&line);
        assert_same(&line, &alone, &together);
        assert_eq!(together.json()["engine"]["mailbox"], "cas", "{line}");
    }
}

/// The most processes that settings allow, with as many PEs as rings between all pairs of them would
/// need 24 GB for.
#[test]
fn a_thousand_pes_in_64_processes_fit_into_their_budget() {
    let model = "phold --lps 2048 --end 1 --memory 2G";
    let alone = warpline(&format!("run {model} --sync sequential --json"));
    let line = format!("run {model} --processes 64 --threads 16 --sync conservative --json");
    assert_same(&line, &alone, &warpline(&line));
}

#[test]
fn several_processes_have_the_answer_of_one() {
    for model in [
        "phold --lps 64 --population 4 --end 60 --state-digest yes",
        "phold --lps 24 --population 3 --payload 700 --end 40",
    ] {
        let alone = warpline(&format!("run {model} --sync sequential --json"));
        for way in WAYS {
            let line = format!("run {model} {way} --json");
            assert_same(&line, &alone, &warpline(&line));
        }
    }
}

#[test]
fn all_models_run_in_several_processes() {
    let models = [
        "mm1 --end 500",
        "network --end 2",
        "simplesim --end 60 --limit 50 --message-size 5000",
        "phold --lookahead 0 --end 20",
        "hypercube --end 50",
        "event-latency --jitter 2",
        "tandem --stations 20 --end 200",
        "fleet --garages 4 --vehicles 9 --breakdown 0.2 --end 100",
        "pcs --cells 64 --portables 1000 --end 20",
    ];
    for model in models {
        let alone = warpline(&format!("run {model} --sync sequential --json --state-digest yes"));
        for way in ["--processes 2", "--processes 2 --threads 2 --go-ahead always"] {
            let line = format!("run {model} {way} --json --state-digest yes");
            assert_same(&line, &alone, &warpline(&line));
            assert!(alone.json()["state_digest"]["content"].is_string(), "{model}");
        }
    }
}

/// Copied messages lead to the same answer, whoever carries them.
#[test]
fn all_carriers_bring_the_same_answer() {
    let models = [
        "phold --lps 24 --population 3 --end 30",
        "phold --lps 24 --population 3 --payload 700 --end 20",
        "simplesim --end 60 --limit 50 --message-size 5000",
    ];
    for model in models {
        let alone = warpline(&format!("run {model} --sync sequential --json"));
        for carrier in
            ["rings", "boost"].into_iter().take(if cfg!(feature = "boost") { 2 } else { 1 })
        {
            for way in [
                "--processes 2 --use-lookahead no",
                "--processes 3 --threads 2 --sync conservative",
                "--processes 4 --threads 1 --communication-batch 512 --gvt synchronous",
                "--processes 8 --threads 1",
            ] {
                let line = format!("run {model} {way} --carrier {carrier} --json");
                let together = warpline(&line);
                assert_same(&line, &alone, &together);
                let record = together.json();
                assert_eq!(
                    (&record["engine"]["carrier"], &record["engine"]["zero_copy"]),
                    (&carrier.into(), &false.into()),
                    "{line}"
                );
                let copied = &record["communication"];
                assert!(copied["messages"].as_u64() > Some(0), "{line}: {copied}");
                // By default, each message of this carrier is a batch of its own.
                if carrier == "boost" && !way.contains("batch") {
                    assert!(record["engine"]["communication_batch"].is_null(), "{line}");
                    assert!(
                        copied["batches"].as_u64() >= copied["messages"].as_u64(),
                        "{line}: {copied}"
                    );
                }
            }
        }
    }
}

#[test]
fn carriers_that_cannot_be_are_refused() {
    warpline("run phold --processes 2 --carrier mpi")
        .is_wrong_use(&["`carrier` is `mpi`, but no launcher has started the processes"]);
    warpline("run phold --processes 2 --carrier rings --zero-copy yes")
        .is_wrong_use(&["`carrier` is `rings`, but `zero-copy` is `yes`"]);
    warpline("run phold --carrier rings")
        .is_wrong_use(&["`carrier` is `rings`", "`processes` is `1`"]);
    if !cfg!(feature = "boost") {
        warpline("run phold --processes 2 --carrier boost")
            .is_wrong_use(&["`carrier` is `boost`, but this program was built without Boost"]);
    }
}

/// As there is no PE without an LP, however many threads there may be.
#[test]
fn no_process_is_without_an_lp() {
    let alone = warpline("run mm1 --sync sequential --json");
    let line = "run mm1 --processes 3 --json";
    let together = warpline(line);
    assert_same(line, &alone, &together);
    assert_eq!(together.json()["engine"]["processes"], 2);
    let [alone, together] = ["--sync sequential", "--processes 2"]
        .map(|how| warpline(&format!("run bank --end 200 {how} --json")));
    assert_eq!(together.code, 0, "{}", together.stderr);
    assert_eq!(together.json()["digest"], alone.json()["digest"]);
}

#[test]
fn what_cannot_be_shared_out_is_refused() {
    warpline("run phold --processes 0").is_wrong_use(&["`processes` cannot be `0`"]);
    warpline("run phold --processes 2 --sync sequential")
        .is_wrong_use(&["`processes` is `2`", "a sequential run has one thread"]);
    warpline("run phold --processes 2 --virtual-cluster 1")
        .is_wrong_use(&["a virtual cluster lives in one thread"]);
    warpline("run phold --processes 2 --trace t.json")
        .is_wrong_use(&["a trace shows the threads of one process"]);
    warpline("run phold --processes 2 --replications 3")
        .is_wrong_use(&["replications run in one process"]);
    let alone = "but `processes` is `1`: it is about messages between processes; set `processes`, \
                 have `mpirun` start the program";
    warpline("run phold --zero-copy no").is_wrong_use(&["`zero-copy` is `no`", alone]);
    warpline("run phold --threads 2 --communication worker")
        .is_wrong_use(&["`communication` is `worker`", alone]);
    let asked = warpline("run phold --end 5 --processes 1 --threads 2 --zero-copy no --json");
    assert_eq!(asked.digest(), warpline("run phold --end 5 --json").digest());
    assert_eq!(
        warpline("run phold --end 5 --processes 1 --json").digest(),
        warpline("run phold --end 5 --json").digest()
    );
}

/// A run that takes hours, in three processes: the first, and the two that it has started.
fn begun(directory: &Path, line: &str) -> (Child, Vec<u32>) {
    let mut command = command(directory);
    let mut child = command
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(120) {
        let mut children = descendants(child.id());
        children.sort_unstable();
        // Once they take part in the run, they have threads that execute events.
        if children.len() == 2 && children.iter().all(|child| is_at_work(*child)) {
            return (child, children);
        }
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("no processes have been started");
}

#[test]
fn if_one_process_dies_all_others_end_and_say_which() {
    let directory = tempdir().unwrap();
    let boost = cfg!(feature = "boost").then_some("--carrier boost");
    for (carrier, victim) in ["", "--carrier rings"]
        .into_iter()
        .chain(boost)
        .flat_map(|carrier| [(carrier, 0), (carrier, 1)])
    {
        let line =
            format!("run phold --end 1e9 --processes 3 --threads 1 --json --report out {carrier}");
        let (child, children) = begun(directory.path(), &line);
        signal(children[victim], "KILL");
        let Output { status, stdout, stderr } = ended(child, &children);
        let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(status.code(), Some(1), "{stderr}");
        let json: Value = serde_json::from_str(&stdout).unwrap();
        let error = json["error"].as_str().unwrap();
        assert!(
            error.starts_with(&format!(
                "process {} of 3 was killed by signal 9; GVT had reached time ",
                victim + 1
            )),
            "{error}"
        );
        assert!(
            error.ends_with(
                "there are no results; rows that were written to files before stay there"
            ),
            "{error}"
        );
        assert_eq!(stderr, format!("error: {error}\n"), "it is said once");
    }
}

#[test]
fn if_the_first_process_dies_the_others_end_and_one_says_so() {
    let directory = tempdir().unwrap();
    let (child, children) =
        begun(directory.path(), "run phold --end 1e9 --processes 3 --threads 1");
    signal(child.id(), "KILL");
    let Output { stderr, .. } = ended(child, &children);
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(
        stderr.matches("error: process 0 of 3 is gone; GVT had reached time ").count(),
        1,
        "{stderr}"
    );
}

#[test]
fn a_signal_ends_all_processes_with_the_results_so_far() {
    let directory = tempdir().unwrap();
    let (child, children) =
        begun(directory.path(), "run phold --end 1e9 --processes 3 --threads 1 --json");
    wait_for_work(child.id());
    signal(child.id(), "INT");
    let Output { status, stdout, stderr } = ended(child, &children);
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(130), "{stderr}");
    assert_eq!(stderr.matches("ending early, with the results so far").count(), 1, "{stderr}");
    let json: Value = serde_json::from_slice(&stdout).unwrap();
    let end = json["end_time"].as_f64().unwrap();
    assert!(end > 0.0 && end < 1e9, "{json}");
    if end < 2e3 {
        assert_eq!(
            warpline(&format!("run phold --end {end:?} --json")).digest(),
            json["digest"].as_str().unwrap()
        );
    }
}
