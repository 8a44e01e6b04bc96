//! Runs the command and looks at what it leaves.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod project;
#[cfg(target_os = "linux")]
pub(crate) mod system;

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

/// What a command left.
pub(crate) struct Outcome {
    /// The exit code.
    pub(crate) code: i32,
    /// What went to stdout.
    pub(crate) stdout: String,
    /// What went to stderr.
    pub(crate) stderr: String,
}

/// A short run of every model that may be optimistic.
pub(crate) const RUNS: [&str; 8] = [
    "mm1 --end 200",
    "phold --lps 64 --end 20",
    "phold --lps 64 --end 20 --clusters 8 --remote 0.5 --lookahead 0",
    "simplesim --end 80",
    "hypercube --dimensions 5 --in-flight 100 --end 40",
    "pcs --cells 64 --portables 1000 --end 10",
    "network --end 0.02",
    "replay --servers 3",
];

/// A short run of every model of processes.
pub(crate) const RUNS_OF_PROCESSES: &[&str] = &[
    "bank --end 1000",
    "car-wash",
    "machine-shop --end 1000",
    "gas-station --end 10000",
    "movie",
    "event-latency --jitter 2",
    "hospital --end 2000",
    "job-shop --rounds 5 --variation 0.5",
    "harbour --end 500",
    "tandem --stations 8 --end 100",
    "mupi-barrier --ranks 20 --barriers 3",
    "mupi-ping --ranks 20",
    "stencil --ranks 20 --iterations 12",
];

/// The command, to be run in `directory`.
pub(crate) fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    command.current_dir(directory).env_remove("RUST_BACKTRACE");
    command
}

/// A command that takes hours, once it has done some of its work.
#[cfg(unix)]
pub(crate) fn begun(directory: &Path, line: &str) -> Child {
    let mut command = command(directory);
    command
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    #[cfg(target_os = "linux")]
    system::wait_for_work(child.id());
    // Other systems do not show how much it has done.
    #[cfg(not(target_os = "linux"))]
    thread::sleep(Duration::from_secs(3));
    child
}

/// The command with this many kilobytes of virtual memory, in a shell.
#[cfg(target_os = "linux")]
pub(crate) fn limited(kilobytes: u32, line: &str) -> Command {
    let program = env!("CARGO_BIN_EXE_warpline");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes}; exec {program} {line}")]);
    command
}

/// Many times what any command of a test takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs a command, and ends it if it hangs.
pub(crate) fn output(command: &mut Command) -> Output {
    fn read(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
        thread::spawn(move || {
            let mut all = Vec::new();
            from.read_to_end(&mut all).unwrap();
            all
        })
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = read(child.stdout.take().unwrap());
    let stderr = read(child.stderr.take().unwrap());
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Output {
                status,
                stdout: stdout.join().unwrap(),
                stderr: without_progress(stderr.join().unwrap()),
            };
        }
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{command:?} hangs: it has not ended within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Leaves out the lines of progress, which runs of two seconds print. No test means to run for so
/// long, but the machine may be busy.
fn without_progress(stderr: Vec<u8>) -> Vec<u8> {
    let stderr = String::from_utf8(stderr).unwrap();
    let is_progress = |line: &str| {
        line.contains(" % | ") && line.contains(" left | ") || line.starts_with("starting: ")
    };
    stderr.split_inclusive('\n').filter(|line| !is_progress(line)).collect::<String>().into()
}

/// Runs a command that must not be ended by a signal.
pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let Output { status, stdout, stderr } = output(command);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
}

/// Runs `warpline` with these arguments in `directory`.
pub(crate) fn warpline_in<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Outcome {
    outcome(command(directory).args(arguments))
}

/// Runs `warpline` with the arguments in `line`, separated by spaces.
pub(crate) fn warpline(line: &str) -> Outcome {
    warpline_in(Path::new("."), &line.split_whitespace().collect::<Vec<_>>())
}

impl Outcome {
    /// What went to stdout, which must be one object on one line.
    pub(crate) fn json(&self) -> Map<String, Value> {
        assert_eq!(self.stdout.lines().count(), 1, "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The digest of a run with `--json`.
    pub(crate) fn digest(&self) -> String {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.json()["digest"].as_str().unwrap().to_owned()
    }

    /// Checks that the command was used wrongly, and that stderr says all of `words`.
    #[track_caller]
    pub(crate) fn is_wrong_use(&self, words: &[&str]) {
        self.fails(2, words);
    }

    /// Checks the exit code, that stderr says all of `words`, and that stdout is empty.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        assert!(self.stdout.is_empty(), "{}", self.stdout);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in: {}", self.stderr);
        }
    }
}
