//! What the command is asked to do, and the model of a request.

use std::path::PathBuf;

use super::scenario::Scenario;
use crate::calibrate::request::CalibrationRequest;
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, CatalogueError, Visitor};
use crate::models::program::Program;
use crate::settings::{self, GivenSetting, PROCESSES, SYNC};
use crate::study::request::StudyRequest;
use warpline_run::Synchronisation;
use warpline_run::settings::SettingValue;

/// What the command is asked to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    /// List the models.
    Models { json: bool },
    /// Show one model.
    Model { name: String, json: bool },
    /// Run one.
    Run(Request),
    /// Verify one.
    Verify(Request),
    /// Search for a schedule that goes wrong.
    Torture(Request),
    /// Explain how fast one could be.
    Explain(Request),
    /// Run one on several engines in turn.
    Compare(Request),
    /// Render a report again.
    Report { directory: PathBuf, json: bool },
    /// Write a project.
    New { name: String, json: bool },
    /// Repeat an experiment, or list all.
    Study(StudyRequest),
    /// Measure this machine.
    Calibrate(CalibrationRequest),
    /// Print a help text or the version.
    Say(String),
}

/// A model with the settings and parameters that were given.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) settings: Vec<GivenSetting>,
    pub(crate) parameters: Vec<GivenSetting>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Action {
    /// This action, with what it leaves open taken from a scenario.
    pub(super) fn over(self, scenario: Scenario) -> Self {
        match self {
            Action::Run(request) => Action::Run(request.over(scenario)),
            Action::Verify(request) => Action::Verify(request.over(scenario)),
            Action::Torture(request) => Action::Torture(request.over(scenario)),
            Action::Explain(request) => Action::Explain(request.over(scenario)),
            Action::Compare(request) => Action::Compare(request.over(scenario)),
            other => other,
        }
    }
}

impl Request {
    /// This request, with what it leaves open taken from a scenario. If the request chooses an
    /// engine, settings that this engine does not use are not taken.
    pub(super) fn over(self, mut scenario: Scenario) -> Self {
        let typed = self
            .settings
            .iter()
            .rev()
            .find(|given| given.name == SYNC)
            .and_then(|given| Synchronisation::parse(&given.text));
        if let Some(engine) = typed {
            // Whoever types the sequential engine need not take back the processes of a preset or
            // scenario.
            let alone = engine == Synchronisation::Sequential;
            scenario.settings.retain(|given| {
                settings::serves(&given.name, engine) && !(alone && given.name == PROCESSES)
            });
        }
        Request {
            settings: merged(scenario.settings, self.settings),
            parameters: merged(scenario.parameters, self.parameters),
            ..self
        }
    }
}

/// What `below` gives and `above` does not, followed by `above`.
fn merged(mut below: Vec<GivenSetting>, above: Vec<GivenSetting>) -> Vec<GivenSetting> {
    below.retain(|given| above.iter().all(|typed| typed.name != given.name));
    below.extend(above);
    below
}

/// Passes the model of a request to a visitor. The failure for a refused value names its place in a
/// scenario.
pub(crate) fn with_model<C: Catalogue, V: Visitor>(
    program: &Program<C>,
    request: &Request,
    visitor: V,
) -> Result<V::Output, Failure> {
    let given: Vec<(String, String)> =
        request.parameters.iter().map(|given| (given.name.clone(), given.text.clone())).collect();
    program.models.with_model(&request.model, &given, visitor).map_err(|error| {
        let place = place(&error, &request.parameters);
        let show = program.line("models show", &request.model);
        Failure::wrong_use(format!("{error}; `{show}` lists all parameters")).at(place.as_deref())
    })
}

fn place(error: &CatalogueError, given: &[GivenSetting]) -> Option<String> {
    use warpline_run::ParameterError::{Range, Unknown, Value};
    let CatalogueError::Parameter {
        cause: Unknown { name, .. } | Value { name, .. } | Range { name, .. },
        ..
    } = error
    else {
        return None;
    };
    given.iter().find(|given| given.name == *name).and_then(|given| given.place.clone())
}
