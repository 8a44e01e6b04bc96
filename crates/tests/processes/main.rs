//! Runs in several processes: they have one answer, and effects outside in one order. Each case is
//! a run of this program, which starts itself again for the other processes.

mod acts;
mod faults;
mod repeated;
mod talk;
mod together;
mod tortured;

use std::env::args;
use std::fs::{self, File};
use std::iter;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use warpline::base::random::Random;
use warpline::prelude::Model;
use warpline::{Barrier, Error, GvtAlgorithm, Horizon, LpId, Share};
use warpline_testkit::matrix::{Configuration, Copies, Parallel, compare_first, run};
use warpline_testkit::random_model::{Diary, Inline, Owned};
use warpline_testkit::{RandomModel, Recipe, Settings, cases, reference};

use self::acts::Victim;

/// How many random models there are, unless a variable says otherwise.
const CASES: u32 = 60;
/// A case hangs if it writes nothing for so long, many times what most cases take on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// How many random models `mpirun` launches, if this was built with MPI: it takes longer to start.
const LAUNCHED: u32 = 12;
/// How many models have effects outside, and how many of these `mpirun` launches.
const ACTS: u32 = 20;
const LAUNCHED_ACTS: u32 = 6;

/// The option with which `env` makes a program ignore the ends of its children, on some systems.
const IGNORING: &str = "--ignore-signal=CHLD";

/// How the processes of a case come about.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// There is one process.
    Alone,
    /// The first starts the others.
    Started,
    /// `mpirun` starts all.
    Launched,
}

impl Way {
    const ALL: [(Way, &str); 3] =
        [(Way::Alone, "alone"), (Way::Started, "started"), (Way::Launched, "launched")];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// How a case ends that does not return.
enum Ended {
    Failed(String),
    /// This process had only a share of the run.
    Share(Share),
}

impl From<String> for Ended {
    fn from(why: String) -> Self {
        Ended::Failed(why)
    }
}

impl Ended {
    /// A failure with the text that `told` makes of the error, unless the process had only a share.
    fn of(error: Error, told: impl FnOnce(Error) -> String) -> Self {
        match error {
            Error::Share(share) => Ended::Share(share),
            error => Ended::Failed(told(error)),
        }
    }
}

/// One run of this program, which is itself several processes.
#[derive(Clone, Copy)]
enum Case {
    /// A random model.
    Random(Way, u64),
    /// A model with many effects outside.
    Acts(Way, u64),
    /// A model that kills one of the processes.
    Killed(Victim),
    /// The same in a program that ignores how its children end.
    KilledUnheard(Victim),
    /// A model with events that cannot be written or read; most of them never happen.
    Talk(u64),
    /// A model with this much memory, in bytes.
    Budget(u64),
    /// Many runs in one program.
    Repeated,
    /// Several runs in processes and in threads at once.
    AtOnce,
    /// A run in processes within another one.
    Nested,
}

impl Case {
    fn name(self) -> String {
        match self {
            Case::Random(way, seed) => format!("random {} {seed}", way.name()),
            Case::Acts(way, seed) => format!("acts {} {seed}", way.name()),
            Case::Killed(victim) => format!("killed {victim:?}"),
            Case::Talk(number) => format!("talk {number}"),
            Case::Budget(bytes) => format!("budget {bytes}"),
            Case::KilledUnheard(victim) => format!("unheard {victim:?}"),
            Case::Repeated => "repeated".to_owned(),
            Case::AtOnce => "at-once".to_owned(),
            Case::Nested => "nested".to_owned(),
        }
    }

    fn parse(words: &[String]) -> Option<Self> {
        let way =
            |name: &str| Way::ALL.into_iter().find(|(_, found)| *found == name).map(|(way, _)| way);
        let victim =
            |name: &str| Victim::ALL.into_iter().find(|victim| format!("{victim:?}") == name);
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["random", name, seed] => Some(Case::Random(way(name)?, seed.parse().ok()?)),
            ["acts", name, seed] => Some(Case::Acts(way(name)?, seed.parse().ok()?)),
            ["talk", number] => Some(Case::Talk(number.parse().ok()?)),
            ["budget", bytes] => Some(Case::Budget(bytes.parse().ok()?)),
            ["repeated"] => Some(Case::Repeated),
            ["at-once"] => Some(Case::AtOnce),
            ["nested"] => Some(Case::Nested),
            ["killed", name] => victim(name).map(Case::Killed),
            ["unheard", name] => victim(name).map(Case::KilledUnheard),
            _ => None,
        }
    }

    /// What it does, in each of its processes.
    fn run(self, directory: &Path) -> Result<(), Ended> {
        match self {
            Case::Random(way, seed) => check(seed, directory, way == Way::Launched),
            Case::Acts(Way::Alone, seed) => acts::announce(seed, directory, None),
            Case::Acts(way, seed) => {
                let launched = way == Way::Launched;
                acts::announce(seed, directory, Some((acts::processes(seed, launched), launched)))
            }
            Case::Talk(number) => talk::gossip(number),
            Case::Budget(bytes) => talk::run_short(bytes),
            Case::Killed(victim) => acts::be_killed(victim, directory, "was killed by signal 9"),
            Case::KilledUnheard(victim) => acts::be_killed(victim, directory, "is gone"),
            Case::Repeated => repeated::repeat(),
            Case::AtOnce => together::at_once(),
            Case::Nested => together::one_within_another(),
        }
    }

    /// The command that runs it.
    fn command(self, directory: &Path) -> Command {
        let this = std::env::current_exe().expect("this program");
        let launched = match self {
            Case::Random(Way::Launched, seed) => Some((processes(seed), seed)),
            Case::Acts(Way::Launched, seed) => Some((acts::processes(seed, true), seed)),
            _ => None,
        };
        let mut command = Command::new(&this);
        if let Some((processes, seed)) = launched {
            command = Command::new(std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned()));
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            if seed % 3 == 0 {
                // Other MPI libraries ignore this variable.
                command.env("OMPI_MCA_btl", "tcp,self");
            }
            command.args(["-np", &processes.to_string()]).arg(this);
        } else if let Case::KilledUnheard(_) = self {
            // A program that is started ignores the signals that its starter ignores.
            command = Command::new("env");
            command.arg(IGNORING).arg(this);
        }
        command.arg("case").arg(directory).args(self.name().split(' '));
        command
    }
}

fn main() -> ExitCode {
    if std::env::var_os(faults::FAULT).is_some() {
        return faults::command();
    }
    let arguments: Vec<String> = args().skip(1).collect();
    if let [word, directory, case @ ..] = &arguments[..]
        && word == "case"
    {
        let case = Case::parse(case).expect("a case");
        return match case.run(Path::new(directory)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(Ended::Share(share)) => share.end(),
            Err(Ended::Failed(why)) => {
                eprintln!("case {}: {why}", case.name());
                ExitCode::FAILURE
            }
        };
    }
    if !cfg!(target_os = "linux")
        || cfg!(miri)
        || arguments.iter().any(|argument| argument == "--list")
    {
        return ExitCode::SUCCESS;
    }
    let launched = |usual| if cfg!(feature = "mpi") { cases(usual) } else { 0 };
    let seeds = |way: Way, count: u32| (0..u64::from(count)).map(move |seed| (way, seed));
    let random = seeds(Way::Started, cases(CASES)).chain(seeds(Way::Launched, launched(LAUNCHED)));
    let acts =
        seeds(Way::Started, cases(ACTS)).chain(seeds(Way::Launched, launched(LAUNCHED_ACTS)));
    let can_ignore = Command::new("env")
        .args([IGNORING, "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let unheard =
        [Victim::Own, Victim::Next].into_iter().filter(|_| can_ignore).map(Case::KilledUnheard);
    let killed = Victim::ALL.into_iter().map(Case::Killed).chain(unheard).chain([
        Case::Repeated,
        Case::AtOnce,
        Case::Nested,
    ]);
    let random = random.map(|(way, seed)| Case::Random(way, seed));
    let talk = (0..talk::CASES).map(Case::Talk).chain(talk::BUDGETS.map(Case::Budget));
    let all: Vec<Case> = killed
        .chain(talk)
        .chain(acts.map(|(way, seed)| Case::Acts(way, seed)))
        .chain(random)
        .collect();
    let (not_found, faults) = faults::not_found();
    println!("processes: {} of {faults} cases of faulty models passed", faults - not_found);
    let (not_repeated, searches) = tortured::failed();
    println!("processes: {} of {searches} searches passed", searches - not_repeated);
    let failed = not_found + not_repeated + failures(&all);
    let launched = launched(LAUNCHED) + launched(LAUNCHED_ACTS);
    println!(
        "processes: {} of {} cases passed, {launched} of them launched by mpirun",
        all.len() + not_found + not_repeated - failed,
        all.len()
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many cases do not pass. There are as many at a time as there are cores, since processes take
/// a while to start, and their launcher sleeps.
fn failures(all: &[Case]) -> usize {
    let next = AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let work = || {
        let cases = iter::from_fn(|| all.get(next.fetch_add(1, Ordering::Relaxed)));
        cases.filter(|case| !passes(**case)).count()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).sum()
    })
}

/// Whether a case passes.
fn passes(case: Case) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let passed = match case {
        Case::Random(..)
        | Case::Talk(_)
        | Case::Budget(_)
        | Case::Repeated
        | Case::AtOnce
        | Case::Nested => succeeds(case, directory.path()),
        Case::Acts(_, seed) => compare_acts(case, seed, directory.path()),
        Case::Killed(Victim::First) => run_case(case, directory.path())
            .and_then(|_| acts::check_killed(Victim::First, directory.path())),
        Case::Killed(victim) | Case::KilledUnheard(victim) => succeeds(case, directory.path())
            .and_then(|()| acts::check_killed(victim, directory.path())),
    };
    passed.inspect_err(|why| eprintln!("case {}: {why}", case.name())).is_ok()
}

/// Whether a case leaves the same files as in a single process.
fn compare_acts(case: Case, seed: u64, directory: &Path) -> Result<(), String> {
    let [alone, together] =
        [Case::Acts(Way::Alone, seed), case].map(|case| (case, directory.join(case.name())));
    for (case, directory) in [&alone, &together] {
        fs::create_dir(directory).map_err(|cause| cause.to_string())?;
        succeeds(*case, directory)?;
    }
    for file in ["outcome", "diary", "stdout"] {
        let [expected, found] = [&alone, &together]
            .map(|(_, directory)| fs::read_to_string(directory.join(file)).unwrap_or_default());
        if expected.is_empty() || found != expected {
            let kept = directory.with_file_name(case.name().replace(' ', "-"));
            let _ = fs::remove_dir_all(&kept);
            let _ = fs::rename(directory, &kept);
            return Err(format!("`{file}` is not as alone; see {}", kept.display()));
        }
    }
    Ok(())
}

fn succeeds(case: Case, directory: &Path) -> Result<(), String> {
    let status = run_case(case, directory)?;
    let said = || fs::read_to_string(directory.join("stderr")).unwrap_or_default();
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}: {}", said())) }
}

/// Runs a case in a program of its own.
fn run_case(case: Case, directory: &Path) -> Result<ExitStatus, String> {
    let file = |name: &str| File::create(directory.join(name)).expect("a file");
    let mut command = case.command(directory);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file("stdout"))
        .stderr(file("stderr"))
        .spawn()
        .expect("a process");
    let mut since = Instant::now();
    let mut known = 0;
    loop {
        match child.try_wait().expect("a child") {
            Some(status) => return Ok(status),
            None if since.elapsed() <= LIMIT => sleep(Duration::from_millis(1)),
            None => {
                // On busy cores, acts that take turns among processes take long.
                let written = bytes_in(directory);
                if written <= known {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("it hangs: it has written {written} bytes"));
                }
                known = written;
                since = Instant::now();
            }
        }
    }
}

/// How many bytes the files in a directory have in all.
fn bytes_in(directory: &Path) -> u64 {
    let files = fs::read_dir(directory).expect("a directory");
    files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

/// The number of processes of a case.
fn processes(seed: u64) -> u32 {
    let wanted = [2, 2, 3, 4][Random::new(seed, LpId(1), 1).below(4) as usize];
    wanted.min(Recipe::from_seed(seed).lps)
}

/// Runs a random model by the reference and in several processes, with random settings, all drawn
/// from the seed.
fn check(seed: u64, directory: &Path, launched: bool) -> Result<(), Ended> {
    let recipe = Recipe::from_seed(seed);
    match (recipe.words(), seed % 4) {
        // Events that are no plain data are always copied.
        (0, 0) => check_model(&RandomModel::<0>::new(&recipe), seed, directory, launched),
        (_, 0) => check_model(&RandomModel::<13>::new(&recipe), seed, directory, launched),
        (0, _) => check_model(&RandomModel::<0, Inline>::new(&recipe), seed, directory, launched),
        (..) => check_model(&RandomModel::<13, Inline>::new(&recipe), seed, directory, launched),
    }
}

/// Replaces settings that need memory common to all processes.
fn avoid_common_memory(parallel: &mut Parallel) {
    parallel.barrier = Barrier::Tree;
    if parallel.gvt.needs_shared_memory() {
        parallel.gvt = GvtAlgorithm::Asynchronous;
    }
}

fn check_model<const WORDS: usize, O: Owned>(
    model: &RandomModel<WORDS, O>,
    seed: u64,
    directory: &Path,
    launched: bool,
) -> Result<(), Ended>
where
    RandomModel<WORDS, O>: Model + Clone,
{
    let mut random = Random::new(seed, LpId(0), 1);
    let settings = Settings::new(seed, 10.0);
    let pes = 1 + random.below(3);
    let copies = random.bernoulli(0.5).then(|| Copies::draw(&mut random));
    let mut parallel = Parallel {
        pes,
        processes: processes(seed),
        copies,
        cluster: None,
        ..Parallel::cluster(&mut random)
    };
    // With the least room, more than two processes would take turns on few cores for every two
    // messages.
    parallel.least_room &= parallel.processes == 2;
    // Where GVT drives, PEs wait for messages all the time.
    if parallel.horizon == Horizon::Gvt
        && let Some(copies) = &mut parallel.copies
    {
        copies.delay = copies.delay.min(10.0);
    }
    let apart = copies.is_some()
        || RandomModel::<WORDS, O>::ABILITIES.wire().is_none_or(|wire| wire.proof().is_none());
    if launched && apart {
        avoid_common_memory(&mut parallel);
    }
    if launched && random.bernoulli(0.4) {
        parallel.gvt = GvtAlgorithm::Synchronous;
        parallel.barrier = Barrier::AllReduce;
    }
    let pending =
        if random.bernoulli(0.5) { warpline::Pending::Heap } else { warpline::Pending::Ladder };
    let configuration = Configuration { pending, parallel: Some(parallel), changes: None };
    let kept = |name: &str| directory.join(name);
    let [own, expected] =
        ["found", "expected"].map(|name| model.clone().with_diary(Diary::new(kept(name))));
    let found = run(own, &settings, configuration)
        .map_err(|error| Ended::of(error, |error| format!("{configuration:?} failed: {error}")))?;
    compare_first(reference::run_with(&expected, &settings), &found)
        .map_err(|why| format!("{configuration:?} differs from the reference: {why}"))?;
    let [found, expected] =
        ["found", "expected"].map(|name| fs::read_to_string(kept(name)).unwrap_or_default());
    let lines = || found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    if found == expected {
        Ok(())
    } else {
        Err(format!(
            "{configuration:?}: {} of {} bytes were done outside; {:?}",
            found.len(),
            expected.len(),
            lines()
        )
        .into())
    }
}
