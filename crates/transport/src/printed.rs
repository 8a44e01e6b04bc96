//! Catches what is printed on stdout while a piece of work is done, so that it can be passed on in
//! order when there are other processes.

pub use self::system::PrintCatcher;

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::fs::File;
    use std::io::{self, Read, Seek, Write};
    use std::os::fd::OwnedFd;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::Builder;
    use std::time::Duration;

    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdout, stdout};

    /// How long it may take to flush stdout, on the busiest machine. If it takes longer, somebody
    /// has locked it, and may wait for the run.
    const FLUSH_WITHIN: Duration = Duration::from_secs(10);

    /// Catches what this process prints on stdout.
    #[derive(Debug)]
    pub struct PrintCatcher {
        /// The true stdout.
        stdout: OwnedFd,
        caught: File,
        flusher: Flusher,
    }

    impl PrintCatcher {
        /// # Errors
        /// If the system refuses a file in memory, or a thread.
        pub fn new() -> io::Result<Self> {
            let caught = File::from(memfd_create("warpline-stdout", MemfdFlags::CLOEXEC)?);
            let mut flusher = Flusher::new()?;
            flusher.flush();
            Ok(PrintCatcher { stdout: fcntl_dupfd_cloexec(stdout(), 3)?, caught, flusher })
        }

        /// Calls `work`, and returns what the process has printed meanwhile, with its result.
        pub fn catch<T>(&mut self, work: impl FnOnce() -> T) -> (T, Vec<u8>) {
            if dup2_stdout(&self.caught).is_err() {
                return (work(), Vec::new());
            }
            let result = work();
            self.flusher.flush();
            let restored = dup2_stdout(&self.stdout);
            debug_assert!(restored.is_ok(), "stdout is open");
            let mut printed = Vec::new();
            if self.caught.stream_position().is_ok_and(|bytes| bytes > 0) {
                let taken =
                    self.caught.rewind().and_then(|()| self.caught.read_to_end(&mut printed));
                let _ =
                    taken.and_then(|_| self.caught.set_len(0)).and_then(|()| self.caught.rewind());
            }
            (result, printed)
        }
    }

    /// Flushes stdout, in a thread of its own, as another thread may have locked it for good.
    #[derive(Debug)]
    struct Flusher {
        ask: Sender<()>,
        done: Receiver<()>,
        /// Whether the last flush has not ended yet.
        is_stuck: bool,
    }

    impl Flusher {
        fn new() -> io::Result<Self> {
            let (ask, asked) = channel();
            let (tell, done) = channel();
            let work = move || {
                // It ends when the sender `ask` is dropped.
                while asked.recv().is_ok() {
                    let _ = io::stdout().flush();
                    let _ = tell.send(());
                }
            };
            Builder::new().name("warpline-stdout".to_owned()).spawn(work)?;
            Ok(Flusher { ask, done, is_stuck: false })
        }

        fn flush(&mut self) {
            self.is_stuck = self.is_stuck && self.done.try_recv().is_err();
            if !self.is_stuck {
                self.is_stuck =
                    self.ask.send(()).is_err() || self.done.recv_timeout(FLUSH_WITHIN).is_err();
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use std::io;

    /// Catches nothing: this system has no way to do so.
    #[derive(Debug)]
    pub struct PrintCatcher;

    impl PrintCatcher {
        /// # Errors
        /// Always.
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Calls `work`.
        pub fn catch<T>(&mut self, work: impl FnOnce() -> T) -> (T, Vec<u8>) {
            (work(), Vec::new())
        }
    }
}
