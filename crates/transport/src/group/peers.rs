//! Watches whether the other processes are there, as far as this one can see them.

pub(super) use self::system::{Peers, exists, parent};

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::ffi::OsString;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};
    use std::{env, mem};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};

    /// The processes that this one watches.
    #[derive(Debug)]
    pub(crate) enum Peers {
        /// The first process watches those it has started, by number from 1.
        Started(Vec<Started>),
        /// The others watch the first.
        First(OwnedFd),
        /// Processes that a launcher has started watch those of their machine, by number.
        #[cfg(feature = "mpi")]
        Ranks(Vec<(u32, OwnedFd)>),
    }

    /// A process that this one has started.
    #[derive(Debug)]
    pub(crate) struct Started {
        child: Child,
        /// Shows that the process has ended even where its exit status is lost: where SIGCHLD is
        /// ignored, which programs inherit, or the program itself waits for all its children.
        /// `None` where the system has no such descriptors.
        process: Option<OwnedFd>,
    }

    impl Started {
        fn new(child: Child) -> Self {
            let process = Pid::from_raw(child.id() as i32)
                .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            Started { child, process }
        }

        /// How it has ended, if it has.
        fn end(&mut self) -> Option<String> {
            // One system call if it goes on, as this is asked often.
            if self.process.as_ref().is_some_and(|process| !has_ended(process)) {
                return None;
            }
            match self.child.try_wait() {
                Ok(Some(status)) => Some(how(status)),
                Ok(None) if self.process.is_none() => None,
                // Its exit status is lost.
                Ok(None) | Err(_) => Some("is gone".to_owned()),
            }
        }
    }

    /// The process that has started this one.
    pub(crate) fn parent() -> Option<u32> {
        Some(getppid()?.as_raw_nonzero().get() as u32)
    }

    /// Whether there is such a process, and it has not ended.
    pub(crate) fn exists(process: u32) -> bool {
        let open = |pid| pidfd_open(pid, PidfdFlags::empty()).ok();
        Pid::from_raw(process as i32).and_then(open).is_some_and(|process| !has_ended(&process))
    }

    fn has_ended(process: &OwnedFd) -> bool {
        let mut polled = [PollFd::new(process, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|count| count > 0)
    }

    impl Peers {
        pub(crate) fn none() -> Self {
            Peers::Started(Vec::new())
        }

        /// Starts this program once more for each invitation, with its arguments. Of what they
        /// print, only stderr is seen.
        pub(crate) fn start(
            variable: &str,
            invitations: impl Iterator<Item = OsString>,
        ) -> io::Result<Self> {
            let mut started = Vec::new();
            let mut arguments = env::args_os();
            let name = arguments.next().unwrap_or_default();
            let arguments: Vec<OsString> = arguments.collect();
            for invitation in invitations {
                // The program as it is in memory, even if its file has been replaced meanwhile.
                let mut command = Command::new("/proc/self/exe");
                command
                    .arg0(&name)
                    .args(&arguments)
                    .env(variable, invitation)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null());
                match command.spawn() {
                    Ok(child) => started.push(Started::new(child)),
                    Err(cause) => {
                        Peers::Started(started).end(Duration::ZERO);
                        return Err(cause);
                    }
                }
            }
            Ok(Peers::Started(started))
        }

        /// The process that has started this one.
        pub(crate) fn of(first: u32) -> io::Result<Self> {
            let pid = Pid::from_raw(first as i32).ok_or(io::ErrorKind::NotFound)?;
            let gone = |_| io::Error::other("the process that has started this one is gone");
            Ok(Peers::First(pidfd_open(pid, PidfdFlags::empty()).map_err(gone)?))
        }

        /// Processes of this machine that somebody else has started, with their numbers. Those that
        /// cannot be seen from here, as in another container, are not watched.
        #[cfg(feature = "mpi")]
        pub(crate) fn ranks(processes: impl Iterator<Item = (u32, u32)>) -> Self {
            let open = |(number, process): (u32, u32)| {
                Some((
                    number,
                    pidfd_open(Pid::from_raw(process as i32)?, PidfdFlags::empty()).ok()?,
                ))
            };
            Peers::Ranks(processes.filter_map(open).collect())
        }

        /// The number of a process that is gone without having left, and how it ended.
        pub(crate) fn gone(&mut self, has_left: impl Fn(u32) -> bool) -> Option<(u32, String)> {
            match self {
                Peers::Started(all) => all.iter_mut().zip(1..).find_map(|(started, number)| {
                    let how = started.end()?;
                    // Asked second: a process leaves before it ends.
                    (!has_left(number)).then_some((number, how))
                }),
                Peers::First(process) => has_ended(process).then(|| (0, "is gone".to_owned())),
                #[cfg(feature = "mpi")]
                Peers::Ranks(processes) => {
                    let gone = processes
                        .iter()
                        .find(|(number, process)| has_ended(process) && !has_left(*number));
                    gone.map(|(number, _)| (*number, "is gone".to_owned()))
                }
            }
        }

        /// Waits until the first process has ended, but not for long.
        pub(crate) fn wait_for_first(&self, within: Duration) {
            let since = Instant::now();
            while self.is_first_there() && since.elapsed() < within {
                sleep(Duration::from_millis(1));
            }
        }

        fn is_first_there(&self) -> bool {
            match self {
                Peers::Started(_) => false,
                Peers::First(process) => !has_ended(process),
                #[cfg(feature = "mpi")]
                Peers::Ranks(processes) => {
                    // One on another machine cannot be seen.
                    let first = processes.iter().find(|(number, _)| *number == 0);
                    first.is_none_or(|(_, process)| !has_ended(process))
                }
            }
        }

        /// Waits until the processes that this one has started have ended, and kills those that
        /// take longer than `within`.
        pub(crate) fn end(&mut self, within: Duration) {
            let Peers::Started(all) = self else { return };
            let since = Instant::now();
            for mut started in mem::take(all) {
                while started.end().is_none() {
                    if since.elapsed() >= within {
                        let _ = started.child.kill();
                        let _ = started.child.wait();
                        break;
                    }
                    sleep(Duration::from_millis(1));
                }
            }
        }
    }

    fn how(status: ExitStatus) -> String {
        match (status.code(), status.signal()) {
            (_, Some(signal)) => format!("was killed by signal {signal}"),
            (Some(0), _) => "ended before its time".to_owned(),
            (code, _) => format!("ended with exit status {}", code.unwrap_or_default()),
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use std::ffi::OsString;
    use std::io;
    use std::time::Duration;

    #[derive(Debug)]
    pub(crate) struct Peers;

    pub(crate) fn parent() -> Option<u32> {
        None
    }

    pub(crate) fn exists(_: u32) -> bool {
        true
    }

    impl Peers {
        pub(crate) fn none() -> Self {
            Peers
        }

        pub(crate) fn start(_: &str, _: impl Iterator<Item = OsString>) -> io::Result<Self> {
            Err(io::Error::new(io::ErrorKind::Unsupported, "runs of several processes need Linux"))
        }

        pub(crate) fn of(_: u32) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        #[cfg(feature = "mpi")]
        pub(crate) fn ranks(_: impl Iterator<Item = (u32, u32)>) -> Self {
            Peers
        }

        pub(crate) fn gone(&mut self, _: impl Fn(u32) -> bool) -> Option<(u32, String)> {
            None
        }

        pub(crate) fn wait_for_first(&self, _: Duration) {}

        pub(crate) fn end(&mut self, _: Duration) {}
    }
}
