//! `warpline run --machine … --scaling …`: a model on several numbers of PEs of a modelled machine,
//! and what limits each.

mod curve;
mod report;
#[cfg(test)]
mod tests;

use std::time::Instant;

use self::curve::Curve;
use super::one_run::{FinishedRun, RunModel};
use crate::failure::Failure;
use crate::models::catalogue::Catalogue;
use crate::models::program::Program;
use crate::options::notes::tell_notes;
use crate::options::request::{Request, with_model};
use crate::output::report_directory::prepare;
use crate::output::{Printout, notify};
use crate::process::signals::Signals;
use crate::settings::{CommandSettings, PES, SCALING, Settings};
use warpline_record::RunRecord;
use warpline_run::provenance;

/// Runs a model on each of these numbers of PEs, and prints how it scales.
pub(super) fn scale<C: Catalogue>(
    program: &Program<C>,
    request: &Request,
    settings: &Settings,
    pes: &[u32],
) -> Result<(), Failure> {
    check(settings).map_err(|message| {
        let given = request.settings.iter().rev().find(|given| given.name == SCALING);
        Failure::wrong_use(message).at(given.and_then(|given| given.place.as_deref()))
    })?;
    let notes = tell_notes(program, request, &settings.simulation)?;
    let directory = settings.command.report.as_deref();
    directory.map_or(Ok(()), prepare)?;
    let started = Instant::now();
    let signals = Signals::listen();
    let (runs, stopped) = one_by_one(pes, |pes| {
        let of_run = with_pes(settings, pes)?;
        if !request.quiet {
            notify(format_args!("{pes} PEs …"));
        }
        let job =
            RunModel { settings: &of_run, quiet: request.quiet, tells: false, signals: &signals };
        let FinishedRun { record, .. } = with_model(program, request, job)??;
        let ended = signals.failure(&record);
        Ok((record, ended))
    })?;
    let curve = Curve::of(runs);
    let failed = curve.disagreement().map(Failure::failed).or(stopped);
    let mut printout =
        Printout { object: curve.json(&notes), text: curve.text(), failed: failed.clone() };
    if let Some(directory) = directory {
        let figures = printout.object.clone();
        let warning = failed.map(|failure| failure.message);
        let study = curve.study(figures, warning, provenance::of(started, 0));
        printout.add_report(warpline_report::write_study(directory, &study), "");
    }
    printout.print(request.json)
}

/// Checks that other settings leave room for several numbers of PEs.
fn check(settings: &Settings) -> Result<(), String> {
    let Settings { simulation, command } = settings;
    if simulation.machine.is_none() {
        return Err("`scaling` needs a machine: give --machine as well, such as --machine \
                    loggops-default"
            .to_owned());
    }
    if let Some(pes) = simulation.pes {
        return Err(format!(
            "`scaling` has the numbers of PEs, and `pes` is {pes}: leave one of the two out"
        ));
    }
    if command.replications() > 1 {
        return Err(
            "`scaling` runs one seed on each number of PEs: leave `replications` out".to_owned()
        );
    }
    Ok(())
}

/// The settings of a run on so many PEs.
fn with_pes(settings: &Settings, pes: u32) -> Result<Settings, Failure> {
    let mut simulation = settings.simulation.clone();
    simulation.set(PES, &pes.to_string()).map_err(|error| Failure::wrong_use(error.to_string()))?;
    Ok(Settings { simulation, command: CommandSettings::default() })
}

/// The runs of a scaling curve, and why there are no more of them.
type Runs = (Vec<RunRecord>, Option<Failure>);

/// Runs on each number of PEs. One that is ended early or fails is the last. `run` also returns why
/// it was ended early, if it was.
///
/// # Errors
/// If the first one fails, as nothing is left to show.
fn one_by_one(
    pes: &[u32],
    mut run: impl FnMut(u32) -> Result<(RunRecord, Option<Failure>), Failure>,
) -> Result<Runs, Failure> {
    let mut runs = Vec::new();
    for pes in pes {
        match run(*pes) {
            Ok((record, ended)) => {
                runs.push(record);
                if ended.is_some() {
                    return Ok((runs, ended));
                }
            }
            Err(failure) if runs.is_empty() => return Err(failure),
            Err(failure) => {
                let message = format!("on {pes} PEs: {}", failure.message);
                return Ok((runs, Some(Failure { message, ..failure })));
            }
        }
    }
    Ok((runs, None))
}
