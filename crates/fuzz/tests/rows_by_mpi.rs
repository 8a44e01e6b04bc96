//! Rows of ranks that share no memory do not pile up if nobody reads them: the ranks wait.
#![cfg(all(target_os = "linux", feature = "mpi"))]

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// About a million rows of some 100 bytes.
const MODEL: &str = "nasty --lps 64 --energy 25000 --lookahead 1 --zero 0 --end 1e9";
/// How much more memory a rank may take while nobody reads. All rows would take some 50 MB in the
/// second rank alone.
const GROWTH: u64 = 32 << 20;

/// The memory of a process, in bytes; `None` if it is gone.
fn memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// The ranks that a launcher has started.
fn ranks(launcher: &Child) -> Vec<u32> {
    let tasks =
        fs::read_dir(format!("/proc/{}/task", launcher.id())).into_iter().flatten().flatten();
    let pids: String = tasks
        .map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default())
        .collect();
    pids.split_whitespace().filter_map(|pid| pid.parse().ok()).filter(|pid| is_rank(*pid)).collect()
}

fn is_rank(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .is_ok_and(|name| name.starts_with("warpline-fuzz"))
}

fn run(launcher: &[&str], settings: &str, directory: &Path) -> Child {
    let program = env!("CARGO_BIN_EXE_warpline-fuzz");
    let mut command = Command::new(launcher.first().unwrap_or(&program));
    command.args(launcher.iter().skip(1)).args((!launcher.is_empty()).then_some(program));
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command
        .arg("run")
        .args(MODEL.split(' '))
        .args(settings.split(' '))
        .args(["--quiet", "--report"])
        .arg(directory);
    command.stdout(Stdio::null()).spawn().expect("the run begins")
}

#[test]
fn ranks_wait_for_whoever_reads_their_rows() {
    let _limit = warpline_testkit::time_limit("rows of ranks");
    let mpirun = std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned());
    let [alone, together] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    assert!(run(&[], "--sync sequential", alone.path()).wait().expect("it ends").success());
    let expected = fs::read_to_string(alone.path().join("visits.csv")).expect("there are rows");

    let pipe = together.path().join("visits.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is a mkfifo").success());
    let mut launcher = run(&[&mpirun, "-np", "2"], "--zero-copy no --threads 1", together.path());
    // Whoever writes waits until somebody opens it.
    let mut reader = File::open(&pipe).expect("the run writes");
    let mut first = [0; 4096];
    reader.read_exact(&mut first).expect("there are rows");
    let pids = ranks(&launcher);
    assert_eq!(pids.len(), 2, "the ranks of this machine");
    let begin: Vec<u64> = pids.iter().filter_map(|pid| memory(*pid)).collect();
    sleep(Duration::from_secs(4));
    let grown: Vec<u64> = pids
        .iter()
        .zip(&begin)
        .filter_map(|(pid, begin)| Some(memory(*pid)?.saturating_sub(*begin)))
        .collect();
    assert!(
        grown.len() == 2 && grown.iter().all(|bytes| *bytes < GROWTH),
        "{grown:?} bytes while nobody read"
    );

    let mut rest = String::new();
    reader.read_to_string(&mut rest).expect("the rest of the rows");
    assert!(launcher.wait().expect("it ends").success());
    assert!(
        String::from_utf8_lossy(&first) + &*rest == *expected,
        "the rows are those of a sequential run"
    );
}
