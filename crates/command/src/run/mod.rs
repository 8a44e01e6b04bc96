//! `warpline run`: one run, from settings to results.

pub(crate) mod engine;
mod modelled;
mod results;
mod scaling;
mod sensitivity;
mod series;
mod speculation;
mod summary;
#[cfg(test)]
mod tests;

use self::summary::Summary;
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor};
use crate::models::program::Program;
use crate::options::notes::{tell, tell_notes};
use crate::options::request::{Request, with_model};
use crate::output::progress::ProgressDisplay;
use crate::output::report_directory::prepare;
use crate::output::{self, format};
use crate::process::signals::Signals;
use crate::settings::Settings;
use warpline_record::RunRecord;
use warpline_run::{Configure, LongEvent, Records, Simulation, TraceSummary};

/// Runs a model and prints the outcome.
pub(crate) fn run<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    if let Some(pes) = &settings.command.scaling {
        return scaling::scale(program, request, &settings, &pes.0);
    }
    let mut notes = tell_notes(program, request, &settings.simulation)?;
    let signals = Signals::listen();
    let job = RunModel { settings: &settings, quiet: request.quiet, signals: &signals };
    let FinishedRun { record, tables, incomplete, trace } = with_model(program, request, job)??;
    tell(&mut notes, unused_threads(&settings.simulation, &record));
    // The results are printed even if rows or report fail.
    let directory = settings.command.report.as_deref();
    let report = directory.map(|directory| warpline_report::write(directory, &record)).transpose();
    let failed = match &report {
        Ok(_) => incomplete,
        Err(error) => Some(Failure::failed(error.to_string())),
    };
    let failed = failed.or_else(|| signals.failure(&record));
    let report = report.ok().flatten();
    let summary = Summary {
        record: &record,
        notes: &notes,
        tables: &tables,
        directory,
        report: report.as_deref(),
        trace: trace.as_ref(),
    };
    if request.json {
        output::print_json(&summary.json(failed.as_ref()))?;
    } else {
        output::print(&summary.text())?;
    }
    failed.map_or(Ok(()), |failure| Err(failure.printed()))
}

/// A note if fewer threads have a PE than were asked for.
fn unused_threads(settings: &warpline_run::Settings, record: &RunRecord) -> Option<String> {
    let threads = settings.threads?;
    let parallel = record.parallel.as_ref()?;
    let wanted = u64::from(threads) * u64::from(settings.processes());
    let pes = parallel.pes.len() as u64;
    let lps = record.engine.get("lps")?.as_u64()?;
    (record.engines.is_empty() && pes < wanted && pes == lps).then(|| {
        format!(
            "{pes} of {wanted} threads have a PE, as a PE has at least one LP and the model has \
             {lps}"
        )
    })
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
    /// Why the files with rows are incomplete, if they are.
    incomplete: Option<Failure>,
    trace: Option<TraceSummary>,
}

impl Visitor for RunModel<'_> {
    type Output = Result<FinishedRun, Failure>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Self::Output {
        let Settings { simulation: settings, command } = self.settings;
        let refusal =
            command.sensitivity().then(|| sensitivity::refusal(settings, command.replications()));
        if let Some(why) = refusal.flatten() {
            return Err(Failure::wrong_use(why));
        }
        let simulation = Simulation::<M>::configured(&parameters)?
            .settings(settings.clone())
            .stop_with(&self.signals.switch);
        if let Some(directory) = &command.report {
            prepare(directory)?;
        }
        let mut display = ProgressDisplay::new(M::TIME_UNIT, self.quiet);
        let mut show = |progress: &_| display.show(progress);
        let limit = settings.event_limit();
        let mut tell_long_event = |long: &LongEvent| output::notify(long_event(long, limit));
        let simulation = simulation.on_progress(&mut show).on_long_event(&mut tell_long_event);
        let outcome = match command.replications() {
            1 => simulation
                .records(command.report.clone().map_or(Records::Drop, Records::Write))
                .run()
                .map(|run| {
                    let tables =
                        run.statistics.tables().iter().map(|table| table.name.clone()).collect();
                    let incomplete = run.incomplete.map(|error| Failure::failed(error.to_string()));
                    FinishedRun { record: run.record, tables, incomplete, trace: run.trace }
                }),
            runs => simulation.replicate(runs).map(|all| FinishedRun {
                record: all.record,
                tables: Vec::new(),
                incomplete: None,
                trace: None,
            }),
        };
        display.finish();
        let mut finished = outcome.map_err(|error| self.signals.failed(error))?;
        if command.sensitivity() {
            let repeat = |settings: warpline_run::Settings| {
                let run = Simulation::<M>::configured(&parameters)?
                    .settings(settings)
                    .stop_with(&self.signals.switch)
                    .run();
                run.map(|run| run.record).map_err(|error| self.signals.failed(error))
            };
            sensitivity::note(&mut finished.record, settings, self.quiet, repeat)?;
        }
        Ok(finished)
    }
}

/// The warning about an event that takes long.
fn long_event(long: &LongEvent, limit: f64) -> String {
    format!(
        "warning: {long}; after {} it counts as a failure (--event-limit)",
        format::duration(limit)
    )
}
