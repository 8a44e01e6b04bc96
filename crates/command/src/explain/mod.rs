//! `warpline explain`: the critical path of a model, and what more cores could make of it.

mod advice;
mod costs;
mod explained;
mod json;
mod report;
#[cfg(test)]
mod tests;
mod text;

use std::time::Instant;

use self::costs::Costs;
use self::explained::Explained;
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor};
use crate::models::program::Program;
use crate::options::notes::tell_notes;
use crate::options::request::{Request, with_model};
use crate::output::Printout;
use crate::output::progress::ProgressDisplay;
use crate::output::report_directory::prepare;
use crate::settings::Settings;
use warpline_run::{Configured, Model, Simulation, provenance};

/// Explains a model and prints what was found.
pub(crate) fn explain<C: Catalogue>(
    program: &Program<C>,
    request: &Request,
) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let notes = tell_notes(program, request, &settings.simulation)?;
    let directory = settings.command.report.as_deref();
    directory.map_or(Ok(()), prepare)?;
    let started = Instant::now();
    let job = ExplainModel { settings: &settings, quiet: request.quiet || request.json };
    let found = with_model(program, request, job)??;
    let mut printout = Printout { object: found.json(&notes), text: found.text(), failed: None };
    if let Some(directory) = directory {
        let study = found.study(printout.object.clone(), provenance::of(started, 0));
        printout.add_report(warpline_report::write_study(directory, &study), "\n");
    }
    printout.print(request.json)
}

/// An explanation whose model is not known yet.
struct ExplainModel<'a> {
    settings: &'a Settings,
    quiet: bool,
}

impl Visitor for ExplainModel<'_> {
    type Output = Result<Explained, Failure>;

    fn visit<M: Model>(self, model: Configured<M>) -> Self::Output {
        let mut display = ProgressDisplay::new(model.time_unit(), self.quiet);
        let mut show = |progress: &_| display.show(progress);
        let simulation = Simulation::of(&model)?.settings(self.settings.simulation.clone());
        let began = Instant::now();
        let outcome = simulation.on_progress(&mut show).explain(self.settings.command.event_cost());
        display.finish();
        let explanation = outcome?;
        let took = began.elapsed();
        if explanation.findings.events == 0 {
            let end = explanation.end;
            return Err(Failure::wrong_use(format!(
                "no event happens before time {end:?}, so there is nothing to explain; give a \
                 later --end"
            )));
        }
        let costs = Costs::measure(&model, &self.settings.simulation, &explanation, took);
        Ok(Explained {
            unit: model.time_unit(),
            parameters: model.values().clone(),
            explanation,
            costs,
        })
    }
}
