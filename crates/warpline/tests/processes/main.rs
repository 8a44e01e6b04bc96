//! Random models in several processes: one answer, whatever the processes do. Each case is a run of this program, which starts itself again for
//! the other processes.

use std::env::args;
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use warpline::base::random::Random;
use warpline::prelude::{Context, Init, Model, Observe, WireFormat};
use warpline::{Error, LpId, Simulation};
use warpline_testkit::matrix::{Configuration, Parallel, compare_first, run};
use warpline_testkit::random_model::Inline;
use warpline_testkit::{RandomModel, Recipe, Settings, cases, reference};

/// How many cases there are, unless a variable says otherwise.
const CASES: u32 = 150;
/// Many times what a case takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    if let [word, seed] = &arguments[..]
        && word == "case"
    {
        let checked = if seed == "acts" { check_acts() } else { check(seed.parse().expect("a seed")) };
        return match checked {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("case {seed}: {why}");
                ExitCode::FAILURE
            }
        };
    }
    if !cfg!(target_os = "linux") || cfg!(miri) || arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let wanted = cases(CASES);
    let all = std::iter::once("acts".to_owned()).chain((0..wanted).map(|seed| seed.to_string()));
    let failed = all.filter(|case| !passes(case)).count();
    println!("processes: {failed} of {} cases failed", wanted + 1);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a case in a program of its own.
fn passes(case: &str) -> bool {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let mut child = command.args(["case", case]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("a process");
    let since = Instant::now();
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

/// Runs a model that is drawn from the seed, by the reference and in several processes, in a way that is drawn as well.
fn check(seed: u64) -> Result<(), String> {
    let recipe = Recipe::from_seed(seed);
    match recipe.words() {
        0 => check_model(&RandomModel::<0, Inline>::new(&recipe), &recipe, seed),
        _ => check_model(&RandomModel::<13, Inline>::new(&recipe), &recipe, seed),
    }
}

fn check_model<const WORDS: usize>(model: &RandomModel<WORDS, Inline>, recipe: &Recipe, seed: u64) -> Result<(), String> {
    let (mut random, settings) = (Random::new(seed, LpId(0), 1), Settings::new(seed, 20.0));
    let processes = [2, 2, 3, 4][random.below(4) as usize].min(recipe.lps);
    let pes = 1 + random.below(3);
    let parallel = Parallel { pes, processes, cluster: None, ..Parallel::cluster(&mut random) };
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
