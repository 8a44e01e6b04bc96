//! The settings that a run will have, shown before it begins.

use serde_json::{Map, Value};
use warpline_model::Model;

use super::reason::{Choices, Chosen, Reason};
use super::record::overlaid;
use super::{ProcessPlan, choices};
use crate::job::Job;
use crate::policy::engine_choice::Engine;
use crate::{Error, Settings, Synchronisation};

/// A setting that a run will have; see [`Simulation::plan`](crate::Simulation::plan).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedSetting {
    /// Its name, such as `gvt-interval`.
    pub name: &'static str,
    /// Its value, as the record of the run will have it.
    pub value: Value,
    /// Why: `given`, `the default`, or what it follows from.
    pub why: String,
}

impl<M: Model> Job<M> {
    /// See [`Simulation::plan`](crate::Simulation::plan).
    pub(crate) fn preview(&self) -> Result<Vec<PlannedSetting>, Error> {
        let settings = &self.settings;
        let sync = settings.synchronisation()?;
        let spec = self.check()?;
        let mut processes = ProcessPlan::as_given(settings, spec.limits.lps);
        if processes.count > 1 {
            processes.carrier = choices::carrier(settings, false)?;
        }
        let run = self.plan_run(sync, processes, &spec)?;
        let mut choices = Choices::default();
        choices.note("sync", run.sync);
        let values = match run.sync.value {
            Synchronisation::Sequential => {
                choices.note(
                    "threads",
                    Chosen { value: 1u32, why: Reason::Rule("a sequential run has one thread") },
                );
                overlaid(settings, &choices, false)
            }
            Synchronisation::Auto => {
                choices.note(
                    "threads",
                    Chosen { value: run.pes, why: Reason::Rule("the most that it may use") },
                );
                overlaid(settings, &choices, false)
            }
            sync => {
                let Some(plan) =
                    self.plan(Engine { sync, pes: run.pes }.into(), &run, &spec, None)?
                else {
                    return Ok(Vec::new());
                };
                choices = plan.choices.clone();
                plan.settings(settings)
            }
        };
        Ok(planned(settings, values, &choices))
    }
}

/// All settings that have a value, in the order of their table.
fn planned(
    settings: &Settings,
    mut values: Map<String, Value>,
    choices: &Choices,
) -> Vec<PlannedSetting> {
    let given = settings.given();
    let planned = Settings::table().iter().filter_map(|setting| {
        let key = setting.key();
        let value = values.remove(&key).filter(|value| !value.is_null())?;
        let is_given = given.iter().any(|(given, _)| given.name == setting.name);
        let usual = if is_given { Reason::Given } else { Reason::Default };
        let why =
            choices.iter().find(|choice| choice.key == key).map_or(usual, |choice| choice.why);
        Some(PlannedSetting { name: &setting.name, value, why: why.to_string() })
    });
    planned.collect()
}
