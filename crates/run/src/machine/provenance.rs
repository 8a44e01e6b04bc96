//! How a run came about: the command, the build, the moment and the machine.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp, Unit};
use warpline_record::Provenance;

use crate::machine::memory_use::field;

/// The provenance of a run that began at `started`, on this many PEs.
pub fn of(started: Instant, pes: usize) -> Provenance {
    Provenance {
        command_line: std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        date: before(Timestamp::now(), started.elapsed()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("WARPLINE_COMMIT").map(str::to_owned),
        processor: processor(),
        cores: std::thread::available_parallelism().ok().map(|cores| cores.get() as u64),
        memory_bytes: field("/proc/meminfo", "MemTotal:"),
        pes: pes as u64,
    }
}

/// The moment so long before `now`, to the second.
fn before(now: Timestamp, elapsed: Duration) -> String {
    let began =
        SignedDuration::try_from(elapsed).ok().and_then(|elapsed| now.checked_sub(elapsed).ok());
    began
        .and_then(|began| began.round(Unit::Second).ok())
        .map(|began| began.to_string())
        .unwrap_or_default()
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let name =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_dates_from_when_it_began() {
        let now: Timestamp = "2026-03-01T00:00:01.25Z".parse().unwrap();
        assert_eq!(before(now, Duration::from_secs(3)), "2026-02-28T23:59:58Z");
        assert_eq!(before(now, Duration::from_secs(u64::MAX)), "");
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
    #[test]
    fn the_machine_is_described() {
        let of = of(Instant::now(), 3);
        assert_eq!((of.pes, of.version.as_str()), (3, env!("CARGO_PKG_VERSION")));
        assert!(of.processor.is_some_and(|name| !name.contains(':') && name.len() > 3));
        assert!(
            of.cores.is_some_and(|cores| cores > 0)
                && of.memory_bytes.is_some_and(|bytes| bytes > 1 << 28)
        );
        assert!(of.command_line[0].contains("warpline"), "{:?}", of.command_line);
        let age = Timestamp::now().duration_since(of.date.parse().unwrap());
        assert!(age.as_secs().abs() < 60, "{age}");
    }
}
