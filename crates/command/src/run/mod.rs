//! `warpline run`: one run, from settings to results.

pub(crate) mod engine;
mod modelled;
mod one_run;
mod results;
mod scaling;
mod sensitivity;
mod series;
mod speculation;
mod story;
mod summary;

use self::one_run::{FinishedRun, RunModel};
use self::summary::Summary;
use crate::failure::Failure;
use crate::models::catalogue::Catalogue;
use crate::models::program::Program;
use crate::options::notes::{tell, tell_notes};
use crate::options::request::{Request, with_model};
use crate::output;
use crate::process::signals::Signals;
use crate::settings::Settings;
use warpline_record::RunRecord;

/// Runs a model and prints the outcome.
pub(crate) fn run<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    if let Some(pes) = &settings.command.scaling {
        return scaling::scale(program, request, &settings, &pes.0);
    }
    let mut notes = tell_notes(program, request, &settings.simulation)?;
    let signals = Signals::listen();
    let job = RunModel {
        settings: &settings,
        quiet: request.quiet,
        tells: !request.json,
        signals: &signals,
    };
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
        follows: settings.simulation.follow.is_some(),
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
