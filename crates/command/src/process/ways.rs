//! Where the PEs of a run are, and who starts them: threads, processes, or ranks that `mpirun`
//! starts.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::output::format::counted;

/// Where the PEs of a run are, and who starts them. The answer does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Threads of one process.
    #[default]
    Threads,
    /// Processes that the first of them starts, and that share memory.
    Processes,
    /// Ranks: processes that `mpirun` starts, and that share memory.
    Mpi,
    /// Ranks that share no memory: all messages between them are copied, by MPI.
    MpiCopies,
    /// Cores of a modelled machine, which the run names.
    Modelled,
}

impl Way {
    /// All of them that take cores of this machine.
    pub const ALL: [Way; 4] = [Way::Threads, Way::Processes, Way::Mpi, Way::MpiCopies];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Threads => "threads",
            Way::Processes => "processes",
            Way::Mpi => "mpi",
            Way::MpiCopies => "mpi-copies",
            Way::Modelled => "modelled",
        }
    }

    /// Whether it needs a launcher such as `mpirun`.
    pub(crate) fn takes_launcher(self) -> bool {
        matches!(self, Way::Mpi | Way::MpiCopies)
    }
}

/// Where the PEs of one run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) way: Way,
    pub(crate) processes: u32,
    /// PEs in each process.
    pub(crate) threads: u32,
}

impl Placement {
    /// This many PEs in one process.
    pub(crate) fn threads(pes: u32) -> Self {
        Placement { way: Way::Threads, processes: 1, threads: pes }
    }

    /// One PE, on a core of this machine, or of the modelled one.
    pub(crate) fn one_pe(self) -> Self {
        let way = if self.way == Way::Modelled { Way::Modelled } else { Way::Threads };
        Placement { way, processes: 1, threads: 1 }
    }

    pub(crate) fn pes(&self) -> u32 {
        self.processes * self.threads
    }

    /// In words, such as `2 ranks by MPI`.
    pub(crate) fn name(&self) -> String {
        let processes = self.processes as usize;
        let threads = counted(self.threads as usize, "thread", "threads");
        let each = if self.threads > 1 { format!(" with {threads} each") } else { String::new() };
        match self.way {
            Way::Threads => threads,
            Way::Processes => counted(processes, "process", "processes") + &each,
            Way::Mpi => format!("{} by MPI{each}", counted(processes, "rank", "ranks")),
            Way::MpiCopies => {
                format!("{} by MPI{each}, copies", counted(processes, "rank", "ranks"))
            }
            Way::Modelled => counted(self.pes() as usize, "core", "cores"),
        }
    }

    /// The arguments that tell a run where its PEs are.
    pub(crate) fn arguments(&self) -> Vec<String> {
        if self.way == Way::Modelled {
            return vec![format!("--pes={}", self.pes())];
        }
        let mut arguments =
            vec![format!("--processes={}", self.processes), format!("--threads={}", self.threads)];
        if self.way == Way::MpiCopies {
            arguments.push("--zero-copy=no".to_owned());
        }
        arguments
    }

    /// The command that starts a program, by itself or through the launcher. The arguments of the
    /// program are to be added.
    ///
    /// # Errors
    /// Why there is no launcher, if one is needed.
    pub(crate) fn command(
        &self,
        program: &Path,
        launcher: &Result<Launcher, String>,
    ) -> Result<Command, String> {
        if self.way.takes_launcher() {
            Ok(launcher.as_ref()?.command(program, self.processes))
        } else {
            Ok(Command::new(program))
        }
    }
}

/// The program that starts ranks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Launcher {
    program: OsString,
    /// Whether it is that of Open MPI, which has options of its own.
    is_open_mpi: bool,
}

impl Launcher {
    /// The launcher that the variable MPIRUN names, or else `mpirun`.
    ///
    /// # Errors
    /// Why there is none: this program was built without MPI, or the launcher is missing, or it
    /// refuses to start anything.
    pub(crate) fn find() -> Result<Self, String> {
        if !cfg!(feature = "mpi") {
            return Err(
                "this program was built without MPI; its feature `mpi` adds it, which takes an MPI \
                 library"
                    .to_owned(),
            );
        }
        let launcher = Self::of(
            std::env::var_os("MPIRUN")
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "mpirun".into()),
        )?;
        launcher.probe()?;
        Ok(launcher)
    }

    /// Starts a program that does nothing. A launcher may refuse: Open MPI does for root, and
    /// containers often run as root.
    fn probe(&self) -> Result<(), String> {
        let outcome = self.command(Path::new("true"), 1).stdin(Stdio::null()).output();
        let outcome = outcome
            .map_err(|cause| format!("cannot start `{}`: {cause}", self.program.display()))?;
        if outcome.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&outcome.stderr);
        let first = said
            .lines()
            .map(str::trim)
            .find(|line| line.contains(char::is_alphabetic))
            .unwrap_or("it does not say why");
        Err(format!("`{}` starts no program here: {first}", self.program.display()))
    }

    fn of(program: OsString) -> Result<Self, String> {
        let version = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
        let version = version.map_err(|cause| {
            format!(
                "cannot start `{}`: {cause}; install an MPI library, or let the variable MPIRUN \
                 name its launcher",
                program.display()
            )
        })?;
        let is_open_mpi = String::from_utf8_lossy(&version.stdout).contains("Open MPI");
        Ok(Launcher { program, is_open_mpi })
    }

    fn command(&self, program: &Path, ranks: u32) -> Command {
        let mut command = Command::new(&self.program);
        if self.is_open_mpi {
            // Without these, it refuses more ranks than cores, and binds each of a few ranks, with
            // all its threads, to one core.
            command.args(["--oversubscribe", "--bind-to", "none"]);
        }
        command.args(["-np", &ranks.to_string()]).arg(program);
        command
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A launcher that exists nowhere, for command lines that nobody runs.
    pub(crate) fn launcher() -> Result<Launcher, String> {
        Ok(Launcher { program: "mpirun".into(), is_open_mpi: true })
    }

    /// A command line as it would be typed.
    pub(crate) fn typed(command: &Command) -> String {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    fn placed(way: Way, processes: u32, threads: u32) -> Placement {
        Placement { way, processes, threads }
    }

    #[test]
    fn ways_have_names_and_arguments() {
        let of = |placement: Placement| (placement.name(), placement.arguments().join(" "));
        assert_eq!(
            of(Placement::threads(1)),
            ("1 thread".into(), "--processes=1 --threads=1".into())
        );
        assert_eq!(
            of(Placement::threads(4)),
            ("4 threads".into(), "--processes=1 --threads=4".into())
        );
        assert_eq!(
            of(placed(Way::Processes, 2, 1)),
            ("2 processes".into(), "--processes=2 --threads=1".into())
        );
        assert_eq!(
            of(placed(Way::Processes, 2, 3)),
            ("2 processes with 3 threads each".into(), "--processes=2 --threads=3".into())
        );
        assert_eq!(
            of(placed(Way::Mpi, 2, 1)),
            ("2 ranks by MPI".into(), "--processes=2 --threads=1".into())
        );
        let copies = (
            "2 ranks by MPI with 4 threads each, copies".into(),
            "--processes=2 --threads=4 --zero-copy=no".into(),
        );
        assert_eq!(of(placed(Way::MpiCopies, 2, 4)), copies);
        let modelled = placed(Way::Modelled, 1, 32);
        assert_eq!(of(modelled), ("32 cores".into(), "--pes=32".into()));
        assert_eq!(of(modelled.one_pe()), ("1 core".into(), "--pes=1".into()));
        assert_eq!(placed(Way::Processes, 2, 3).one_pe(), Placement::threads(1));
    }

    #[test]
    fn ranks_are_started_by_the_launcher() {
        let of = |way, launcher| {
            placed(way, 3, 1)
                .command(Path::new("warpline"), &launcher)
                .map(|command| typed(&command))
        };
        assert_eq!(of(Way::Processes, Err("none".into())), Ok("warpline".into()));
        assert_eq!(of(Way::Mpi, Err("none".into())), Err("none".into()));
        assert_eq!(
            of(Way::MpiCopies, launcher()),
            Ok("mpirun --oversubscribe --bind-to none -np 3 warpline".into())
        );
        let other = Launcher { program: "mpiexec".into(), is_open_mpi: false };
        assert_eq!(of(Way::Mpi, Ok(other)), Ok("mpiexec -np 3 warpline".into()));
    }

    #[test]
    fn a_launcher_that_starts_nothing_counts_as_none() {
        let of = |program: &str| Launcher { program: program.into(), is_open_mpi: false }.probe();
        assert_eq!(
            (of("true"), of("false")),
            (Ok(()), Err("`false` starts no program here: it does not say why".into()))
        );
        let said = of("sh").unwrap_err();
        assert!(said.starts_with("`sh` starts no program here: ") && said.len() > 40, "{said}");
    }

    #[test]
    fn a_missing_launcher_says_what_to_do() {
        let why = Launcher::of("no/such/mpirun".into()).unwrap_err();
        assert!(
            why.starts_with("cannot start `no/such/mpirun`: ")
                && why.ends_with("MPIRUN name its launcher"),
            "{why}"
        );
        if !cfg!(feature = "mpi") {
            assert!(
                Launcher::find().unwrap_err().starts_with("this program was built without MPI")
            );
        }
    }
}
