//! How much a thread has written to files, pipes and terminals, to find models that do so. Only
//! Linux tells.

use std::fs::File;

/// Where the system tells what this thread has written.
pub(super) struct Outside(Option<File>);

/// What a thread has written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Written {
    pub(super) bytes: u64,
    pub(super) calls: u64,
}

impl Outside {
    /// Of the thread that calls it.
    pub(super) fn of_this_thread() -> Self {
        Outside(if cfg!(target_os = "linux") {
            File::open("/proc/thread-self/io").ok()
        } else {
            None
        })
    }

    /// What the thread has written; `None` where the system does not tell.
    pub(super) fn written(&self) -> Option<Written> {
        let mut bytes = [0; 512];
        let read = read_from_start(self.0.as_ref()?, &mut bytes)?;
        let text = std::str::from_utf8(bytes.get(..read)?).ok()?;
        let field = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.parse().ok())
        };
        Some(Written { bytes: field("wchar")?, calls: field("syscw")? })
    }
}

#[cfg(unix)]
fn read_from_start(file: &File, bytes: &mut [u8]) -> Option<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, 0).ok()
}

#[cfg(not(unix))]
fn read_from_start(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}

impl Written {
    /// What has been written since.
    pub(super) fn since(self, before: Written) -> Written {
        Written { bytes: self.bytes - before.bytes, calls: self.calls - before.calls }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_this_thread_writes_is_counted() {
        let outside = Outside::of_this_thread();
        let Some(before) = outside.written() else { return };
        assert_eq!(outside.written(), Some(before), "looking writes nothing");
        tempfile::tempfile().unwrap().write_all(b"five!").unwrap();
        assert_eq!(outside.written().unwrap().since(before), Written { bytes: 5, calls: 1 });
        std::thread::spawn(|| tempfile::tempfile().unwrap().write_all(b"five!").unwrap())
            .join()
            .unwrap();
        assert_eq!(
            outside.written().unwrap().since(before).calls,
            1,
            "other threads have counts of their own"
        );
    }
}
