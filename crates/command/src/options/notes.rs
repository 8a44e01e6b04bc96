//! Notes on what was asked for: what the model points out about its parameters, and which settings
//! have no effect.

use super::presets::PRESET;
use super::request::{Request, with_model};
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor};
use crate::models::program::Program;
use crate::output;
use crate::settings::GivenSetting;
use warpline_run::{Configured, Model};

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
pub(crate) fn tell(notes: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for note in more {
        output::remark(format_args!("note: {note}"));
        notes.push(note);
    }
}

/// The settings that have no effect although the user gave them. Those of presets do not count.
fn idle_settings(settings: &warpline_run::Settings, request: &Request) -> Vec<String> {
    let of_user = |given: &&GivenSetting| {
        !given.place.as_ref().is_some_and(|place| place.starts_with(PRESET))
    };
    let given: Vec<&str> =
        request.settings.iter().filter(of_user).map(|given| given.name.as_str()).collect();
    let idle = settings.without_effect().into_iter().filter(|(name, _)| given.contains(name));
    idle.map(|(name, why)| format!("`{name}` has no effect: {why}")).collect()
}

/// Asks a model for its notes on these parameters.
struct ParameterNotes<'a>(&'a [GivenSetting]);

impl Visitor for ParameterNotes<'_> {
    type Output = Vec<String>;

    fn visit<M: Model>(self, model: Configured<M>) -> Vec<String> {
        let about = |(name, text): &(&str, String)| {
            let given = self.0.iter().rev().find(|given| given.name == *name)?;
            let place = given.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
            Some(format!("{place}model `{}`: `{name}` {text}", model.name()))
        };
        model.notes().iter().filter_map(about).collect()
    }
}
