//! Parallel runs, from the command line to what is printed.

use std::fs;
#[cfg(target_os = "linux")]
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Command;

use crate::support::{RUNS, RUNS_OF_PROCESSES, warpline, warpline_in};
#[cfg(target_os = "linux")]
use crate::support::{command, limited, output};
use serde_json::Value;
use tempfile::tempdir;

/// What every parallel run has in its object.
const KEYS: [&str; 11] = [
    "anti_messages",
    "cancelled_in_place",
    "efficiency",
    "gvt_epochs",
    "gvt_trials",
    "pes",
    "phase_seconds",
    "processed_events",
    "remote_events",
    "rollbacks",
    "rolled_back_events",
];

/// By default there are as many PEs as cores that the process may use.
#[cfg(target_os = "linux")]
#[test]
fn only_cores_that_may_be_used_count() {
    let program = command(Path::new(".")).get_program().to_owned();
    let line = "run phold --lps 64 --end 5 --json --sync";
    for sync in ["optimistic", "conservative"] {
        let mut taskset = Command::new("taskset");
        taskset.args(["-c", "0"]).arg(&program).args(line.split(' ')).arg(sync);
        let run: Value = serde_json::from_slice(&output(&mut taskset).stdout).unwrap();
        assert_eq!(run["engine"]["threads"], 1, "{sync}: {run}");
    }
}

#[test]
fn the_answer_is_that_of_a_sequential_run() {
    for run in RUNS {
        let expected = warpline(&format!("run {run} --json")).json();
        for settings in [
            "--sync optimistic",
            "--threads 2",
            "--threads 3 --undo reverse",
            "--sync optimistic --threads 1",
            "--threads 2 --gvt synchronous --gvt-interval 50",
            "--threads 3 --gvt one-sided",
            "--threads 3 --gvt gsu --use-lookahead no",
            "--threads 2 --barrier central",
            "--threads 5 --barrier condvar --gvt-interval 20",
            "--threads 2 --batch 1 --kps 1 --copy-interval 3",
            "--threads 2 --window 0.01 --kps 1000",
        ] {
            let has_no_reverse_code = run.starts_with("mm1") || run.starts_with("replay");
            if has_no_reverse_code && settings.contains("reverse") {
                continue;
            }
            let line = format!("run {run} {settings} --json");
            let parallel = warpline(&line);
            assert!(
                parallel.code == 0
                    && parallel.stderr.lines().all(|line| line.starts_with("note: ")),
                "{line}: {}",
                parallel.stderr
            );
            let parallel = parallel.json();
            for key in ["digest", "committed_events", "results", "end_time", "seed", "parameters"] {
                assert_eq!(parallel[key], expected[key], "{line}: {key}");
            }
            assert_eq!(parallel["engine"]["sync"], "optimistic", "{line}");
        }
    }
}

/// Processes are never undone: their runs are sequential, conservative or mixed, whatever is asked
/// for.
#[test]
fn processes_give_one_answer_and_are_never_undone() {
    for run in RUNS_OF_PROCESSES {
        let expected = warpline(&format!("run {run} --json")).json();
        for settings in [
            "--sync optimistic",
            "--threads 2",
            "--threads 3 --sync conservative --gvt one-sided",
            "--threads 2 --sync mixed --go-ahead always",
        ] {
            let line = format!("run {run} {settings} --json");
            let parallel = warpline(&line);
            assert_eq!(parallel.code, 0, "{line}: {}", parallel.stderr);
            let parallel = parallel.json();
            for key in ["digest", "committed_events", "results", "end_time"] {
                assert_eq!(parallel[key], expected[key], "{line}: {key}");
            }
            let undone = parallel.get("rolled_back_events").and_then(|undone| undone.as_u64());
            assert_eq!(undone.unwrap_or(0), 0, "{line}");
            assert_ne!(parallel["engine"]["sync"], "optimistic", "{line}");
        }
    }
}

#[test]
fn several_threads_are_a_parallel_run() {
    let engine = |settings: &str| {
        warpline(&format!("run phold --lps 64 --end 5 --json {settings}")).json()["engine"].clone()
    };
    let parallel = engine("--threads 2");
    assert_eq!((&parallel["sync"], &parallel["threads"]), (&"optimistic".into(), &2.into()));
    assert_eq!(engine("--threads 1")["sync"], "sequential");
    assert_eq!(engine("--threads 1 --sync sequential")["sync"], "sequential");
    let refused = [
        "`sync` is `sequential`, but `threads` is `4`",
        "a sequential run has one thread",
        "leave `threads` out",
        "set it to 1",
    ];
    warpline("run phold --lps 64 --end 5 --sync sequential --threads 4").is_wrong_use(&refused);
    assert_eq!(engine("--threads 1 --sync optimistic")["sync"], "optimistic");
}

#[test]
fn all_settings_are_heard() {
    let settings = "--batch 7 --kps 4 --gvt synchronous --gvt-interval 99 --window 0.5 \
                    --copy-interval 3 --undo copy --pending heap";
    let json =
        warpline(&format!("run phold --lps 64 --end 5 --threads 2 --json {settings}")).json();
    let engine = &json["engine"];
    for (key, value) in
        [("threads", 2), ("batch", 7), ("kps", 4), ("gvt_interval", 99), ("copy_interval", 3)]
    {
        assert_eq!(engine[key], value, "{key}");
    }
    let words = ["gvt", "pending", "undo"].map(|key| &engine[key]);
    assert_eq!(
        (words, &engine["window"]),
        ([&"synchronous".into(), &"heap".into(), &"copy".into()], &0.5.into())
    );
    let usual = warpline("run phold --lps 64 --end 5 --threads 2 --json").json();
    assert_eq!(
        (&usual["engine"]["gvt"], &usual["digest"]),
        (&"asynchronous".into(), &json["digest"])
    );
}

/// The record and the text say how an adaptive interval changed.
#[test]
fn an_interval_of_gvt_that_is_adapted_is_told() {
    let line = "run phold --lps 64 --end 200 --threads 2 --use-lookahead no --gvt synchronous \
                --gvt-interval 8";
    assert_eq!(warpline(&format!("{line} --json")).json().get("gvt_interval"), None);
    let adaptive = format!("{line} --gvt-interval-control adaptive");
    let json = warpline(&format!("{adaptive} --json")).json();
    let of = |name: &str| {
        json["gvt_interval"][name].as_u64().unwrap_or_else(|| panic!("{name} in {json:?}"))
    };
    assert_eq!((&json["gvt_interval"]["unit"], of("first")), (&"events".into(), 8));
    assert!(
        of("least") <= of("last") && of("last") <= of("greatest") && of("greatest") <= 64,
        "{json:?}"
    );
    assert_eq!(of("changes") == 0, of("least") == of("greatest"), "{json:?}");
    let told = warpline(&adaptive).stdout;
    assert!(told.contains("interval 8 events at first"), "{told}");
}

/// A barrier means synchronous GVT, and is refused beside any other.
#[test]
fn only_synchronous_gvt_has_a_barrier() {
    let engine = |settings: &str| {
        warpline(&format!("run phold --lps 64 --end 5 --json {settings}")).json()["engine"].clone()
    };
    let met = engine("--barrier condvar --threads 2");
    assert_eq!(
        (&met["gvt"], &met["barrier"], &met["sync"]),
        (&"synchronous".into(), &"condvar".into(), &"optimistic".into())
    );
    assert_eq!(engine("--threads 2 --gvt synchronous")["barrier"], "tree");
    assert_eq!(engine("--threads 2 --gvt one-sided")["barrier"], Value::Null);
    let refused = ["`barrier` is `central`, but `gvt` is `gsu`", "set `gvt` to `synchronous`"];
    warpline("run phold --lps 64 --end 5 --threads 2 --gvt gsu --barrier central")
        .is_wrong_use(&refused);
    warpline("run phold --lps 64 --end 5 --sync sequential --barrier central")
        .is_wrong_use(&["`barrier` is `central`, but `sync` is `sequential`"]);
    let refused = [
        "`barrier` is `all-reduce`, but no launcher",
        "mpirun -np N warpline",
        "use --barrier tree",
    ];
    for way in
        ["--barrier all-reduce", "--preset ross-mpi", "--barrier all-reduce --virtual-cluster 1"]
    {
        warpline(&format!("run phold --lps 64 --end 5 --threads 2 {way}")).is_wrong_use(&refused);
    }
}

/// The setting reaches the engine, and the answer is the same.
#[test]
fn both_words_for_the_use_of_lookahead_are_heard() {
    let run = |words: &str| {
        warpline(&format!("run phold --lps 64 --end 5 --threads 2 --json {words}")).json()
    };
    let usual = run("");
    for (words, used) in [("--use-lookahead yes", true), ("--use-lookahead no", false), ("", true)]
    {
        let json = run(words);
        assert_eq!(
            (&json["engine"]["use_lookahead"], &json["digest"]),
            (&used.into(), &usual["digest"]),
            "`{words}`"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_that_is_refused_is_told() {
    let line = "run mm1 --sync optimistic --threads 1 --stack 4096";
    let output = output(&mut limited(1_900_000, line));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("refuses thread 1 of 1") && stderr.contains("fewer threads"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty() && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn json_tells_what_parallel_execution_cost() {
    let json = warpline("run phold --lps 64 --end 50 --threads 2 --json").json();
    assert!(KEYS.iter().all(|key| json.contains_key(*key)), "{:?}", json.keys());
    assert!(!json.contains_key("parallel") && !json.contains_key("progress"));
    let count = |key: &str| json[key].as_u64().unwrap();
    assert_eq!(count("processed_events"), count("committed_events") + count("rolled_back_events"));
    let efficiency = json["efficiency"].as_f64().unwrap();
    assert!(
        (efficiency - count("committed_events") as f64 / count("processed_events") as f64).abs()
            < 1e-9
    );
    assert!(
        count("remote_events") > 0
            && count("remote_events") < count("committed_events")
            && count("gvt_epochs") > 0
    );
    for key in ["primary", "secondary", "max_per_pe"] {
        assert!(json["rollbacks"][key].is_u64(), "{key}");
    }
    assert!(
        json["rollbacks"]["mean_per_pe"].is_number()
            && json["phase_seconds"]["event_processing"].is_number()
    );
}

#[test]
fn people_get_what_it_cost_at_a_glance() {
    let run = warpline("run phold --lps 64 --end 50 --threads 2");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for words in [
        "  engine            optimistic, 2 threads\n",
        "  efficiency        ",
        " events processed, ",
        " rolled back\n",
        "  rollbacks         ",
        " primary, ",
        " secondary\n",
        "  GVT computations  ",
        "  remote events     ",
        " % of those committed\n",
        "  digest            ",
    ] {
        assert!(run.stdout.contains(words), "no `{words}` in: {}", run.stdout);
    }
}

#[test]
fn a_parallel_run_has_a_report() {
    let place = tempdir().unwrap();
    let run = warpline_in(
        place.path(),
        &["run", "mm1", "--end", "100", "--threads", "2", "--report", "out", "--json"],
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let record: Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("out/run.json")).unwrap())
            .unwrap();
    assert_eq!(
        (&record["digest"], &record["processed_events"]),
        (&run.json()["digest"], &run.json()["processed_events"])
    );
    assert_eq!(warpline_in(place.path(), &["report", "out"]).code, 0);
}

#[test]
fn a_parallel_run_has_a_trace_and_a_sequential_one_has_none() {
    let place = tempdir().unwrap();
    let run = |line: &str| warpline_in(place.path(), &line.split(' ').collect::<Vec<_>>());
    let traced = run("run phold --lps 64 --end 5 --threads 3 --trace trace.json --json");
    assert_eq!((traced.code, traced.stderr.as_str()), (0, ""));
    let trace: Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("trace.json")).unwrap())
            .unwrap();
    let events =
        trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "event");
    assert_eq!(events.count() as u64, traced.json()["committed_events"].as_u64().unwrap());
    assert_eq!(
        (&traced.json()["trace"]["spans_left_out"], traced.json()["trace"].get("note")),
        (&Value::from(0), None)
    );
    let long = run(
        "run phold --lps 64 --end 200 --threads 2 --batch 1 --gvt-interval 1 --trace long.json \
         --trace-limit 4 --quiet",
    );
    let size = fs::metadata(place.path().join("long.json")).unwrap().len();
    assert!(
        size <= 4_000_000
            && long.stdout.contains("trace: long.json, ")
            && long.stdout.contains("summed up as `left out`"),
        "{}",
        long.stdout
    );
    run("run phold --lps 64 --end 5 --trace other.json").is_wrong_use(&["--sync optimistic"]);
    assert!(!place.path().join("other.json").exists());
    run("run phold --lps 64 --end 5 --threads 2 --trace no/such/place.json")
        .is_wrong_use(&["no/such/place.json"]);
    run("run phold --lps 64 --end 5 --threads 2 --trace-limit 5")
        .is_wrong_use(&["`trace-limit` limits a trace"]);
    run("compare phold --lps 64 --end 5 --trace other.json").is_wrong_use(&["--trace"]);
}

#[test]
fn a_scenario_may_be_a_parallel_run() {
    let place = tempdir().unwrap();
    fs::write(
        place.path().join("a.toml"),
        "model = 'phold'\nend = 5\nthreads = 2\ngvt_interval = 100\n[parameters]\nlps = 64",
    )
    .unwrap();
    let engine = |more: &[&str]| {
        warpline_in(place.path(), &[&["run", "a.toml", "--json"], more].concat()).json()["engine"]
            .clone()
    };
    assert_eq!((&engine(&[])["sync"], &engine(&[])["threads"]), (&"optimistic".into(), &2.into()));
    assert_eq!(engine(&["--threads", "3"])["threads"], 3);
    assert_eq!(engine(&["--sync", "sequential", "--threads", "1"])["sync"], "sequential");
    warpline_in(place.path(), &["run", "a.toml", "--sync", "sequential"])
        .is_wrong_use(&["`threads` is `2`", "set it to 1"]);
}
