//! Processes of this machine, as the system shows them.

use std::fs;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Many times as long as it takes to begin or to end.
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

/// For how many hundredths of a second a process has had a core.
fn core_time(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may contain anything.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

/// Waits until a process has had a core for so long that it is busy with what it was started for,
/// however busy the machine is.
pub(crate) fn wait_until_it_works(child: &Child) {
    const STARTED: u64 = 40;
    let since = Instant::now();
    while core_time(child.id()).is_none_or(|time| time < STARTED) {
        assert!(since.elapsed() < LIMIT, "{} does not begin", child.id());
        sleep(LOOK_EVERY);
    }
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

/// Waits for a child and other processes, all of which must end within seconds.
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
