//! Random models in several processes: one answer, whatever the processes do. Each case is a run of this program, which starts itself again for
//! the other processes.

use std::env::args;
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use warpline::base::random::Random;
use warpline::prelude::{Context, Init, Model, Observe, WireFormat};
use warpline::{Barrier, Error, GvtAlgorithm, LpId, Simulation};
use warpline_testkit::matrix::{Configuration, Copies, Parallel, compare_first, run};
use warpline_testkit::random_model::Inline;
use warpline_testkit::{RandomModel, Recipe, Settings, cases, reference};

/// How many cases there are, unless a variable says otherwise.
const CASES: u32 = 150;
/// Many times what a case takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// How many of them are launched by `mpirun`, where this was built with MPI: it takes longer to start.
const LAUNCHED: u32 = 40;

/// One run of this program, which is itself several processes.
#[derive(Clone, Copy)]
enum Case {
    /// What a process other than the first cannot do.
    Acts,
    /// A random model in processes that this one starts.
    Started(u64),
    /// A random model in processes that `mpirun` starts.
    Launched(u64),
}

impl Case {
    fn name(self) -> String {
        match self {
            Case::Acts => "acts".to_owned(),
            Case::Started(seed) => seed.to_string(),
            Case::Launched(seed) => format!("launched {seed}"),
        }
    }

    fn parse(words: &[String]) -> Option<Self> {
        match words {
            [word] if word == "acts" => Some(Case::Acts),
            [seed] => seed.parse().ok().map(Case::Started),
            [word, seed] if word == "launched" => seed.parse().ok().map(Case::Launched),
            _ => None,
        }
    }

    /// The command that runs it.
    fn command(self) -> Command {
        let this = std::env::current_exe().expect("this program");
        let Case::Launched(seed) = self else {
            let mut command = Command::new(this);
            command.arg("case").args(self.name().split(' '));
            return command;
        };
        let mut command = Command::new(std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".to_owned()));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        if seed % 3 == 0 {
            // Other libraries pay no attention to it.
            command.env("OMPI_MCA_btl", "tcp,self");
        }
        command.args(["-np", &processes(seed).to_string()]).arg(this).arg("case").args(self.name().split(' '));
        command
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    if let Some((word, case)) = arguments.split_first()
        && word == "case"
    {
        let case = Case::parse(case).expect("a case");
        let checked = match case {
            Case::Acts => check_acts(),
            Case::Started(seed) => check(seed, false),
            Case::Launched(seed) => check(seed, true),
        };
        return match checked {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("case {}: {why}", case.name());
                ExitCode::FAILURE
            }
        };
    }
    if !cfg!(target_os = "linux") || cfg!(miri) || arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let launched = if cfg!(feature = "mpi") { cases(LAUNCHED) } else { 0 };
    let started = (0..cases(CASES)).map(|seed| Case::Started(seed.into()));
    let all: Vec<Case> = std::iter::once(Case::Acts).chain(started).chain((0..launched).map(|seed| Case::Launched(seed.into()))).collect();
    let failed = all.iter().filter(|case| !passes(**case)).count();
    println!("processes: {} of {} cases passed, {launched} of them launched by mpirun", all.len() - failed, all.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a case in a program of its own.
fn passes(case: Case) -> bool {
    let mut child = case.command().stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("a process");
    let (since, case) = (Instant::now(), case.name());
    loop {
        match child.try_wait().expect("a child") {
            Some(status) if status.success() => return true,
            Some(status) => {
                eprintln!("case {case} ended with {status}");
                return false;
            }
            None if since.elapsed() > LIMIT => {
                eprintln!("case {case} hangs");
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
            None => sleep(Duration::from_millis(1)),
        }
    }
}

/// The number of processes of a case.
fn processes(seed: u64) -> u32 {
    let wanted = [2, 2, 3, 4][Random::new(seed, LpId(1), 1).below(4) as usize];
    wanted.min(Recipe::from_seed(seed).lps)
}

/// Runs a model that is drawn from the seed, by the reference and in several processes, in a way that is drawn as well.
fn check(seed: u64, launched: bool) -> Result<(), String> {
    let recipe = Recipe::from_seed(seed);
    match (recipe.words(), seed % 4) {
        // Their events are no plain data, and so always copied.
        (0, 0) => check_model(&RandomModel::<0>::new(&recipe), seed, launched),
        (_, 0) => check_model(&RandomModel::<13>::new(&recipe), seed, launched),
        (0, _) => check_model(&RandomModel::<0, Inline>::new(&recipe), seed, launched),
        (..) => check_model(&RandomModel::<13, Inline>::new(&recipe), seed, launched),
    }
}

fn check_model<const WORDS: usize, O>(model: &RandomModel<WORDS, O>, seed: u64, launched: bool) -> Result<(), String>
where
    RandomModel<WORDS, O>: Model + Clone,
{
    let (mut random, settings) = (Random::new(seed, LpId(0), 1), Settings::new(seed, 20.0));
    let pes = 1 + random.below(3);
    let copies = random.bernoulli(0.5).then(|| Copies::draw(&mut random));
    let mut parallel = Parallel { pes, processes: processes(seed), copies, cluster: None, ..Parallel::cluster(&mut random) };
    let apart = copies.is_some() || RandomModel::<WORDS, O>::wire().is_none_or(|wire| wire.proof().is_none());
    if launched && apart {
        // What needs common memory.
        parallel.barrier = Barrier::Tree;
        if parallel.gvt == GvtAlgorithm::Gsu {
            parallel.gvt = GvtAlgorithm::Asynchronous;
        }
    }
    if launched && random.bernoulli(0.4) {
        (parallel.gvt, parallel.barrier) = (GvtAlgorithm::Synchronous, Barrier::AllReduce);
    }
    let pending = if random.bernoulli(0.5) { warpline::Pending::Heap } else { warpline::Pending::Ladder };
    let configuration = Configuration { pending, parallel: Some(parallel), changes: None };
    let found = run(model.clone(), &settings, configuration).map_err(|error| format!("{configuration:?} failed: {error}"))?;
    compare_first(reference::run_with(model, &settings), &found)
        .map_err(|why| format!("{configuration:?} differs from the reference: {why}"))
}

/// A model whose last LP does something to the outside world.
struct Announcing;

impl Model for Announcing {
    type State = ();
    type Event = u8;

    fn wire() -> Option<WireFormat<u8>> {
        Some(WireFormat::portable())
    }

    fn lps(&self) -> u32 {
        4
    }

    fn init(&self, lp: &mut Init<Self>) {
        lp.send(lp.id(), 1.0, 0);
    }

    fn handle(&self, (): &mut (), _: &u8, lp: &mut Context<Self>) {
        if lp.id() == LpId(3) {
            lp.when_settled(|| println!("settled"));
        }
        lp.send(lp.id(), 1.0, 0);
    }
}

/// What a process other than the first cannot do is refused, and the first says so.
fn check_acts() -> Result<(), String> {
    match Simulation::new(Announcing).end(50.0).processes(2).run() {
        Err(Error::Process { lost, .. }) if lost.number == 1 && lost.why.contains("when_settled") => Ok(()),
        other => Err(format!("{:?}", other.map(|run| run.record.digest))),
    }
}
