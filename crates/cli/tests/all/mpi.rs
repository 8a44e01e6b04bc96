//! Runs that `mpirun` starts, on this machine: with memory that ranks share, and without, when all
//! messages go by MPI.
#![cfg(all(target_os = "linux", feature = "mpi"))]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::support::system::{descendants, ended, is_at_work, signal};
use crate::support::{Outcome, output, warpline};

/// Ways of ranks, with their numbers.
const WAYS: [(u32, &str); 29] = [
    (1, "--sync optimistic --zero-copy no"),
    (2, ""),
    (2, "--sync conservative --threads 2"),
    (3, "--gvt gsu --threads 2"),
    (8, "--gvt synchronous --barrier condvar"),
    (2, "--zero-copy no"),
    (2, "--zero-copy no --sync conservative --threads 3 --conservative windows"),
    (2, "--zero-copy no --communication worker --threads 3"),
    (2, "--zero-copy no --communication dedicated --threads 2"),
    (
        3,
        "--zero-copy no --communication dedicated --communication-threads 2 --communication-ring \
         cas --threads 3",
    ),
    (2, "--zero-copy no --communication distributed --threads 2 --undo reverse"),
    (4, "--zero-copy no --gvt one-sided --use-lookahead no --communication-delay 0"),
    (4, "--zero-copy no --gvt synchronous --communication-batch 256"),
    (2, "--zero-copy no --sync mixed --conservative-lps 0"),
    (3, "--zero-copy no --pending heap --batch 7 --gvt-interval 50 --go-ahead always"),
    (8, "--zero-copy no"),
    (1, "--barrier all-reduce --threads 2"),
    (2, "--barrier all-reduce"),
    (3, "--barrier all-reduce --threads 2"),
    (4, "--preset ross-mpi"),
    (2, "--barrier all-reduce --communication dedicated --threads 2"),
    (3, "--barrier all-reduce --zero-copy no --communication dedicated --threads 2"),
    (
        2,
        "--barrier all-reduce --zero-copy no --communication dedicated --communication-threads 2 \
         --threads 2",
    ),
    (3, "--barrier all-reduce --zero-copy no --communication worker --threads 2 --gvt-interval 20"),
    (4, "--barrier all-reduce --zero-copy no --sync conservative --conservative windows"),
    (2, "--gvt-interval-control adaptive --gvt-interval 8 --gvt gsu"),
    (2, "--preset ross-mc-cmt --threads 2 --gvt-interval 20"),
    (3, "--preset ross-mc-cmt --threads 2 --communication-threads 2 --barrier all-reduce"),
    (2, "--gvt-interval-control adaptive --zero-copy no --communication dedicated --threads 2"),
];

/// The command by which a launcher starts ranks of `warpline`.
fn launcher(directory: &Path, ranks: u32, tcp: bool) -> Command {
    let mut command = Command::new(std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned()));
    command.current_dir(directory).env_remove("RUST_BACKTRACE");
    // Only Open MPI knows these.
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    if tcp {
        command.env("OMPI_MCA_btl", "tcp,self");
    }
    command.args(["-np", &ranks.to_string(), env!("CARGO_BIN_EXE_warpline")]);
    command
}

fn launched_in(directory: &Path, ranks: u32, tcp: bool, line: &str) -> Outcome {
    let Output { status, stdout, stderr } =
        output(launcher(directory, ranks, tcp).args(line.split_whitespace()));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

fn launched(ranks: u32, line: &str) -> Outcome {
    launched_in(Path::new("."), ranks, false, line)
}

/// Whatever the ranks do, one of them prints a record, which says the same of the model.
fn assert_same(line: &str, alone: &Outcome, together: &Outcome) {
    assert_eq!(together.code, 0, "{line}: {}", together.stderr);
    let [alone, together] = [alone.json(), together.json()];
    for part in ["digest", "state_digest", "committed_events", "results", "series", "end_time"] {
        assert_eq!(alone.get(part), together.get(part), "{part} of `{line}`");
    }
}

#[test]
fn ranks_have_the_answer_of_one_process() {
    for model in [
        "phold --lps 64 --population 4 --end 40 --state-digest yes",
        "phold --lps 24 --population 3 --payload 30000 --end 10",
    ] {
        let alone = warpline(&format!("run {model} --sync sequential --json"));
        for (place, (ranks, way)) in WAYS.into_iter().enumerate() {
            let line = format!("run {model} {way} --json");
            let together = launched_in(Path::new("."), ranks, place % 2 == 1, &line);
            assert_same(&format!("{ranks} ranks: {line}"), &alone, &together);
            let found = &together.json()["engine"]["transport"];
            // A rank that is alone is an ordinary run.
            assert_eq!(found, if ranks == 1 { "threads" } else { "mpi" }, "{ranks} ranks: {line}");
        }
    }
}

/// Left alone, the engine says who has sent, and what in a probe spoke for it.
#[test]
fn who_sends_is_chosen_by_a_trial() {
    for (line, words) in [
        ("--threads 1", "each process has one PE, and no core beside it"),
        ("--threads 64", "no core is free beside those of PEs, and in a probe a batch took "),
        ("--threads 1 --communication dedicated", ""),
    ] {
        let cores = std::thread::available_parallelism().unwrap().get();
        let json = launched(
            cores as u32,
            &format!("run phold --lps 256 --end 1 --zero-copy no --json {line}"),
        )
        .json();
        let communication = &json["communication"];
        assert!(
            communication["why"].as_str().unwrap().starts_with(words),
            "{line}: {communication}"
        );
        assert_eq!(communication["why"] == "", words.is_empty(), "{line}: {communication}");
        assert!(
            ["worker", "distributed", "dedicated"].contains(&communication["by"].as_str().unwrap()),
            "{line}: {communication}"
        );
    }
}

/// Every reduction is a trial of some epoch: two at least, as a single one proves nothing.
#[test]
fn reductions_over_ranks_are_counted() {
    let json = launched(3, "run phold --lps 64 --end 40 --preset ross-mpi --json").json();
    let count = |name: &str| json[name].as_u64().unwrap_or_else(|| panic!("{name} in {json:?}"));
    assert!(count("gvt_epochs") > 1 && count("gvt_trials") >= 2 * count("gvt_epochs"), "{json:?}");
}

/// A thread that does nothing but send and receive has an interval of its own; PEs that send for
/// themselves have theirs, in events.
#[test]
fn who_has_the_gvt_interval_is_told() {
    for (way, unit) in [("dedicated", "passes"), ("worker", "events")] {
        let line = format!(
            "run phold --lps 64 --end 40 --preset ross-mc-cmt --threads 2 --communication {way} \
             --gvt-interval 16 --json"
        );
        let json = launched(2, &line).json();
        let interval = &json["gvt_interval"];
        assert_eq!(
            (&interval["unit"], &interval["first"]),
            (&unit.into(), &16.into()),
            "{way}: {interval}"
        );
    }
}

#[test]
fn all_models_run_in_ranks() {
    let models = [
        "mm1 --end 500",
        "network --end 0.5",
        "simplesim --end 60 --limit 50 --message-size 65000",
        "phold --lookahead 0 --end 20",
        "hypercube --end 50",
        "event-latency --jitter 2",
        "tandem --stations 20 --end 200",
        "pcs --cells 64 --portables 1000 --end 20",
    ];
    for model in models {
        let alone = warpline(&format!("run {model} --sync sequential --json"));
        for way in ["", "--zero-copy no", "--zero-copy no --threads 2 --communication dedicated"] {
            // These have two LPs.
            let is_small = ["mm1", "event-latency"].iter().any(|name| model.starts_with(name));
            let way = if is_small { way.replace("--threads 2", "") } else { way.to_owned() };
            let line = format!("run {model} {way} --json");
            assert_same(&line, &alone, &launched(2, &line));
        }
    }
}

#[test]
fn what_ranks_cannot_do_is_refused_once() {
    let refused = |ranks, line: &str, words: &[&str]| {
        let Outcome { code, stderr, .. } = launched(ranks, line);
        assert_ne!(code, 0, "{line}");
        for word in words {
            assert_eq!(stderr.matches(word).count(), 1, "`{word}` in: {stderr}");
        }
    };
    refused(3, "run mm1", &["error: model `mm1` has 2 LPs, too few for 3 processes"]);
    refused(
        2,
        "run phold --sync sequential",
        &["`processes` is `2`", "a sequential run has one thread"],
    );
    refused(2, "run phold --processes 3", &["`processes` is 3, but the launcher has started 2"]);
    refused(
        2,
        "run phold --zero-copy no --gvt gsu",
        &["are for PEs that share memory, and these processes do not"],
    );
    refused(2, "verify phold", &["only `run` is for several processes"]);
    refused(2, "run phold --nonsense", &["error: "]);
    assert_eq!(launched(3, "models").stdout, warpline("models").stdout);
}

#[test]
fn ranks_that_are_about_to_do_different_things_do_nothing() {
    for sharing in ["", "--zero-copy no"] {
        let first: Vec<String> =
            format!("run phold {sharing}").split_whitespace().map(str::to_owned).collect();
        for (other, word) in [
            ("--seed 7", "another seed: 7"),
            ("--mean 2", "another parameter `mean`: 2"),
            ("--end 11", "another end: 11"),
        ] {
            let mut command = launcher(Path::new("."), 1, false);
            command
                .args(&first)
                .args([":", "-np", "1", env!("CARGO_BIN_EXE_warpline")])
                .args(&first)
                .args(other.split(' '));
            let Output { status, stderr, .. } = output(&mut command);
            let stderr = String::from_utf8(stderr).unwrap();
            assert!(!status.success());
            assert!(stderr.contains(&format!("process 1 of 2 has {word}")), "{other}: {stderr}");
        }
    }
}

/// The same source compiled otherwise may compute otherwise.
#[test]
fn ranks_with_other_programs_do_nothing() {
    let directory = tempdir().unwrap();
    let other = directory.path().join("warpline");
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_warpline")).unwrap();
    // What follows the file's own sections is not executed.
    bytes.push(0);
    fs::write(&other, bytes).unwrap();
    fs::set_permissions(
        &other,
        fs::metadata(env!("CARGO_BIN_EXE_warpline")).unwrap().permissions(),
    )
    .unwrap();
    let mut command = launcher(directory.path(), 1, false);
    command.args(["run", "phold", ":", "-np", "1"]).arg(other).args(["run", "phold"]);
    let Output { status, stderr, .. } = output(&mut command);
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(!status.success());
    assert!(stderr.contains("process 1 of 2 has another program: "), "{stderr}");
}

/// A run that takes hours, with the processes of its ranks.
fn begun(directory: &Path, ranks: u32, line: &str) -> (Child, Vec<u32>) {
    let mut command = launcher(directory, ranks, false);
    let mut child = command
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(120) {
        let mut all: Vec<(u32, u32)> =
            descendants(child.id()).into_iter().filter_map(|id| Some((rank(id)?, id))).collect();
        all.sort_unstable();
        if all.len() == ranks as usize && all.iter().all(|(_, id)| is_at_work(*id)) {
            return (child, all.into_iter().map(|(_, id)| id).collect());
        }
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("no ranks have begun");
}

fn rank(process: u32) -> Option<u32> {
    let variables = fs::read_to_string(format!("/proc/{process}/environ")).ok()?;
    let of = |name: &str| {
        variables
            .split('\0')
            .find_map(|variable| variable.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    };
    of("OMPI_COMM_WORLD_RANK").or_else(|| of("PMI_RANK"))
}

/// What the job of a rank has in the memory that processes of this machine share.
fn shared_files(job: u32) -> Vec<String> {
    let names = fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.contains(&format!(".{job:x}."))).collect()
}

fn job(process: u32) -> u32 {
    let variables = fs::read_to_string(format!("/proc/{process}/environ")).unwrap();
    variables
        .split('\0')
        .find_map(|variable| variable.strip_prefix("PMIX_NAMESPACE=")?.parse().ok())
        .unwrap_or_default()
}

/// How many ranks are killed, unless a variable says otherwise.
const KILLS: u32 = 12;

#[test]
fn if_a_rank_dies_all_others_end_and_one_says_which() {
    let directory = tempdir().unwrap();
    let kills =
        std::env::var("WARPLINE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    for kill in 0..kills {
        let way =
            ["", "--zero-copy no", "--zero-copy no --communication dedicated", "--preset ross-mpi"]
                [kill as usize / 3 % 4];
        let victim = kill as usize % 3;
        let (child, ranks) =
            begun(directory.path(), 3, &format!("run phold --end 1e9 --threads 1 {way}"));
        let job = job(ranks[0]);
        sleep(Duration::from_millis(u64::from(kill) * 37 % 200));
        signal(ranks[victim], "KILL");
        let Output { status, stderr, .. } = ended(child, &ranks);
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(!status.success());
        assert_eq!(
            stderr
                .matches(&format!("error: process {victim} of 3 is gone; GVT had reached time "))
                .count(),
            1,
            "{way}: {stderr}"
        );
        assert_eq!(stderr.matches("error: ").count(), 1, "{way}: {stderr}");
        assert_eq!(shared_files(job), [""; 0], "{way}");
    }
}

/// The record of a run that ended early, if it was written.
fn early_record(stdout: Vec<u8>) -> Option<serde_json::Value> {
    let stdout = String::from_utf8(stdout).unwrap();
    let record = stdout.lines().find(|line| line.starts_with('{'))?;
    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    let end = record["end_time"].as_f64().unwrap();
    assert!(end > 0.0 && end < 1e9, "{record}");
    Some(record)
}

/// Slurm signals all ranks.
#[test]
fn a_signal_ends_all_ranks_with_the_results_so_far() {
    let directory = tempdir().unwrap();
    for way in ["", "--zero-copy no", "--barrier all-reduce"] {
        let (child, ranks) =
            begun(directory.path(), 2, &format!("run phold --end 1e9 --threads 1 --json {way}"));
        // At once, as they may end when the first of them is told.
        let mut kill = Command::new("kill");
        kill.arg("-TERM").args(ranks.iter().map(u32::to_string));
        assert!(kill.status().unwrap().success());
        let Output { stdout, stderr, .. } = ended(child, &ranks);
        let stderr = String::from_utf8_lossy(&stderr);
        assert_eq!(stderr.matches("ending early, with the results so far").count(), 1, "{stderr}");
        assert!(early_record(stdout).is_some(), "no record: {stderr}");
    }
}

/// Ctrl-C reaches the launcher, which kills ranks that have not ended after a second. On a busy
/// machine that may be too soon.
#[test]
fn a_launcher_that_is_interrupted_leaves_the_results_so_far() {
    let directory = tempdir().unwrap();
    let has_record = || {
        let (child, ranks) = begun(directory.path(), 2, "run phold --end 1e9 --threads 1 --json");
        signal(child.id(), "INT");
        let Output { stdout, stderr, .. } = ended(child, &ranks);
        let stderr = String::from_utf8_lossy(&stderr);
        assert_eq!(stderr.matches("ending early, with the results so far").count(), 1, "{stderr}");
        early_record(stdout).is_some()
    };
    assert!((0..10).any(|_| has_record()), "ten runs have left no record");
}
