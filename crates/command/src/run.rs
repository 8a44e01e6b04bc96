//! `warpline run`: one run, from settings to results.

use std::fs;
use std::path::Path;

use super::arguments::Request;
use super::catalogue::{Catalogue, CatalogueError, Visitor};
use super::failure::Failure;
use super::format;
use super::output;
use super::presets::PRESET;
use super::program::Program;
use super::progress::ProgressDisplay;
use super::settings::{GivenSetting, Settings};
use super::signals::Signals;
use super::summary::Summary;
use warpline_record::RunRecord;
use warpline_run::{Configure, LongEvent, Records, Simulation, TraceSummary};

/// Runs a model and prints the outcome.
pub(crate) fn run<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let mut notes = tell_notes(program, request, &settings.simulation)?;
    let signals = Signals::listen();
    let job = RunModel { settings: &settings, quiet: request.quiet, signals: &signals };
    let FinishedRun { record, tables, incomplete, trace } = with_model(program, request, job)??;
    tell(&mut notes, unused_threads(&settings.simulation, &record));
    // The results are printed even if rows or report fail.
    let report = settings.command.report.as_deref().map(|directory| warpline_report::write(directory, &record).map_err(Failure::from));
    let (report, failed) = match report.transpose() {
        Ok(report) => (report, incomplete),
        Err(Failure { message, .. }) => (None, Some(Failure::failed(message))),
    };
    let failed = failed.or_else(|| signals.failure(&record));
    let summary = Summary {
        record: &record,
        notes: &notes,
        tables: &tables,
        directory: settings.command.report.as_deref(),
        report: report.as_deref(),
        trace: trace.as_ref(),
    };
    if request.json {
        // The failure is part of the one object, so the caller prints no other.
        output::print_json(&summary.json(failed.as_ref()))?;
    } else {
        output::print(&summary.text())?;
    }
    failed.map_or(Ok(()), |failure| Err(Failure { printed: true, ..failure }))
}

/// Passes the model of a request to a visitor; a refused value is reported with its place in a
/// scenario.
pub(crate) fn with_model<C: Catalogue, V: Visitor>(program: &Program<C>, request: &Request, visitor: V) -> Result<V::Output, Failure> {
    let given: Vec<(String, String)> = request.parameters.iter().map(|given| (given.name.clone(), given.text.clone())).collect();
    program.models.with_model(&request.model, &given, visitor).map_err(|error| {
        let place = place(&error, &request.parameters);
        let show = program.line("models show", &request.model);
        Failure::wrong_use(format!("{error}; `{show}` lists all parameters")).at(place.as_deref())
    })
}

/// Prints and returns what the model points out about the given parameters, and which settings have
/// no effect.
pub(crate) fn tell_notes<C: Catalogue>(
    program: &Program<C>,
    request: &Request,
    settings: &warpline_run::Settings,
) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    tell(&mut notes, with_model(program, request, ParameterNotes(&request.parameters))?);
    tell(&mut notes, idle_settings(settings, request));
    Ok(notes)
}

/// Prints notes, and adds them to those printed before.
fn tell(notes: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for note in more {
        output::remark(format_args!("note: {note}"));
        notes.push(note);
    }
}

/// The settings that were given, by the user and not by a preset, and have no effect.
fn idle_settings(settings: &warpline_run::Settings, request: &Request) -> Vec<String> {
    let is_typed = |given: &GivenSetting| !given.place.as_ref().is_some_and(|place| place.starts_with(PRESET));
    let typed = |name: &str| request.settings.iter().any(|given| given.name == name && is_typed(given));
    let idle = settings.without_effect().into_iter().filter(|(name, _)| typed(name));
    idle.map(|(name, why)| format!("`{name}` has no effect: {why}")).collect()
}

/// A note on threads that were asked for and have no PE.
fn unused_threads(settings: &warpline_run::Settings, record: &RunRecord) -> Option<String> {
    let threads = settings.threads?;
    let parallel = record.parallel.as_ref()?;
    let wanted = u64::from(threads) * u64::from(settings.processes());
    let pes = parallel.pes.len() as u64;
    let lps = record.engine.get("lps")?.as_u64()?;
    (record.engines.is_empty() && pes < wanted && pes == lps)
        .then(|| format!("{pes} of {wanted} threads have a PE, as a PE has at least one LP and the model has {lps}"))
}

/// Asks a model for its notes on these parameters.
struct ParameterNotes<'a>(&'a [GivenSetting]);

impl Visitor for ParameterNotes<'_> {
    type Output = Vec<String>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Vec<String> {
        let about = |(name, text): (&str, String)| {
            let given = self.0.iter().rev().find(|given| given.name == name)?;
            let place = given.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
            Some(format!("{place}model `{}`: `{name}` {text}", M::NAME))
        };
        M::notes(&parameters).into_iter().filter_map(about).collect()
    }
}

fn place(error: &CatalogueError, given: &[GivenSetting]) -> Option<String> {
    use warpline_run::ParameterError::{Range, Unknown, Value};
    let CatalogueError::Parameter { cause: Unknown { name, .. } | Value { name, .. } | Range { name, .. }, .. } = error else {
        return None;
    };
    given.iter().find(|given| given.name == *name).and_then(|given| given.place.clone())
}

/// A run whose model is not known yet.
struct RunModel<'a> {
    settings: &'a Settings,
    quiet: bool,
    signals: &'a Signals,
}

/// A run with results.
#[derive(Debug)]
struct FinishedRun {
    record: RunRecord,
    /// The names of the model's tables.
    tables: Vec<String>,
    /// Why the files of rows are incomplete, if they are.
    incomplete: Option<Failure>,
    trace: Option<TraceSummary>,
}

impl Visitor for RunModel<'_> {
    type Output = Result<FinishedRun, Failure>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Self::Output {
        let Settings { simulation: settings, command } = self.settings;
        let simulation = Simulation::<M>::configured(&parameters)?.settings(settings.clone()).stop_with(&self.signals.switch);
        if let Some(directory) = &command.report {
            prepare(directory)?;
        }
        let mut display = ProgressDisplay::new(M::TIME_UNIT, self.quiet);
        let mut show = |progress: &_| display.show(progress);
        let limit = settings.event_limit();
        let mut tell_long_event = |long: &LongEvent| output::notify(long_event(long, limit));
        let simulation = simulation.on_progress(&mut show).on_long_event(&mut tell_long_event);
        let outcome = match command.replications() {
            1 => simulation.records(command.report.clone().map_or(Records::Drop, Records::Write)).run().map(|run| {
                let tables = run.statistics.tables().iter().map(|table| table.name.clone()).collect();
                let incomplete = run.incomplete.map(|error| Failure::failed(error.to_string()));
                FinishedRun { record: run.record, tables, incomplete, trace: run.trace }
            }),
            runs => simulation.replicate(runs).map(|all| {
                let (tables, incomplete, trace) = Default::default();
                FinishedRun { record: all.record, tables, incomplete, trace }
            }),
        };
        display.finish();
        Ok(outcome?)
    }
}

/// The warning about an event that takes long.
fn long_event(long: &LongEvent, limit: f64) -> String {
    format!("warning: {long}; after {} it counts as a failure (--event-limit)", format::duration(limit))
}

/// Creates the directory of a report and tries to write there, before any time is spent.
pub(crate) fn prepare(directory: &Path) -> Result<(), Failure> {
    let probe = directory.join(format!(".warpline.{}.tmp", std::process::id()));
    let tried = fs::create_dir_all(directory).and_then(|()| fs::write(&probe, [])).and_then(|()| fs::remove_file(&probe));
    tried.map_err(|cause| {
        let directory = directory.display();
        Failure::wrong_use(format!("cannot write a report to {directory}: {cause}; name a directory that you may write to"))
    })
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
