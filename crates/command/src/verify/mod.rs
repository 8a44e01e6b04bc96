//! `warpline verify`: events forward, undone, compared, and forward again; and a second run, in
//! another process, that must equal the first.

mod text;
mod verified;

use std::time::Duration;

use self::verified::Verified;
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor, ways_to_undo};
use crate::models::program::Program;
use crate::options::notes::tell_notes;
use crate::options::request::{Request, with_model};
use crate::output;
use crate::output::progress::ProgressDisplay;
use crate::settings::Settings;
use warpline_run::verify::VerifyLimits;
use warpline_run::{Configured, Model, Records, Simulation, Undo, VerifyError};

/// The least number of events to try if no end is given.
const EVENTS_ENOUGH: u64 = 10_000;
/// A run that is extended to reach them may go on to this multiple of the default end.
const LATER: f64 = 1e12;

/// Verifies a model and prints what was tried.
pub(crate) fn verify<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let notes = tell_notes(program, request, &settings.simulation)?;
    // A spare thread, so that thread ids differ between this process and the second one. A model
    // that depends on them is found out.
    let _ = std::thread::spawn(|| {}).join();
    let job = VerifyModel { settings: &settings, quiet: request.json };
    let mut verified = with_model(program, request, job)??;
    verified.compare_with_another_process(request)?;
    if request.json {
        output::print_json(&verified.json(&notes))
    } else {
        output::print(&verified.text())
    }
}

/// A verification whose model is not known yet.
struct VerifyModel<'a> {
    settings: &'a Settings,
    quiet: bool,
}

impl Visitor for VerifyModel<'_> {
    type Output = Result<Verified, Failure>;

    fn visit<M: Model>(self, model: Configured<M>) -> Self::Output {
        let settings = &self.settings.simulation;
        let verify = |undo: Undo, end: f64, limits: VerifyLimits| {
            let mut display = ProgressDisplay::new(model.time_unit(), self.quiet);
            let mut show = |progress: &_| display.show(progress);
            let simulation = Simulation::of(&model)?
                .end(end)
                .seed(settings.seed())
                .undo(undo)
                .records(Records::Drop);
            let outcome = simulation.on_progress(&mut show).verify_once(limits);
            display.finish();
            outcome.map_err(Failure::from)
        };
        let ways = settings.undo.map_or_else(
            || ways_to_undo(M::ABILITIES.has_reverse(), M::ABILITIES.journal().is_some()),
            |undo| vec![undo],
        );
        let mut end = settings.end.unwrap_or(model.default_end());
        let mut limits = self.limits()?;
        let mut verified = Vec::new();
        let mut short = None;
        for undo in ways {
            let mut outcome = verify(undo, end, limits)?;
            let has_few_events = outcome.is_whole && outcome.events < EVENTS_ENOUGH;
            if settings.end.is_none() && has_few_events && verified.is_empty() {
                // Go on beyond the end of so short a run.
                end = model.default_end() * LATER;
                limits.most = Some(EVENTS_ENOUGH);
                short = Some(outcome);
                outcome = verify(undo, end, limits)?;
            }
            verified.push(outcome);
        }
        if verified.iter().any(|verified| verified.events == 0) {
            return Err(Failure::wrong_use(format!(
                "no event happens before time {end:?}, so nothing was tried; give a later --end"
            )));
        }
        if limits.most.is_some() {
            end = verified.first().map_or(end, |first| first.virtual_time);
        }
        Ok(Verified {
            unit: model.time_unit(),
            end,
            seed: settings.seed(),
            order_varies: verified.iter().any(|verified| verified.order_varies),
            ways: verified,
            short,
        })
    }
}

impl VerifyModel<'_> {
    fn limits(&self) -> Result<VerifyLimits, Failure> {
        let command = &self.settings.command;
        command.check().map_err(|error| Failure::wrong_use(error.to_string()))?;
        let patience = Duration::try_from_secs_f64(command.time_limit()).unwrap_or(Duration::MAX);
        Ok(VerifyLimits {
            each: Some(command.tries_per_kind()),
            patience: Some(patience),
            most: None,
        })
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Run(error) => error.into(),
            mismatch => Failure::failed(mismatch.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
