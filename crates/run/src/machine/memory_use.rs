//! What the system reports about memory.

/// What Linux says of the process.
const STATUS: &str = "/proc/self/status";

/// Resident memory now, in bytes; `None` where the system does not report it.
pub(crate) fn resident() -> Option<u64> {
    field(STATUS, "VmRSS:")
}

/// The most resident memory so far, in bytes; `None` where the system does not report it.
pub(crate) fn peak() -> Option<u64> {
    field(STATUS, "VmHWM:")
}

/// The memory that the system cannot take back: all that is resident except pages of files, such as
/// those of the program. In bytes; `None` where the system does not report it.
pub(crate) fn held() -> Option<u64> {
    Some(field(STATUS, "RssAnon:")? + field(STATUS, "RssShmem:")?)
}

/// A field of such a file, in bytes.
pub(crate) fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn memory_is_known_and_at_most_its_peak() {
        let held = super::held().unwrap();
        let now = super::resident().unwrap();
        let peak = super::peak().unwrap();
        assert!(held > 100_000 && held < now && now <= peak + 1_000_000, "{held} {now} {peak}");
    }
}
