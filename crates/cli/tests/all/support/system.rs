//! Processes of this machine, as the system shows them.

use std::fs;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Many times as long as it takes to end, or to begin, on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
/// The time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The processes that a process has started, and those that they have started.
pub(crate) fn descendants(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    children.iter().flat_map(|child| [*child].into_iter().chain(descendants(*child))).collect()
}

/// Whether a process takes part in a parallel run, and so has threads that execute events.
pub(crate) fn is_at_work(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok())
        .any(|name| name.starts_with("warpline-"))
}

/// Waits until a process and those that it has started have calculated for 0.3 s together, however
/// long that takes on a busy machine. A run has executed events by then.
pub(crate) fn wait_for_work(process: u32) {
    const TICKS: u64 = 30; // of 10 ms
    let all = || ticks(process) + descendants(process).into_iter().map(ticks).sum::<u64>();
    let since = Instant::now();
    while all() < TICKS {
        assert!(since.elapsed() < LIMIT, "process {process} does nothing");
        sleep(LOOK_EVERY);
    }
}

/// How long a process has calculated, in the kernel or outside, in hundredths of a second: none if
/// it is gone.
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program is in brackets, and may have spaces. The third field comes after it.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    // Fields 14 and 15.
    let times = fields.split(' ').skip(11).take(2);
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

/// Sends a process a signal.
pub(crate) fn signal(process: u32, name: &str) {
    assert!(
        Command::new("kill")
            .args([format!("-{name}"), process.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// Waits for a child and other processes, all of which must end soon.
pub(crate) fn ended(mut child: Child, others: &[u32]) -> Output {
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{} goes on", child.id());
        }
        sleep(LOOK_EVERY);
    }
    let goes_on = |process: &u32| {
        fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    while others.iter().any(goes_on) {
        assert!(since.elapsed() < LIMIT, "some of {others:?} goes on");
        sleep(LOOK_EVERY);
    }
    child.wait_with_output().unwrap()
}
