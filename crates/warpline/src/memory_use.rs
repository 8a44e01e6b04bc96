//! What the system reports about the process's memory.

/// Resident memory now, in bytes; `None` where the system does not report it.
pub(crate) fn resident() -> Option<u64> {
    field("VmRSS:")
}

/// The most resident memory so far, in bytes; `None` where the system does not report it.
pub(crate) fn peak() -> Option<u64> {
    field("VmHWM:")
}

fn field(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn memory_is_known_and_at_most_its_peak() {
        let (now, peak) = (super::resident().unwrap(), super::peak().unwrap());
        assert!(now > 100_000 && now <= peak + 1_000_000, "{now} {peak}");
    }
}
