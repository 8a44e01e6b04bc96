//! The command line as clap reads it, built from the catalogue, and scenario files in its place.

use std::ffi::OsString;
use std::path::PathBuf;

use super::catalogue::{Catalogue, ModelEntry};
use super::failure::Failure;
use super::format;
use super::help;
use super::models;
use super::new::{self, NEW};
use super::presets;
use super::program::{COMPARE, EXPLAIN, Program, RUN, VERIFY};
use super::scenario::Scenario;
use super::settings::{self, GivenSetting, PROCESSES, SYNC};
use super::studies::{self, STUDY, StudyRequest};
use super::unknown;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use warpline_run::settings::{RUN as RUN_HEADING, Setting, SettingValue};
use warpline_run::{ParameterSpec, Synchronisation};

/// What the command is asked to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    /// List the models.
    Models { json: bool },
    /// Show one model.
    Model { name: String, json: bool },
    /// Run one.
    Run(Request),
    /// Try out its undo.
    Verify(Request),
    /// Find out how fast it could be.
    Explain(Request),
    /// Run it on several engines in turn.
    Compare(Request),
    /// Render a report again.
    Report { directory: PathBuf, json: bool },
    /// Write a project.
    New { name: String, json: bool },
    /// Repeat an experiment, or list those that there are.
    Study(StudyRequest),
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

/// The option that names presets.
const PRESET: &str = "preset";
/// The scenario file of a program with one model.
const SCENARIO_FILE: &str = "scenario:file";

/// The whole command line.
pub(crate) fn command<C: Catalogue>(program: &Program<C>) -> Command {
    let Program { name, entries, .. } = program;
    let shown = entries.last().map_or("MODEL", |entry| entry.name);
    let show = format!("{name} models show{}", if program.only().is_some() { String::new() } else { format!(" {shown}") });
    let models = Command::new("models")
        .about("List the models, or show one with its parameters")
        .after_help(format!("Examples:\n  {name} models\n  {show}\n  {show} --json"))
        .subcommand(
            Command::new("show")
                .about("Show a model's parameters, defaults and examples")
                .arg(Arg::new("MODEL").required(program.only().is_none()).help("Its name")),
        )
        .disable_help_subcommand(true)
        .arg(json());
    let report = Command::new("report")
        .about("Render the report of a finished run again")
        .after_help(format!("Example:\n  {name} report out"))
        .arg(Arg::new("DIR").required(true).value_parser(value_parser!(PathBuf)).help("The directory given to `run --report`"))
        .arg(json());
    let root = Command::new(name.clone())
        .version(env!("CARGO_PKG_VERSION"))
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommands([models, run(program), verify(program), explain(program), compare(program), report])
        .subcommands(program.new.then(|| new::command(name).arg(json())))
        .subcommands((!program.studies.is_empty()).then(|| studies::command(name, program.studies).arg(json()).arg(quiet())));
    match program.only() {
        Some(entry) => root
            .about(format!("{}: {}\nA simulation on Warpline.", entry.name, entry.about))
            .after_help(format!("Examples:\n  {}", models::examples(program, entry).join("\n  "))),
        None => root.about("Warpline: a discrete event simulation engine").after_help(format!(
            "Examples:\n  {name} models\n  {name} run {first}\n  {name} run {shown} --help\n  {name} compare {first}{new}",
            first = entries.first().map_or("MODEL", |entry| entry.name),
            new = if program.new { format!("\n  {name} {NEW} corner-shop") } else { String::new() }
        )),
    }
}

/// What a help text says about scenario files.
const SCENARIO: &str = "A scenario is a TOML file with the same names: `model`, then any settings (end, seed, …), then a table [parameters].\n\
     What is typed after it overrides it. If an engine is typed, settings that it does not use are left out. Paths in it are relative to the current directory.";

fn run<C: Catalogue>(program: &Program<C>) -> Command {
    let examples = examples(program, RUN, &["--end 50 --report out", "--sync optimistic --json"], Some("--seed 2"));
    of_models(program, RUN, &settings::of_run()).about("Run a model, or a scenario file").arg(json()).arg(quiet()).after_help(format!(
        "{SCENARIO}\n\n{examples}\n\n\
             Exit status: 0 done, 1 the simulation or its report failed, 2 usage error (nothing was simulated)."
    ))
}

fn verify<C: Catalogue>(program: &Program<C>) -> Command {
    let examples = examples(program, VERIFY, &["", "--undo copy --end 10", "--time-limit 60"], None);
    of_models(program, VERIFY, &settings::of_verify())
        .about("Try out a model: events forward, undone, compared, and forward again; and the same run in a second process")
        .arg(json())
        .after_help(format!(
            "Events are drawn from the whole run, of every kind: by the variant of the event, and by the kind of the LP.\n\
             Handlers must not print or write: that is found on Linux, but not what goes through sockets or other programs.\n\
             What is compared of a state is its Debug text; what that leaves out is not compared.\n\
             A scenario file gives model, seed and parameters; its other settings are those of a run.\n\n{examples}\n\n\
             Exit status: 0 what was tried was undone and repeated exactly, and both processes have the same answer, 1 not so, 2 usage error."
        ))
}

fn explain<C: Catalogue>(program: &Program<C>) -> Command {
    let examples = examples(program, EXPLAIN, &["", "--end 10 --event-cost measured", "--end 50 --json"], None);
    of_models(program, EXPLAIN, &settings::of_explain())
        .about("How fast could the model be on more cores, and what stands in the way? One sequential run finds out")
        .arg(json())
        .arg(quiet())
        .after_help(format!("{}\n\n{examples}\n\nExit status: 0 done, 1 the simulation failed, 2 usage error.", help::EXPLANATION))
}

fn compare<C: Catalogue>(program: &Program<C>) -> Command {
    let outputs = settings::of_run().into_iter().filter(settings::is_of_one_engine);
    let examples = examples(program, COMPARE, &["--end 20 --threads 4 --runs 5 --json", "--with optimistic --runs 9"], Some("--undo copy"));
    of_models(program, COMPARE, &settings::of_compare())
        .about("Run a model on several engines in turn: is the answer the same, how much faster are they, how much memory do they take?")
        .arg(json())
        .arg(quiet())
        // Accepted, so that they can be refused with advice.
        .args(outputs.map(|output| setting(&output).hide(true)))
        .after_help(format!(
            "The sequential engine comes first, as the others are compared with it. Each run is a process of its own; rates and memory are\n\
             medians over the runs of an engine. The answer is history, results, statistics, and final states by their Debug text.\n\
             An engine that fails is shown with its error, and the others are compared.\n\
             A scenario file works as for `{} run`; a report that it wants is left out.\n\n{examples}\n\n\
             Exit status: 0 all runs gave the same answer, 1 they did not or one failed, 2 usage error.",
            program.name
        ))
}

/// Example lines: each model in turn with one of these options, and a scenario.
fn examples<C: Catalogue>(program: &Program<C>, verb: &str, options: &[&str], scenario: Option<&str>) -> String {
    let models = program.entries.iter().rev().cycle();
    let lines = options.iter().zip(models).map(|(options, entry)| format!("{} {options}", program.line(verb, entry.name)));
    let scenario = scenario.map(|options| format!("{} {verb} scenario.toml {options}", program.name));
    let lines: Vec<String> = lines.chain(scenario).map(|line| format!("  {}", line.trim_end())).collect();
    format!("Examples:\n{}", lines.join("\n"))
}

fn json() -> Arg {
    flag("json", "Print one JSON object on stdout, and nothing else there").global(true)
}

fn quiet() -> Arg {
    flag("quiet", "Print no progress").global(true)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help).help_heading("Output")
}

fn preset() -> Arg {
    let names: Vec<&str> = presets::OF_ENGINES.iter().map(|preset| preset.name).collect();
    let help = format!("Settings or parameters under one name; what else is typed overrides them [of engines: {}]", names.join(", "));
    let about = models::presets(presets::OF_ENGINES, Some(100));
    Arg::new(PRESET)
        .long(PRESET)
        .value_name("NAME,...")
        .action(ArgAction::Append)
        .value_delimiter(',')
        .help_heading(RUN_HEADING)
        .global(true)
        .long_help(format!("{help}.\nThe last one named counts. `models show` lists those of a model.\n\n{about}"))
        .help(help)
}

/// A subcommand that takes a model or a scenario.
fn of_models<C: Catalogue>(program: &Program<C>, verb: &'static str, settings: &[Setting]) -> Command {
    let all = Command::new(verb).args(settings.iter().map(setting)).arg(preset()).disable_help_subcommand(true);
    let name = &program.name;
    if let Some(only) = program.only() {
        let scenario = Arg::new(SCENARIO_FILE).value_name("SCENARIO.toml").help("A scenario file (default: none)");
        let usage = format!("{name} {verb} [SCENARIO.toml] [--PARAMETER VALUE]... [OPTIONS]");
        return all.args(only.parameters.iter().map(parameter)).arg(scenario).override_usage(usage);
    }
    let models = program.entries.iter().map(|entry| {
        let end = format!("By default, a run ends at model time {}.", format::time(entry.default_end, entry.time_unit));
        let examples = models::examples(program, entry);
        Command::new(entry.name)
            .about(entry.about)
            .after_help(format!("{end}\n\nExamples:\n  {}", examples.join("\n  ")))
            .args(entry.parameters.iter().map(parameter))
    });
    all.subcommands(models)
        .allow_external_subcommands(true)
        .subcommand_help_heading("Models")
        .subcommand_value_name("MODEL | SCENARIO.toml")
        .override_usage(format!("{name} {verb} <MODEL | SCENARIO.toml> [--PARAMETER VALUE]... [OPTIONS]"))
}

fn parameter(spec: &ParameterSpec) -> Arg {
    let default = if spec.default.is_empty() { "none".to_owned() } else { format!("{} {}", spec.default, spec.unit) };
    let takes = if spec.range.starts_with('[') { format!("in {}", spec.range) } else { spec.range.clone() };
    Arg::new(parameter_id(spec))
        .long(spec.name.clone())
        .value_name(if spec.range.starts_with("one of ") { "WORD" } else { "VALUE" })
        .help(format!("{} (default {}; {takes})", spec.meaning, default.trim_end()))
        .help_heading("Model parameters")
        .allow_hyphen_values(true)
}

/// A name with a colon cannot be a setting's.
fn parameter_id(spec: &ParameterSpec) -> String {
    format!("parameter:{}", spec.name)
}

fn setting(setting: &Setting) -> Arg {
    let Setting { name, placeholder, words, range, default, meaning, hurts, .. } = setting;
    let default = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
    let possible = if words.is_empty() { String::new() } else { format!(" [possible values: {}]", words.join(", ")) };
    let takes = if words.is_empty() { format!("\nTakes {range}.") } else { String::new() };
    let help = format!("{meaning}{default}{possible}");
    let arg = Arg::new(name.clone()).long(name.clone()).value_name(*placeholder).help_heading(setting.heading).global(true);
    let arg = arg.long_help(format!("{help}{takes}\nWhen it hurts: {hurts}.")).help(help);
    match words {
        [] => arg.allow_hyphen_values(true),
        words => arg.value_parser(PossibleValuesParser::new(*words)).hide_possible_values(true),
    }
}

/// Reads a command line, the program's name first.
pub(crate) fn parse<C: Catalogue>(program: &Program<C>, line: &[OsString]) -> Result<Action, Failure> {
    let line: Vec<OsString> = line.iter().cloned().map(with_hyphens).collect();
    let matches = match command(program).try_get_matches_from(&line) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => return Ok(Action::Say(error.render().to_string())),
        Err(error) => return Err(unknown::explain(program, &line, &error).map_or_else(|| error.into(), Failure::wrong_use)),
    };
    match matches.subcommand() {
        Some(("models", models)) => Ok(match models.subcommand() {
            Some((_, show)) => {
                let only = program.only().map(|entry| entry.name.to_owned());
                Action::Model { name: text(show, "MODEL").or(only).unwrap_or_default(), json: show.get_flag("json") }
            }
            None => Action::Models { json: models.get_flag("json") },
        }),
        Some(("report", report)) => {
            let directory = report.get_one::<PathBuf>("DIR").cloned().unwrap_or_default();
            Ok(Action::Report { directory, json: report.get_flag("json") })
        }
        Some((NEW, new)) => Ok(Action::New { name: new::name(new), json: new.get_flag("json") }),
        Some((STUDY, matches)) => Ok(Action::Study(studies::request(matches))),
        Some((verb, matches)) => match program.only() {
            Some(only) => request_of_only(program, verb, matches, only),
            None => request(program, verb, matches, &line),
        },
        None => Err(Failure::wrong_use("a command is missing")),
    }
}

/// Reads the arguments of a command that takes the only model, by name or not, or a scenario.
fn request_of_only<C: Catalogue>(program: &Program<C>, verb: &str, matches: &ArgMatches, only: &ModelEntry) -> Result<Action, Failure> {
    let named = text(matches, SCENARIO_FILE).filter(|name| name != only.name);
    let action = of_model(program, verb, matches, only)?;
    let Some(named) = named else { return Ok(action) };
    if !names_file(&named) {
        let only = only.name;
        let message = format!("there is neither a model nor a scenario file `{named}`; `{only}`, the only model, need not be named");
        return Err(Failure::wrong_use(message));
    }
    Ok(action.over(read_scenario(program, verb, &named)?))
}

/// Reads the arguments of a command that takes a model or a scenario.
fn request<C: Catalogue>(program: &Program<C>, verb: &str, matches: &ArgMatches, line: &[OsString]) -> Result<Action, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Err(no_model(program, verb)) };
    if let Some(entry) = program.entries.iter().find(|entry| entry.name == name) {
        return of_model(program, verb, matches, entry);
    }
    if !names_file(name) {
        let Err(unknown) = program.find(name) else { unreachable!("`{name}` is not among the entries") };
        return Err(Failure::wrong_use(format!("{unknown}, and no scenario file of that name")));
    }
    let scenario = read_scenario(program, verb, name)?;
    // The model in place of the file, followed by everything that was typed before and after the
    // file.
    let typed_after = matches.get_many::<OsString>("").map_or(0, Iterator::count);
    let (before, after) = line.split_at(line.len() - typed_after);
    let model = [before[0].clone(), verb.into(), scenario.model.into()];
    let line: Vec<OsString> = model.iter().chain(&before[2..before.len() - 1]).chain(after).cloned().collect();
    Ok(parse(program, &line)?.over(scenario))
}

/// Reads a scenario, without the settings that a command does not have.
fn read_scenario<C: Catalogue>(program: &Program<C>, verb: &str, path: &str) -> Result<Scenario, Failure> {
    Ok(for_command(verb, Scenario::read(program, path)?))
}

/// A scenario without the settings that a command does not have.
fn for_command(verb: &str, mut scenario: Scenario) -> Scenario {
    match verb {
        VERIFY => scenario.settings.retain(|given| given.name == "seed"),
        EXPLAIN => scenario.settings.retain(|given| settings::EXPLAINED.contains(&given.name.as_str())),
        COMPARE => {
            scenario.settings.retain(|given| !settings::of_run().iter().any(|one| one.name == given.name && settings::is_of_one_run(one)))
        }
        _ => {}
    }
    scenario
}

/// Reads the arguments of such a command for one model.
fn of_model<C: Catalogue>(program: &Program<C>, verb: &str, matches: &ArgMatches, entry: &ModelEntry) -> Result<Action, Failure> {
    let (settings, action): (_, fn(Request) -> Action) = match verb {
        VERIFY => (settings::of_verify(), Action::Verify),
        EXPLAIN => (settings::of_explain(), Action::Explain),
        COMPARE => (settings::of_compare(), Action::Compare),
        _ => (settings::of_run(), Action::Run),
    };
    if verb == COMPARE {
        refuse_output(program, matches, entry)?;
    }
    let presets: Vec<Scenario> = matches
        .get_many::<String>(PRESET)
        .unwrap_or_default()
        .map(|name| Ok(for_command(verb, presets::find(name, entry)?)))
        .collect::<Result<_, Failure>>()?;
    let request = Request {
        model: entry.name.to_owned(),
        settings: typed(matches, settings.iter().map(|setting| (setting.name.as_str(), setting.name.clone())))?,
        parameters: typed(matches, entry.parameters.iter().map(|spec| (spec.name.as_str(), parameter_id(spec))))?,
        json: matches.get_flag("json"),
        quiet: verb != VERIFY && matches.get_flag("quiet"),
    };
    // The last one named comes first.
    Ok(action(presets.into_iter().rev().fold(request, Request::over)))
}

/// A comparison consists of many runs, and keeps the output of none.
fn refuse_output<C: Catalogue>(program: &Program<C>, matches: &ArgMatches, entry: &ModelEntry) -> Result<(), Failure> {
    let of_run = settings::of_run();
    let given = of_run.iter().find(|setting| settings::is_of_one_engine(setting) && text(matches, &setting.name).is_some());
    given.map_or(Ok(()), |Setting { name, .. }| {
        let run = program.line(RUN, entry.name);
        Err(Failure::wrong_use(format!("a comparison has no --{name}: give it to `{run}`, once for each engine")))
    })
}

impl Action {
    /// The same, with whatever it leaves open taken from a scenario.
    fn over(self, scenario: Scenario) -> Self {
        match self {
            Action::Run(request) => Action::Run(request.over(scenario)),
            Action::Verify(request) => Action::Verify(request.over(scenario)),
            Action::Explain(request) => Action::Explain(request.over(scenario)),
            Action::Compare(request) => Action::Compare(request.over(scenario)),
            other => other,
        }
    }
}

impl Request {
    /// This request, with whatever it leaves open taken from a scenario. If it chooses an engine,
    /// settings that this engine does not use are not taken.
    fn over(self, mut scenario: Scenario) -> Self {
        let typed = self.settings.iter().rev().find(|given| given.name == SYNC).and_then(|given| Synchronisation::parse(&given.text));
        if let Some(engine) = typed {
            // Presets and scenarios for several processes leave the sequential engine to whoever
            // types it.
            let alone = engine == Synchronisation::Sequential;
            scenario.settings.retain(|given| settings::serves(&given.name, engine) && !(alone && given.name == PROCESSES));
        }
        let merged = |below: Vec<GivenSetting>, above: Vec<GivenSetting>| {
            let open = below.into_iter().filter(|given| above.iter().all(|typed| typed.name != given.name));
            open.collect::<Vec<_>>().into_iter().chain(above.iter().cloned()).collect()
        };
        let (settings, parameters) = (merged(scenario.settings, self.settings), merged(scenario.parameters, self.parameters));
        Request { settings, parameters, ..self }
    }
}

/// The values typed for some names, each with its id in clap.
fn typed<'a>(matches: &ArgMatches, names: impl Iterator<Item = (&'a str, String)>) -> Result<Vec<GivenSetting>, Failure> {
    let given = names.filter_map(|(name, id)| Some(GivenSetting { name: name.to_owned(), text: text(matches, &id)?, place: None }));
    let missing = |given: &GivenSetting| Failure::wrong_use(format!("`--{}` needs a value, but `{}` follows it", given.name, given.text));
    given.map(|given| if given.text.starts_with("--") { Err(missing(&given)) } else { Ok(given) }).collect()
}

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.get_one::<String>(id).cloned()
}

fn names_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(std::path::MAIN_SEPARATOR) || std::path::Path::new(name).is_file()
}

fn no_model<C: Catalogue>(program: &Program<C>, verb: &str) -> Failure {
    let known: Vec<[String; 2]> = program.entries.iter().map(|entry| [entry.name.to_owned(), entry.about.to_owned()]).collect();
    let name = &program.name;
    Failure::wrong_use(format!(
        "a model or a scenario file is missing: `{name} {verb} MODEL` or `{name} {verb} SCENARIO.toml`\n\nModels:\n{}\n\
         For more information, try `{name} {verb} --help`.",
        format::columns(&known, 2)
    ))
}

/// An option with `-` for every `_` in its name.
fn with_hyphens(argument: OsString) -> OsString {
    let Some(text) = argument.to_str().filter(|text| text.starts_with("--")) else { return argument };
    match text.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")).into(),
        None => text.replace('_', "-").into(),
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
