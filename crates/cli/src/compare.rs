//! `warpline compare`: the sequential engine and another in turn, each run in a process of its own.

use std::path::Path;
use std::process::Command;

use warpline::record::RunRecord;
use warpline::{Configure, Synchronisation};
use warpline_models::catalogue::Visitor;

use crate::arguments::Request;
use crate::comparison::Comparison;
use crate::failure::Failure;
use crate::progress::RunTeller;
use crate::run::with_model;
use crate::settings::{RUNS, SYNC, Settings};
use crate::{child, output};

/// Compares engines and prints what came of it.
pub(crate) fn compare(request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    // What is refused here is said to be at its place in a scenario.
    with_model(request, Known)?;
    let engines = [Synchronisation::Sequential, other(request, &settings)?];
    let program = std::env::current_exe();
    let program = program.map_err(|cause| Failure::failed(format!("cannot find the file of this command, to run it: {cause}")))?;
    let times = settings.command.runs();
    let mut teller = RunTeller::new(2 * u64::from(times), request.quiet);
    let runs = in_turn(engines, times, |run, engine| {
        let mut command = command(&program, request, engine);
        child::run(&mut command, || teller.tell(run, engine.name()))
    });
    teller.finish();
    let comparison = Comparison::of(runs?);
    let failed = comparison.disagreement().map(Failure::failed);
    if request.json {
        // The failure is a part of the one object, so that the caller prints no other.
        output::print_json(&comparison.json(failed.as_ref()))?;
    } else {
        output::print(&comparison.text())?;
    }
    failed.map_or(Ok(()), |failure| Err(Failure { printed: true, ..failure }))
}

/// Looks only whether a model takes its parameters.
struct Known;

impl Visitor for Known {
    type Output = ();

    fn visit<M: Configure + 'static>(self, _: M::Parameters) {}
}

/// The engine to hold against the sequential one.
fn other(request: &Request, settings: &Settings) -> Result<Synchronisation, Failure> {
    match settings.simulation.sync {
        Some(Synchronisation::Sequential) => {
            let place = request.settings.iter().rev().find(|given| given.name == SYNC).and_then(|given| given.place.as_deref());
            let message = "there is nothing to compare: `sync` is `sequential`, the engine that others are compared with; \
                           leave it out, or give --sync optimistic";
            Err(Failure::wrong_use(message).at(place))
        }
        chosen => Ok(chosen.unwrap_or(Synchronisation::Optimistic)),
    }
}

/// Runs every engine so many times, in turn; `run` is told which run of all it is, from 0.
fn in_turn(
    engines: [Synchronisation; 2],
    times: u32,
    mut run: impl FnMut(u64, Synchronisation) -> Result<RunRecord, Failure>,
) -> Result<[Vec<RunRecord>; 2], Failure> {
    let mut runs = [Vec::new(), Vec::new()];
    let turns = (0..times).flat_map(|_| [0, 1]);
    for (turn, which) in (0..).zip(turns) {
        let engine = engines[which];
        let record = run(turn, engine).map_err(|failure| told(failure, engine, turn))?;
        runs[which].push(record);
    }
    Ok(runs)
}

/// A failure with the run that it happened in, which does not matter to wrong use.
fn told(failure: Failure, engine: Synchronisation, turn: u64) -> Failure {
    if failure.code == Failure::WRONG_USE {
        return failure;
    }
    Failure { message: format!("{}\n  in run {}, which was {}", failure.message, turn + 1, engine.name()), ..failure }
}

/// The command line of one run.
fn command(program: &Path, request: &Request, engine: Synchronisation) -> Command {
    let mut command = Command::new(program);
    command.args(["run", request.model.as_str()]);
    let settings = request.settings.iter().filter(|given| given.name != RUNS && given.name != SYNC);
    command.args(settings.chain(&request.parameters).map(|given| format!("--{}={}", given.name, given.text)));
    command.args(["--sync", engine.name(), "--json", "--quiet"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::settings::Given;

    fn given(name: &str, text: &str) -> Given {
        Given { name: name.into(), text: text.into(), place: Some("a.toml:2".into()) }
    }

    fn request(settings: &[Given]) -> Request {
        let parameters = vec![given("arrival-rate", "-0.5")];
        Request { model: "mm1".into(), settings: settings.to_vec(), parameters, json: false, quiet: true }
    }

    #[test]
    fn a_child_gets_all_but_what_concerns_the_comparison() {
        let request = request(&[given("runs", "5"), given("sync", "optimistic"), given("end", "7"), given("threads", "2")]);
        let command = command(Path::new("warpline"), &request, Synchronisation::Sequential);
        let line: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(line.join(" "), "run mm1 --end=7 --threads=2 --arrival-rate=-0.5 --sync sequential --json --quiet");
    }

    #[test]
    fn engines_take_turns() {
        let engines = [Synchronisation::Sequential, Synchronisation::Optimistic];
        let mut turns = Vec::new();
        let runs = in_turn(engines, 2, |turn, engine| {
            turns.push(format!("{turn} {}", engine.name()));
            Ok(if engine == Synchronisation::Sequential { sample::sequential(turn as f64) } else { sample::optimistic(turn as f64) })
        });
        assert_eq!(turns, ["0 sequential", "1 optimistic", "2 sequential", "3 optimistic"]);
        let rates = runs.unwrap().map(|runs| runs.iter().map(|run| run.event_rate).collect::<Vec<_>>());
        assert_eq!(rates, [[0.0, 2.0], [1.0, 3.0]]);
    }

    #[test]
    fn the_first_failure_ends_it() {
        let engines = [Synchronisation::Sequential, Synchronisation::Optimistic];
        let fails = |failure: Failure| {
            in_turn(engines, 2, |turn, _| if turn == 1 { Err(failure.clone()) } else { Ok(sample::sequential(1.0)) }).unwrap_err()
        };
        let failure = fails(Failure::failed("oh no"));
        assert_eq!((failure.message.as_str(), failure.code), ("oh no\n  in run 2, which was optimistic", Failure::FAILED));
        assert_eq!(fails(Failure::wrong_use("no such file")), Failure::wrong_use("no such file"));
    }

    #[test]
    fn the_sequential_engine_is_not_compared_with_itself() {
        let engine = |given: &[Given]| other(&request(given), &Settings::read(given).unwrap());
        assert_eq!(engine(&[]), Ok(Synchronisation::Optimistic));
        assert_eq!(engine(&[given("sync", "optimistic"), given("threads", "1")]), Ok(Synchronisation::Optimistic));
        let failure = engine(&[given("sync", "sequential")]).unwrap_err();
        assert_eq!(failure.code, Failure::WRONG_USE);
        assert!(failure.message.starts_with("a.toml:2: there is nothing to compare"), "{}", failure.message);
    }
}
