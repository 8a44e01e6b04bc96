//! One run, or several that differ in the seed, of a model that is not known yet.

use super::sensitivity;
use super::story::Story;
use crate::failure::Failure;
use crate::models::catalogue::Visitor;
use crate::output::progress::ProgressDisplay;
use crate::output::report_directory::prepare;
use crate::output::{self, format};
use crate::process::signals::Signals;
use crate::settings::Settings;
use warpline_record::RunRecord;
use warpline_run::{Configured, LongEvent, LpChoice, Model, Records, Simulation, TraceSummary};

/// How many LPs the charts of a report show.
const CHARTED: u32 = 16;

/// A run whose model is not known yet.
pub(super) struct RunModel<'a> {
    pub(super) settings: &'a Settings,
    pub(super) quiet: bool,
    /// Whether what followed LPs tell is printed.
    pub(super) tells: bool,
    pub(super) signals: &'a Signals,
}

/// A run with results.
#[derive(Debug)]
pub(super) struct FinishedRun {
    pub(super) record: RunRecord,
    /// The names of the model's tables.
    pub(super) tables: Vec<String>,
    /// Why the files with rows are incomplete, if they are.
    pub(super) incomplete: Option<Failure>,
    pub(super) trace: Option<TraceSummary>,
}

impl Visitor for RunModel<'_> {
    type Output = Result<FinishedRun, Failure>;

    fn visit<M: Model>(self, model: Configured<M>) -> Self::Output {
        let Settings { simulation: settings, command } = self.settings;
        let refusal =
            command.sensitivity().then(|| sensitivity::refusal(settings, command.replications()));
        if let Some(why) = refusal.flatten() {
            return Err(Failure::wrong_use(why));
        }
        let simulation =
            Simulation::of(&model)?.settings(settings.clone()).stop_with(&self.signals.switch);
        if let Some(directory) = &command.report {
            prepare(directory)?;
        }
        let mut display = ProgressDisplay::new(model.time_unit(), self.quiet);
        let mut show = |progress: &_| display.show(progress);
        let story = Story::default();
        let simulation = match settings.follow {
            Some(_) => simulation.on_told(story.hearer(model.time_unit())),
            None => simulation.settings(with_charts(settings, command.report.is_some())),
        };
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
        let told = story.told();
        // It is told of a run that failed, too.
        if self.tells {
            output::print(&told.concat())?;
        }
        let mut finished = outcome.map_err(|error| self.signals.failed(error))?;
        if command.sensitivity() {
            let repeat = |settings: warpline_run::Settings| {
                let run = Simulation::of(&model)?
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

/// The settings of a run with a report, whose charts show some LPs.
fn with_charts(settings: &warpline_run::Settings, report: bool) -> warpline_run::Settings {
    let mut settings = settings.clone();
    settings.follow = report.then(|| LpChoice::first(CHARTED));
    settings
}

/// The warning about an event that takes long.
fn long_event(long: &LongEvent, limit: f64) -> String {
    format!(
        "warning: {long}; after {} it counts as a failure (--event-limit)",
        format::duration(limit)
    )
}

#[cfg(test)]
#[path = "one_run_tests.rs"]
mod tests;
