//! Runs that do not get the memory that they need end with an error, and never abort.
#![cfg(target_os = "linux")]

use std::iter;

use tempfile::tempdir;

use crate::support::{limited, output, warpline, warpline_in};

/// Runs `line` with this much memory, and returns the exit code and what was said.
fn run(kilobytes: u32, line: &str) -> (Option<i32>, String) {
    let output = output(&mut limited(kilobytes, line));
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// From far too little memory to plenty. Lists grow by leaps, so at each limit another one fails.
#[test]
fn runs_without_enough_memory_end_with_an_error() {
    let lines = [
        "run phold --lps 20000 --population 20 --end 0.2",
        "run phold --lps 20000 --population 20 --end 0.2 --threads 2",
        "run phold --lps 20000 --population 20 --end 0.2 --threads 2 --use-lookahead no",
        "run phold --lps 20000 --population 20 --end 0.2 --virtual-cluster 3 --threads 3 --undo \
         reverse",
        "run mm1 --end 20000 --threads 1 --sync optimistic",
        "explain phold --lps 20000 --population 20 --end 0.2",
    ];
    // How many runs finished, lacked memory, and were refused a thread.
    let mut ends = [0; 3];
    for line in lines {
        for limit in 0..8 {
            let kilobytes = (64_000.0 * 1.35f64.powi(limit)) as u32;
            let (code, said) = run(kilobytes, line);
            let Some(code @ 0..=1) = code else {
                panic!("`{line}` within {kilobytes} kB ended with {code:?}: {said}")
            };
            let refused = said.contains("error: the system refuses thread ");
            ends[if refused { 2 } else { code as usize }] += 1;
            if code == 0 {
                continue;
            }
            let expected = said.contains("error: ")
                && said.contains("the system has no memory for ")
                && said.contains(" more; ");
            assert!(
                (refused || expected)
                    && !said.contains("memory allocation of")
                    && !said.contains("panicked"),
                "`{line}`, {kilobytes} kB: {said}"
            );
        }
    }
    // If code or threads change in size, the limits may have to change, too.
    assert!(ends.iter().all(|&count| count >= 3), "{ends:?}");
}

#[test]
fn too_many_events_for_a_gigabyte_are_an_error_with_their_place() {
    for engine in ["--threads 1", "--threads 2", "--threads 2 --sync optimistic --use-lookahead no"]
    {
        let (code, said) =
            run(1_000_000, &format!("run phold --lps 1000000 --population 20 {engine}"));
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(" events in memory: the system has no memory for ")
                && said.contains(", time 0, with "),
            "{said}"
        );
    }
}

#[test]
fn large_states_are_an_error_before_anything_is_simulated() {
    for engine in ["", "--threads 2"] {
        // Room for the program and its threads, and not for the states.
        let (code, said) = run(180_000, &format!("run phold --lps 8000000 {engine}"));
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("the system has no memory for the states of LPs, which needed ")
                && said.contains("use fewer LPs"),
            "{said}"
        );
    }
}

/// The most memory that a run ever had, in bytes.
fn peak(line: &str) -> u64 {
    let run = warpline(&format!("{line} --json"));
    assert_eq!(run.code, 0, "`{line}`: {}", run.stderr);
    run.json()["peak_rss_bytes"].as_u64().expect("the system tells")
}

/// Nothing that a PE has grows with the number of PEs, and each has its LP and a message here.
#[test]
fn a_pe_of_a_modelled_machine_takes_twenty_kilobytes_however_many_there_are() {
    let peak_of = |pes: u64| {
        peak(&format!(
            "run phold --lps {pes} --population 1 --lookahead 0.5 --end 2 --sync conservative \
             --machine cray-xt5 --pes {pes} --gvt one-sided"
        ))
    };
    let all = [256, 1024, 4096].map(|pes| (pes, peak_of(pes)));
    for two in all.windows(2) {
        let [(few, less), (many, more)] = [two[0], two[1]];
        let each = (more - less) / (many - few);
        assert!(each <= 20_000, "{each} bytes for each of {few} to {many} PEs");
    }
}

/// Results are written as a stream. Their lists are never in memory as a whole, nor is anything made
/// of them.
#[test]
fn a_network_takes_little_memory_for_each_pair_of_nodes() {
    const NODES: u64 = 160;
    let directory = tempdir().unwrap();
    let ring = |nodes: u64| {
        let node = |id| format!("{{\"id\": {id}}}");
        let edge = |id: u64| {
            format!("{{\"source\": {id}, \"target\": {}, \"dist\": 10}}", (id + 1) % nodes)
        };
        let list = |of: &dyn Fn(u64) -> String| (0..nodes).map(of).collect::<Vec<_>>().join(",");
        let path = directory.path().join(format!("ring{nodes}.json"));
        std::fs::write(
            &path,
            format!("{{\"nodes\": [{}], \"links\": [{}]}}", list(&node), list(&edge)),
        )
        .unwrap();
        format!("run network --topology {} --end 0.02 --sync sequential", path.display())
    };
    let pairs = NODES * (NODES - 1);
    let base = peak(&ring(4));
    let limited = format!("{} --memory {}K", ring(NODES), base / 1024 + pairs * 700 / 1024);
    let per_pair = (peak(&limited) - base) / pairs;
    assert!(per_pair < 600, "{per_pair} bytes for each of {pairs} pairs");
    let out = directory.path().join("out");
    let reported = warpline_in(
        directory.path(),
        &[&limited[..], "--json --report out"].join(" ").split_whitespace().collect::<Vec<_>>(),
    );
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap();
    assert_eq!(json["results"]["demands"].as_array().map(Vec::len), Some(pairs as usize));
    assert_eq!(json["results"]["demands"], reported.json()["results"]["demands"]);
}

/// The results of finished runs wait in a file.
#[test]
fn replications_take_little_memory_for_each_run() {
    let run = |runs: u64| format!("run mm1 --end 5 --replications {runs}");
    let few = 20;
    let many = 1200;
    let base = peak(&run(few));
    let per_run = peak(&run(many)).saturating_sub(base) / (many - few);
    assert!(per_run < 8_000, "{per_run} bytes for each run");
    // What earlier runs leave in memory does not count as part of the program.
    let all = warpline(&format!("{} --memory {}K --json", run(many), base / 1024 + 2_000));
    assert_eq!(
        (all.code, all.json()["replications"]["runs"].as_array().map(Vec::len)),
        (0, Some(many as usize)),
        "{}",
        all.stderr
    );
}

/// What a PE takes does not grow with how many there are, whatever their mailbox, and however they
/// find out how far they may go. All pairs of PEs exchange messages.
#[test]
fn a_pe_takes_no_more_memory_among_many_pes() {
    let many = [256, 1024, 4096];
    let fewer = [256, 640, 1024];
    let ways = [
        ("--sync conservative", many),
        ("--sync conservative --conservative free-running --mailbox cas", fewer),
        ("--sync conservative --horizon gvt --gvt one-sided", many),
        ("--sync conservative --horizon gvt --gvt gsu", fewer),
        ("--sync conservative --horizon gvt --gvt synchronous --mailbox cas", fewer),
        ("--sync optimistic --use-lookahead no --gvt gsu --messages shared", fewer),
        ("--sync optimistic --use-lookahead no --messages shared --sub-pool 4", fewer),
    ];
    for (way, pes) in ways {
        // What is on its way at once depends on who else uses the cores, so several runs are tried.
        let mut found = Vec::new();
        let grows = || {
            let peaks = pes.map(|pes| {
                peak(&format!("run phold --lps {} --end 1 --threads {pes} {way}", 10 * pes))
            });
            let each = |more: usize| {
                peaks[more].saturating_sub(peaks[more - 1]) / (pes[more] - pes[more - 1])
            };
            let [few, many] = [1, 2].map(each);
            found.push((few, many));
            many >= 45_000 || many >= few + few / 4
        };
        assert!(
            !iter::repeat_with(grows).take(4).all(|grows| grows),
            "{way}: bytes for each further PE up to {} PEs, and up to {}: {found:?}",
            pes[1],
            pes[2]
        );
    }
}

/// Rings for each sender need more memory than most machines have if PEs are many. Such a run would
/// be killed without a message.
#[test]
fn rings_between_too_many_pes_are_refused_with_the_figure() {
    let line = "run phold --lps 2048 --memory 1G";
    let said = |more: &str, how: &str| {
        warpline(&format!("{line} {more}")).is_wrong_use(&[
            "1024 PEs need 4.",
            " GB for the messages between any two",
            "--memory is 1G",
            how,
        ])
    };
    said("--processes 64 --threads 16 --mailbox per-sender", "use fewer --processes or --threads");
    said("--threads 1024 --mailbox per-sender", "or --mailbox shared");
}
