//! `warpline compare`: the sequential engine and others in turn, each run in a process of its own.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::arguments::Request;
use super::catalogue::{Catalogue, Visitor};
use super::comparison::{Comparison, EngineRuns};
use super::failure::Failure;
use super::program::{Program, RUN, VERIFY};
use super::progress::RunCounter;
use super::run::{prepare, tell_notes, with_model};
use super::settings::{REPORT, RUNS, SYNC, Settings, THREADS, WITH, serves};
use super::{child, output};
use crate::record::RunRecord;
use crate::{Configure, Simulation, Synchronisation, provenance};

/// Compares engines and prints the outcome.
pub(crate) fn compare<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    // A refusal here names its place in the scenario.
    let suiting = with_model(program, request, Suiting(&settings.simulation))?;
    let others = others(request, &settings, suiting)?;
    let notes = tell_notes(program, request)?;
    let directory = settings.command.report.as_deref();
    directory.map_or(Ok(()), prepare)?;
    let started = Instant::now();
    let executable = std::env::current_exe();
    let executable = executable.map_err(|cause| Failure::failed(format!("cannot find the executable of this command: {cause}")))?;
    let times = settings.command.runs();
    let mut counter = RunCounter::new((1 + others.len() as u64) * u64::from(times), request.quiet);
    let engines = in_turn(&others, times, |run, engine| {
        let mut command = command(&executable, request, engine);
        child::run(&mut command, || counter.show(run, engine.name()))
    });
    counter.finish();
    let comparison = Comparison::of(engines?, program.line(VERIFY, &request.model));
    let mut failed = comparison.failure();
    let mut figures = comparison.json(&notes, failed.as_ref());
    let report = directory.map(|directory| {
        let warning = failed.as_ref().map(|failure| failure.message.clone());
        let study = comparison.study(figures.clone(), warning, provenance::of(started, 0));
        warpline_report::write_study(directory, &study).map_err(Failure::from)
    });
    // What was found is printed whatever happens to the report.
    let mut text = comparison.text();
    match report.transpose() {
        Ok(None) => {}
        Ok(Some(page)) => {
            text += &format!("report: {}\n", page.display());
            figures["report"] = json!(page.display().to_string());
        }
        Err(cause) => {
            failed = failed.or(Some(cause));
            figures = comparison.json(&notes, failed.as_ref());
        }
    }
    if request.json {
        // The failure is part of the one object, so the caller prints no other.
        output::print_json(&figures)?;
    } else {
        output::print(&text)?;
    }
    failed.map_or(Ok(()), |failure| Err(Failure { printed: true, ..failure }))
}

/// Which engines suit a model; errors in its parameters are left to the first run.
struct Suiting<'a>(&'a crate::Settings);

impl Visitor for Suiting<'_> {
    type Output = Vec<Synchronisation>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Vec<Synchronisation> {
        let simulation = Simulation::<M>::configured(&parameters).map(|simulation| simulation.settings(self.0.clone()));
        let (delay, waiting) = match &simulation {
            Ok(simulation) => (simulation.least_delay().unwrap_or_default(), simulation.conservative_count().unwrap_or_default()),
            Err(_) => Default::default(),
        };
        suiting(delay > 0.0, waiting > 0)
    }
}

/// The engines that suit a model with or without lookahead between PEs, and with or without conservative LPs.
fn suiting(has_lookahead: bool, has_conservative: bool) -> Vec<Synchronisation> {
    let suits = |engine: &Synchronisation| match engine {
        Synchronisation::Sequential => true,
        // It is one of the others at any time.
        Synchronisation::Auto => false,
        Synchronisation::Conservative => has_lookahead,
        Synchronisation::Optimistic => !has_conservative,
        Synchronisation::Mixed => has_conservative,
    };
    Synchronisation::ALL.iter().copied().filter(suits).collect()
}

/// The engines to compare with the sequential one: those of `--with`, or the one of `--sync`, or all that are suiting.
fn others(request: &Request, settings: &Settings, suiting: Vec<Synchronisation>) -> Result<Vec<Synchronisation>, Failure> {
    let (name, chosen) = match (&settings.command.with, settings.simulation.sync) {
        (Some(with), _) => (WITH, with.0.clone()),
        (None, Some(sync)) => (SYNC, vec![sync]),
        (None, None) => (WITH, suiting),
    };
    let others: Vec<_> = chosen.into_iter().filter(|engine| *engine != Synchronisation::Sequential).collect();
    if !others.is_empty() {
        return Ok(others);
    }
    let place = request.settings.iter().rev().find(|given| given.name == name).and_then(|given| given.place.as_deref());
    let message = format!(
        "there is nothing to compare: `{name}` is `sequential`, the engine that others are compared with; \
         leave it out, or give --with optimistic"
    );
    Err(Failure::wrong_use(message).at(place))
}

/// Runs the sequential engine and the others `times` times, in turn; `run` gets the number of the run, counted from 0 over all engines. An
/// engine that fails is left out from then on.
///
/// # Errors
/// If the sequential engine fails, as nothing is left to compare with.
fn in_turn(
    others: &[Synchronisation],
    times: u32,
    mut run: impl FnMut(u64, Synchronisation) -> Result<RunRecord, Failure>,
) -> Result<Vec<EngineRuns>, Failure> {
    let all = [&[Synchronisation::Sequential], others].concat();
    let mut engines: Vec<EngineRuns> = all.into_iter().map(EngineRuns::new).collect();
    let mut turn = 0;
    for _ in 0..times {
        for engine in engines.iter_mut().filter(|engine| engine.failure.is_none()) {
            match run(turn, engine.sync) {
                Ok(record) => engine.runs.push(record),
                Err(failure) if engine.sync == Synchronisation::Sequential => return Err(with_turn(failure, turn)),
                Err(failure) => engine.failure = Some(failure.message),
            }
            turn += 1;
        }
    }
    Ok(engines)
}

/// A failure of the sequential engine, with the run in which it happened, except for a usage error.
fn with_turn(failure: Failure, turn: u64) -> Failure {
    if failure.code == Failure::USAGE_ERROR {
        return failure;
    }
    Failure { message: format!("{}\n  in run {}, which was sequential", failure.message, turn + 1), ..failure }
}

/// The command line of one run.
fn command(program: &Path, request: &Request, engine: Synchronisation) -> Command {
    let mut command = Command::new(program);
    command.args([RUN, request.model.as_str()]);
    let sequential = engine == Synchronisation::Sequential;
    // An engine gets only settings that serve it. The sequential one has one thread, whatever the others are given.
    let left_out = |name: &str| [REPORT, RUNS, SYNC, WITH].contains(&name) || sequential && name == THREADS || !serves(name, engine);
    let settings = request.settings.iter().filter(|given| !left_out(&given.name));
    command.args(settings.chain(&request.parameters).map(|given| format!("--{}={}", given.name, given.text)));
    command.args(["--sync", engine.name(), "--json", "--quiet"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::sample;
    use crate::command::settings::GivenSetting;

    const OPTIMISTIC: [Synchronisation; 1] = [Synchronisation::Optimistic];

    fn given(name: &str, text: &str) -> GivenSetting {
        GivenSetting { name: name.into(), text: text.into(), place: Some("a.toml:2".into()) }
    }

    fn request(settings: &[GivenSetting]) -> Request {
        let parameters = vec![given("arrival-rate", "-0.5")];
        Request { model: "mm1".into(), settings: settings.to_vec(), parameters, json: false, quiet: true }
    }

    fn record(engine: Synchronisation, rate: f64) -> RunRecord {
        if engine == Synchronisation::Sequential { sample::sequential(rate) } else { sample::optimistic(rate) }
    }

    #[test]
    fn a_child_gets_all_but_what_concerns_the_comparison() {
        let settings = [("runs", "5"), ("sync", "optimistic"), ("end", "7"), ("with", "optimistic"), ("threads", "2")];
        let settings = settings.into_iter().chain([("conservative", "windows"), ("report", "out")]).collect::<Vec<_>>();
        let request = request(&settings.into_iter().map(|(name, text)| given(name, text)).collect::<Vec<_>>());
        let command = command(Path::new("warpline"), &request, Synchronisation::Sequential);
        let line: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(line.join(" "), "run mm1 --end=7 --arrival-rate=-0.5 --sync sequential --json --quiet");
        let command = super::command(Path::new("warpline"), &request, Synchronisation::Optimistic);
        let line: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(line.join(" "), "run mm1 --end=7 --threads=2 --arrival-rate=-0.5 --sync optimistic --json --quiet");
        let command = super::command(Path::new("warpline"), &request, Synchronisation::Conservative);
        let line: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        let expected = "run mm1 --end=7 --threads=2 --conservative=windows --arrival-rate=-0.5 --sync conservative --json --quiet";
        assert_eq!(line.join(" "), expected);
    }

    #[test]
    fn engines_take_turns() {
        // Two others, as if there were a third engine.
        let others = [Synchronisation::Optimistic; 2];
        let mut turns = Vec::new();
        let engines = in_turn(&others, 2, |turn, engine| {
            turns.push(format!("{turn} {}", engine.name()));
            Ok(record(engine, turn as f64))
        });
        assert_eq!(turns, ["0 sequential", "1 optimistic", "2 optimistic", "3 sequential", "4 optimistic", "5 optimistic"]);
        let rates = |engine: &EngineRuns| engine.runs.iter().map(|run| run.event_rate).collect::<Vec<_>>();
        assert_eq!(engines.unwrap().iter().map(rates).collect::<Vec<_>>(), [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]);
    }

    #[test]
    fn an_engine_that_fails_is_left_out_and_the_others_go_on() {
        let others = [Synchronisation::Optimistic; 2];
        let mut turns = Vec::new();
        let engines = in_turn(&others, 3, |turn, engine| {
            turns.push(turn);
            if turn == 4 { Err(Failure::failed("oh no")) } else { Ok(record(engine, turn as f64)) }
        });
        let engines = engines.unwrap();
        assert_eq!(turns, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(engines.iter().map(|engine| engine.runs.len()).collect::<Vec<_>>(), [3, 1, 3]);
        assert_eq!(engines.iter().map(|engine| engine.failure.as_deref()).collect::<Vec<_>>(), [None, Some("oh no"), None]);
        assert_eq!(engines[2].runs[2].event_rate, 7.0);
    }

    #[test]
    fn a_failure_of_the_sequential_engine_ends_it() {
        let fails = |failure: Failure| {
            let outcome = in_turn(&OPTIMISTIC, 2, |turn, engine| if turn == 2 { Err(failure.clone()) } else { Ok(record(engine, 1.0)) });
            outcome.err().unwrap()
        };
        let failure = fails(Failure::failed("oh no"));
        assert_eq!((failure.message.as_str(), failure.code), ("oh no\n  in run 3, which was sequential", Failure::FAILED));
        assert_eq!(fails(Failure::wrong_use("no such file")), Failure::wrong_use("no such file"));
    }

    #[test]
    fn the_sequential_engine_is_not_compared_with_itself() {
        let engines = |given: &[GivenSetting]| others(&request(given), &Settings::read(given).unwrap(), suiting(true, false));
        assert_eq!(engines(&[]), Ok(vec![Synchronisation::Conservative, Synchronisation::Optimistic]));
        let of = |lookahead, conservative| others(&request(&[]), &Settings::read(&[]).unwrap(), suiting(lookahead, conservative));
        assert_eq!(of(false, false), Ok(OPTIMISTIC.to_vec()), "without lookahead");
        assert_eq!(of(false, true), Ok(vec![Synchronisation::Mixed]), "with LPs that must not go ahead");
        assert_eq!(engines(&[given("sync", "optimistic"), given("threads", "1")]), Ok(OPTIMISTIC.to_vec()));
        assert_eq!(engines(&[given("with", "sequential,optimistic")]), Ok(OPTIMISTIC.to_vec()));
        assert_eq!(engines(&[given("with", "optimistic"), given("sync", "sequential")]), Ok(OPTIMISTIC.to_vec()));
        for name in ["sync", "with"] {
            let failure = engines(&[given(name, "sequential")]).unwrap_err();
            assert_eq!(failure.code, Failure::USAGE_ERROR);
            assert!(failure.message.starts_with(&format!("a.toml:2: there is nothing to compare: `{name}` is")), "{}", failure.message);
        }
    }
}
