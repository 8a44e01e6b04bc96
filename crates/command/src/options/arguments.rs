//! Reads command lines, and the scenario files that they name.

use std::ffi::OsString;
use std::path::PathBuf;

use super::command_line::{PRESET, SCENARIO_FILE, command, parameter_id};
use super::request::{Action, Request};
use super::scenario::Scenario;
use super::unknown;
use super::{completions, presets};
use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, ModelEntry};
use crate::models::program::Program;
use crate::output::format;
use crate::settings::{self, GivenSetting};
use crate::verbs::{CALIBRATE, COMPARE, COMPLETIONS, EXPLAIN, NEW, RUN, STUDY, TORTURE, VERIFY};
use crate::{calibrate, new, study};
use clap::ArgMatches;
use warpline_run::settings::Setting;

/// Reads a command line, which begins with the program's name.
pub(crate) fn parse<C: Catalogue>(
    program: &Program<C>,
    line: &[OsString],
) -> Result<Action, Failure> {
    let line: Vec<OsString> = line.iter().cloned().map(with_hyphens).collect();
    let matches = match command(program).try_get_matches_from(&line) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => return Ok(Action::Say(error.render().to_string())),
        Err(error) => {
            return Err(unknown::explain(program, &line, &error)
                .map_or_else(|| error.into(), Failure::wrong_use));
        }
    };
    match matches.subcommand() {
        Some(("models", models)) => Ok(match models.subcommand() {
            Some((_, show)) => {
                let only = program.only().map(|entry| entry.name.to_owned());
                Action::Model {
                    name: text(show, "MODEL").or(only).unwrap_or_default(),
                    json: show.get_flag("json"),
                }
            }
            None => Action::Models { json: models.get_flag("json") },
        }),
        Some(("report", report)) => {
            let directory = report.get_one::<PathBuf>("DIR").cloned().unwrap_or_default();
            Ok(Action::Report { directory, json: report.get_flag("json") })
        }
        Some((COMPLETIONS, matches)) => {
            Ok(Action::Say(completions::text(command(program), &program.name, matches)))
        }
        Some((NEW, new)) => Ok(Action::New { name: new::name(new), json: new.get_flag("json") }),
        Some((STUDY, matches)) => Ok(Action::Study(study::request::request(matches))),
        Some((CALIBRATE, matches)) => Ok(Action::Calibrate(calibrate::request::request(matches))),
        Some((verb, matches)) => match program.only() {
            Some(only) => request_of_only(program, verb, matches, only),
            None => request(program, verb, matches, &line),
        },
        None => Err(Failure::wrong_use("a command is missing")),
    }
}

/// Reads the arguments of a command that takes the only model, by name or not, or a scenario.
fn request_of_only<C: Catalogue>(
    program: &Program<C>,
    verb: &str,
    matches: &ArgMatches,
    only: &ModelEntry,
) -> Result<Action, Failure> {
    let named = text(matches, SCENARIO_FILE).filter(|name| name != only.name);
    let action = of_model(program, verb, matches, only)?;
    let Some(named) = named else { return Ok(action) };
    if !names_file(&named) {
        let only = only.name;
        let message = format!(
            "there is neither a model nor a scenario file `{named}`; `{only}`, the only model, \
             need not be named"
        );
        return Err(Failure::wrong_use(message));
    }
    Ok(action.over(read_scenario(program, verb, &named)?))
}

/// Reads the arguments of a command that takes a model or a scenario.
fn request<C: Catalogue>(
    program: &Program<C>,
    verb: &str,
    matches: &ArgMatches,
    line: &[OsString],
) -> Result<Action, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Err(no_model(program, verb)) };
    if let Some(entry) = program.entries.iter().find(|entry| entry.name == name) {
        return of_model(program, verb, matches, entry);
    }
    if !names_file(name) {
        let Err(unknown) = program.find(name) else {
            unreachable!("`{name}` is not among the entries")
        };
        return Err(Failure::wrong_use(format!("{unknown}, and no scenario file of that name")));
    }
    let scenario = read_scenario(program, verb, name)?;
    // Read again with the model in place of the file, and all that was typed around it.
    let typed_after = matches.get_many::<OsString>("").map_or(0, Iterator::count);
    let (before, after) = line.split_at(line.len() - typed_after);
    let model = [before[0].clone(), verb.into(), scenario.model.into()];
    let line: Vec<OsString> =
        model.iter().chain(&before[2..before.len() - 1]).chain(after).cloned().collect();
    Ok(parse(program, &line)?.over(scenario))
}

/// Reads a scenario, without the settings that a command does not have.
fn read_scenario<C: Catalogue>(
    program: &Program<C>,
    verb: &str,
    path: &str,
) -> Result<Scenario, Failure> {
    Ok(for_command(verb, Scenario::read(program, path)?))
}

/// A scenario without the settings that a command does not have.
fn for_command(verb: &str, mut scenario: Scenario) -> Scenario {
    match verb {
        VERIFY => scenario.settings.retain(|given| given.name == "seed"),
        EXPLAIN => {
            scenario.settings.retain(|given| settings::EXPLAINED.contains(&given.name.as_str()))
        }
        TORTURE => {
            let own = settings::of(TORTURE);
            scenario.settings.retain(|given| own.iter().any(|setting| setting.name == given.name))
        }
        COMPARE => scenario.settings.retain(|given| {
            !settings::of_run()
                .iter()
                .any(|one| one.name == given.name && settings::is_of_one_run(one))
        }),
        _ => {}
    }
    scenario
}

/// Reads the arguments of a command for one model.
fn of_model<C: Catalogue>(
    program: &Program<C>,
    verb: &str,
    matches: &ArgMatches,
    entry: &ModelEntry,
) -> Result<Action, Failure> {
    if verb == COMPARE {
        refuse_output(program, matches, entry)?;
    }
    let presets: Vec<Scenario> = matches
        .get_many::<String>(PRESET)
        .unwrap_or_default()
        .map(|name| Ok(for_command(verb, presets::find(name, entry)?)))
        .collect::<Result<_, Failure>>()?;
    let settings = settings::of(verb).into_iter().map(|setting| setting.name);
    let parameters = entry.parameters.iter().map(|spec| (spec.name.clone(), parameter_id(spec)));
    let request = Request {
        model: entry.name.to_owned(),
        settings: typed(matches, settings.map(|name| (name.clone(), name)))?,
        parameters: typed(matches, parameters)?,
        json: matches.get_flag("json"),
        quiet: verb != VERIFY && matches.get_flag("quiet"),
    };
    // Of several presets, the last one named counts.
    let request = presets.into_iter().rev().fold(request, Request::over);
    Ok(match verb {
        VERIFY => Action::Verify(request),
        TORTURE => Action::Torture(request),
        EXPLAIN => Action::Explain(request),
        COMPARE => Action::Compare(request),
        _ => Action::Run(request),
    })
}

/// Refuses options for the output of one run: a comparison has many runs, and keeps the output of
/// none.
fn refuse_output<C: Catalogue>(
    program: &Program<C>,
    matches: &ArgMatches,
    entry: &ModelEntry,
) -> Result<(), Failure> {
    let of_run = settings::of_run();
    let given = of_run.iter().find(|setting| {
        settings::is_of_one_engine(setting) && text(matches, &setting.name).is_some()
    });
    given.map_or(Ok(()), |Setting { name, .. }| {
        let run = program.line(RUN, entry.name);
        Err(Failure::wrong_use(format!(
            "a comparison has no --{name}: give it to `{run}`, once for each engine"
        )))
    })
}

/// The values typed for some names, each with its id in clap.
fn typed(
    matches: &ArgMatches,
    names: impl Iterator<Item = (String, String)>,
) -> Result<Vec<GivenSetting>, Failure> {
    let given = names.filter_map(|(name, id)| {
        Some(GivenSetting { name, text: text(matches, &id)?, place: None })
    });
    let missing = |given: &GivenSetting| {
        Failure::wrong_use(format!(
            "`--{}` needs a value, but `{}` follows it",
            given.name, given.text
        ))
    };
    given
        .map(|given| if given.text.starts_with("--") { Err(missing(&given)) } else { Ok(given) })
        .collect()
}

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.get_one::<String>(id).cloned()
}

fn names_file(name: &str) -> bool {
    name.ends_with(".toml")
        || name.contains(std::path::MAIN_SEPARATOR)
        || std::path::Path::new(name).is_file()
}

fn no_model<C: Catalogue>(program: &Program<C>, verb: &str) -> Failure {
    let known: Vec<[String; 2]> = program
        .entries
        .iter()
        .map(|entry| [entry.name.to_owned(), entry.about.to_owned()])
        .collect();
    let name = &program.name;
    Failure::wrong_use(format!(
        "a model or a scenario file is missing: `{name} {verb} MODEL` or `{name} {verb} \
         SCENARIO.toml`\n\nModels:\n{}\n\
         For more information, try `{name} {verb} --help`.",
        format::columns(&known, 2)
    ))
}

/// An option with `-` for every `_` in its name.
fn with_hyphens(argument: OsString) -> OsString {
    let Some(text) = argument.to_str().filter(|text| text.starts_with("--")) else {
        return argument;
    };
    match text.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")).into(),
        None => text.replace('_', "-").into(),
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
