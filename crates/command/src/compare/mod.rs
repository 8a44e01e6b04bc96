//! `warpline compare`: the sequential engine and others in turn, each run in a process of its own.

mod comparison;
mod engine_runs;
mod report;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use self::comparison::Comparison;
use self::engine_runs::{Contender, EngineRuns};
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor};
use crate::models::program::Program;
use crate::options::notes::tell_notes;
use crate::options::request::{Request, with_model};
use crate::output::Printout;
use crate::output::progress::RunCounter;
use crate::output::report_directory::prepare;
use crate::process::child;
use crate::process::ways::{Launcher, Placement, Way};
use crate::settings::{
    Engines, PROCESSES, REPORT, RUNS, SYNC, Settings, THREADS, WITH, ZERO_COPY, serves,
};
use crate::verbs::{RUN, VERIFY};
use warpline_record::RunRecord;
use warpline_run::{Configured, Model, Simulation, Synchronisation, provenance};

/// Compares engines and prints the outcome.
pub(crate) fn compare<C: Catalogue>(
    program: &Program<C>,
    request: &Request,
) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    // A refusal here names its place in the scenario.
    let suiting = with_model(program, request, Suiting(&settings.simulation))?;
    let others = others(request, &settings, suiting)?;
    let notes = tell_notes(program, request, &settings.simulation)?;
    let directory = settings.command.report.as_deref();
    directory.map_or(Ok(()), prepare)?;
    let started = Instant::now();
    let executable = child::executable()?;
    let times = settings.command.runs();
    let mut counter = RunCounter::new((1 + others.len() as u64) * u64::from(times), request.quiet);
    let launcher = Launcher::find();
    let engines = in_turn(&others, times, |run, engine| {
        let mut command = command(&executable, request, engine, &launcher)?;
        child::run(&mut command, || counter.show(run, &engine.name()))
    });
    counter.finish();
    let comparison = Comparison::of(engines?, program.line(VERIFY, &request.model));
    let failed = comparison.failure();
    let object = comparison.json(&notes, failed.as_ref());
    let mut printout = Printout { object, text: comparison.text(), failed };
    if let Some(directory) = directory {
        let warning = printout.failed.as_ref().map(|failure| failure.message.clone());
        let figures = printout.object.clone();
        let study = comparison.study(figures, warning, provenance::of(started, 0));
        printout.add_report(warpline_report::write_study(directory, &study), "");
    }
    printout.print(request.json)
}

/// Finds which engines suit a model. Errors in its parameters are left to the first run.
struct Suiting<'a>(&'a warpline_run::Settings);

impl Visitor for Suiting<'_> {
    type Output = Vec<Synchronisation>;

    fn visit<M: Model>(self, model: Configured<M>) -> Vec<Synchronisation> {
        let Ok(simulation) = Simulation::of(&model) else {
            return suiting(false, false);
        };
        let simulation = simulation.settings(self.0.clone());
        let least_delay = simulation.least_delay().unwrap_or_default();
        let conservative = simulation.conservative_count().unwrap_or_default();
        suiting(least_delay > 0.0, conservative > 0)
    }
}

/// The engines that suit a model with or without lookahead between PEs, and with or without
/// conservative LPs.
fn suiting(has_lookahead: bool, has_conservative: bool) -> Vec<Synchronisation> {
    let suits = |engine: &Synchronisation| match engine {
        Synchronisation::Sequential => true,
        Synchronisation::Conservative => has_lookahead,
        Synchronisation::Optimistic => !has_conservative,
        Synchronisation::Mixed => has_conservative,
        // `auto` runs one of the others at any time.
        _ => false,
    };
    Synchronisation::ALL.iter().copied().filter(suits).collect()
}

/// The engines to compare with the sequential one: those of `--with`, or the one of `--sync`, or
/// all that suit the model; each in every way that `--with` names.
fn others(
    request: &Request,
    settings: &Settings,
    suiting: Vec<Synchronisation>,
) -> Result<Vec<Contender>, Failure> {
    let Engines { engines, ways } = settings.command.with.clone().unwrap_or_default();
    let (name, chosen) = match settings.simulation.sync {
        _ if !engines.is_empty() => (WITH, engines),
        Some(sync) => (SYNC, vec![sync]),
        None => (WITH, suiting),
    };
    let placements = placements(&settings.simulation, &ways);
    let contenders = |sync| placements.iter().map(move |&placement| Contender { sync, placement });
    let others: Vec<_> = chosen
        .into_iter()
        .filter(|engine| *engine != Synchronisation::Sequential)
        .flat_map(contenders)
        .collect();
    if !others.is_empty() {
        return Ok(others);
    }
    let place = request
        .settings
        .iter()
        .rev()
        .find(|given| given.name == name)
        .and_then(|given| given.place.as_deref());
    let message = format!(
        "there is nothing to compare: `{name}` is `sequential`, the engine that others are \
         compared with; leave it out, or give --with optimistic"
    );
    Err(Failure::wrong_use(message).at(place))
}

/// Where the PEs of each engine are; every way has the same number of PEs. `None` leaves it to the
/// settings of the run.
fn placements(settings: &warpline_run::Settings, ways: &[Way]) -> Vec<Option<Placement>> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let given = settings.processes.filter(|processes| *processes > 1);
    let (processes, threads) = match given {
        Some(processes) => (processes, settings.threads.unwrap_or((cores / processes).max(1))),
        None => (settings.threads.unwrap_or(cores).max(2), 1),
    };
    let placement = |&way: &Way| match (way, given) {
        (Way::Threads, None) => None,
        (Way::Threads, Some(_)) => Some(Placement::threads(processes * threads)),
        _ => Some(Placement { way, processes, threads }),
    };
    match ways {
        [] if given.is_none() => vec![None],
        [] => vec![placement(&Way::Processes)],
        ways => ways.iter().map(placement).collect(),
    }
}

/// Runs the sequential engine and the others in turn, each `times` times. `run` gets the number of
/// the run, counted from 0 over all engines. An engine that fails has no further turns.
///
/// # Errors
/// If the sequential engine fails, as nothing is left to compare with.
fn in_turn(
    others: &[Contender],
    times: u32,
    mut run: impl FnMut(u64, &Contender) -> Result<RunRecord, Failure>,
) -> Result<Vec<EngineRuns>, Failure> {
    let all = [&[Contender::of(Synchronisation::Sequential)], others].concat();
    let mut engines: Vec<EngineRuns> = all.into_iter().map(EngineRuns::new).collect();
    let mut turn = 0;
    for _ in 0..times {
        for engine in engines.iter_mut().filter(|engine| engine.failure.is_none()) {
            match run(turn, &engine.contender) {
                Ok(record) => engine.runs.push(record),
                Err(failure) if engine.is_sequential() => return Err(with_turn(failure, turn)),
                Err(failure) => engine.failure = Some(failure.message),
            }
            turn += 1;
        }
    }
    Ok(engines)
}

/// A failure of the sequential engine with the number of its run, unless it is a usage error.
fn with_turn(failure: Failure, turn: u64) -> Failure {
    if failure.code == Failure::USAGE_ERROR {
        return failure;
    }
    Failure {
        message: format!("{}\n  in run {}, which was sequential", failure.message, turn + 1),
        ..failure
    }
}

/// The command line of one run.
///
/// # Errors
/// If it needs a launcher, and there is none.
fn command(
    program: &Path,
    request: &Request,
    Contender { sync, placement }: &Contender,
    launcher: &Result<Launcher, String>,
) -> Result<Command, Failure> {
    let mut command = match placement {
        None => Command::new(program),
        Some(placement) => placement.command(program, launcher).map_err(Failure::failed)?,
    };
    command.args([RUN, request.model.as_str()]);
    // The sequential engine has one thread, whatever the others are given.
    let placed = placement.is_some() || *sync == Synchronisation::Sequential;
    let copies = placement.is_some_and(|placement| placement.way == Way::MpiCopies);
    // An engine gets only settings that serve it.
    let left_out = |name: &str| {
        [REPORT, RUNS, SYNC, WITH].contains(&name)
            || placed && [THREADS, PROCESSES].contains(&name)
            || copies && name == ZERO_COPY
            || !serves(name, *sync)
    };
    let settings = request.settings.iter().filter(|given| !left_out(&given.name));
    command.args(
        settings.chain(&request.parameters).map(|given| format!("--{}={}", given.name, given.text)),
    );
    command.args(placement.iter().flat_map(Placement::arguments));
    command.args(["--sync", sync.name(), "--state-digest=yes", "--json", "--quiet"]);
    Ok(command)
}
