//! Runs that do not get the memory they need, whatever they need it for: they say so, and never abort.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use crate::support::{command, output};

/// The command with this many kilobytes of addresses.
fn limited(kilobytes: u32, line: &str) -> Command {
    let program = command(Path::new(".")).get_program().to_str().unwrap().to_owned();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes}; exec {program} {line}")]);
    command
}

/// Runs `line` with this much memory, and returns the exit code and what was said.
fn run(kilobytes: u32, line: &str) -> (Option<i32>, String) {
    let output = output(&mut limited(kilobytes, line));
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// From far too little to plenty. What is short is a list that grows by leaps, and thus another one at each limit.
#[test]
fn runs_without_enough_memory_end_with_an_error() {
    let lines = [
        "run phold --lps 20000 --population 20 --end 0.2",
        "run phold --lps 20000 --population 20 --end 0.2 --threads 2",
        "run phold --lps 20000 --population 20 --end 0.2 --threads 2 --use-lookahead no",
        "run phold --lps 20000 --population 20 --end 0.2 --virtual-cluster 3 --threads 3 --undo reverse",
        "run mm1 --end 20000 --threads 1 --sync optimistic",
        "explain phold --lps 20000 --population 20 --end 0.2",
    ];
    // Finished, without memory, without a thread.
    let mut ends = [0; 3];
    for line in lines {
        for limit in 0..8 {
            let kilobytes = (40_000.0 * 1.35f64.powi(limit)) as u32;
            let (code, said) = run(kilobytes, line);
            let Some(code @ 0..=1) = code else { panic!("`{line}` within {kilobytes} kB ended with {code:?}: {said}") };
            let refused = said.contains("error: the system refuses thread ");
            ends[if refused { 2 } else { code as usize }] += 1;
            if code == 0 {
                continue;
            }
            let expected = said.contains("error: ") && said.contains("the system has no memory for ") && said.contains(" more; ");
            assert!(
                (refused || expected) && !said.contains("memory allocation of") && !said.contains("panicked"),
                "`{line}`, {kilobytes} kB: {said}"
            );
        }
    }
    // With other sizes of code and threads the limits may miss what they are for.
    assert!(ends.iter().all(|&count| count >= 3), "{ends:?}");
}

#[test]
fn too_many_events_for_a_gigabyte_are_an_error_with_their_place() {
    for engine in ["--threads 1", "--threads 2", "--threads 2 --sync optimistic --use-lookahead no"] {
        let (code, said) = run(1_000_000, &format!("run phold --lps 1000000 --population 20 {engine}"));
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(" events in memory: the system has no memory for ") && said.contains(", time 0, with "), "{said}");
    }
}

#[test]
fn large_states_are_an_error_before_anything_is_simulated() {
    for engine in ["", "--threads 2"] {
        // Room for the program and its threads, and not for the states.
        let (code, said) = run(180_000, &format!("run phold --lps 8000000 {engine}"));
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("the system has no memory for the states of LPs, which needed ") && said.contains("use fewer LPs"), "{said}");
    }
}
