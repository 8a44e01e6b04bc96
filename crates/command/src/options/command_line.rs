//! The command line as clap reads it, built from the catalogue.

use std::path::PathBuf;

use super::{completions, help, presets, short_help};
use crate::models::catalogue::Catalogue;
use crate::models::page;
use crate::models::program::Program;
use crate::output::format;
use crate::verbs::{COMPARE, EXPLAIN, NEW, RUN, TORTURE, VERIFY};
use crate::{calibrate, new, settings, study};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};
use warpline_run::ParameterSpec;
use warpline_run::settings::{RUN as RUN_HEADING, Setting};

/// The option that names presets.
pub(super) const PRESET: &str = "preset";
/// The scenario file of a program with one model.
pub(super) const SCENARIO_FILE: &str = "scenario:file";

/// The option that explains everything.
pub(crate) const HELP_ALL: &str = "help-all";

/// The whole command line.
pub(super) fn command<C: Catalogue>(program: &Program<C>) -> Command {
    let Program { name, entries, .. } = program;
    let shown = entries.last().map_or("MODEL", |entry| entry.name);
    let show = format!(
        "{name} models show{}",
        if program.only().is_some() { String::new() } else { format!(" {shown}") }
    );
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
        .arg(
            Arg::new("DIR")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The directory given to `run --report`"),
        )
        .arg(json());
    let root = Command::new(name.clone())
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .arg(help_flag("help", ArgAction::HelpShort, "Print help").short('h'))
        .arg(help_flag(HELP_ALL, ArgAction::HelpLong, "Print help with every setting, in full"))
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommands([
            models,
            run(program),
            verify(program),
            torture(program),
            explain(program),
            compare(program),
            report,
            completions::command(name),
        ])
        .subcommands(program.new.then(|| new::command(name).arg(json())))
        .subcommands(
            program.new.then(|| calibrate::request::command(name).arg(json()).arg(quiet())),
        )
        .subcommands(
            (!program.studies.is_empty())
                .then(|| study::request::command(name, program.studies).arg(json()).arg(quiet())),
        );
    match program.only() {
        Some(entry) => root
            .about(format!("{}: {}\nA simulation on Warpline.", entry.name, entry.about))
            .after_help(format!("Examples:\n  {}", page::examples(program, entry).join("\n  "))),
        None => root.about("Warpline: a discrete event simulation engine").after_help(format!(
            "Examples:\n  {name} models\n  {name} run {first}\n  {name} run {shown} --help\n  \
             {name} compare {first}{new}",
            first = entries.first().map_or("MODEL", |entry| entry.name),
            new = if program.new { format!("\n  {name} {NEW} corner-shop") } else { String::new() }
        )),
    }
}

fn run<C: Catalogue>(program: &Program<C>) -> Command {
    let examples = examples(
        program,
        RUN,
        &["--end 50 --report out", "--sync optimistic --json"],
        Some("--seed 2"),
    );
    let command =
        of_models(program, RUN).about("Run a model, or a scenario file").arg(json()).arg(quiet());
    let status = "0 done, 1 the simulation or its report failed, 2 usage error (nothing was \
                  simulated)";
    helped(program, command, [help::SCENARIO, &examples, status])
}

fn verify<C: Catalogue>(program: &Program<C>) -> Command {
    let examples =
        examples(program, VERIFY, &["", "--undo copy --end 10", "--time-limit 60"], None);
    let command = of_models(program, VERIFY)
        .about(
            "Try out a model: events forward, undone, compared, and forward again; and the same \
                run in a second process",
        )
        .arg(json());
    let status = "0 what was tried was undone and repeated exactly, and both processes have the \
                  same answer, 1 not so, 2 usage error";
    helped(program, command, [help::VERIFICATION, &examples, status])
}

fn torture<C: Catalogue>(program: &Program<C>) -> Command {
    let examples = examples(
        program,
        TORTURE,
        &["--seconds 30", "--hours 1 --pes 500", "--sync optimistic --undo copy --seed 7"],
        None,
    );
    let command = of_models(program, TORTURE)
        .about(
            "Search for a schedule that changes the answer: PEs in a virtual cluster, late \
                messages, random settings",
        )
        .arg(json())
        .arg(quiet());
    let status = "0 nothing was found, 1 a schedule had another answer, 2 usage error, 130 or 143 \
                  ended early by a signal, and nothing was found";
    helped(program, command, [help::SEARCH, &examples, status])
}

fn explain<C: Catalogue>(program: &Program<C>) -> Command {
    let examples = examples(
        program,
        EXPLAIN,
        &["", "--end 10 --event-cost measured", "--end 50 --json"],
        None,
    );
    let command = of_models(program, EXPLAIN)
        .about(
            "How fast could the model be on more cores, and what stands in the way? One sequential \
             run finds out",
        )
        .arg(json())
        .arg(quiet());
    let status = "0 done, 1 the simulation failed, 2 usage error";
    helped(program, command, [help::EXPLANATION, &examples, status])
}

fn compare<C: Catalogue>(program: &Program<C>) -> Command {
    let outputs = settings::of_run().into_iter().filter(settings::is_of_one_engine);
    let examples = examples(
        program,
        COMPARE,
        &["--end 20 --threads 4 --runs 5 --json", "--with optimistic --runs 9"],
        Some("--undo copy"),
    );
    let command = of_models(program, COMPARE)
        .about(
            "Run a model on several engines in turn: is the answer the same, how much faster \
                are they, how much memory do they take?",
        )
        .arg(json())
        .arg(quiet())
        // Hidden, and accepted only to be refused with advice.
        .args(outputs.map(|output| setting(&output).hide(true)));
    let status = "0 all runs gave the same answer, 1 they did not or one failed, 2 usage error";
    helped(program, command, [help::COMPARISON, &examples, status])
}

/// A command of models with what its help says at the end: more about it, examples, and what the
/// exit status means. The short help has the examples, and the names of all that it leaves out.
fn helped<C: Catalogue>(
    program: &Program<C>,
    command: Command,
    [more, examples, status]: [&str; 3],
) -> Command {
    let verb = command.get_name().to_owned();
    let rest = short_help::rest(&verb, &format!("{} {verb}", program.name));
    command
        .after_help([examples, &rest].join("\n\n").trim_end().to_owned())
        .after_long_help(format!("{more}\n\n{examples}\n\nExit status: {status}."))
}

fn help_flag(name: &'static str, action: ArgAction, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(action).help(help).global(true)
}

/// Example lines: each model in turn with one of these options, and a scenario.
fn examples<C: Catalogue>(
    program: &Program<C>,
    verb: &str,
    options: &[&str],
    scenario: Option<&str>,
) -> String {
    let models = program.entries.iter().rev().cycle();
    let lines = options
        .iter()
        .zip(models)
        .map(|(options, entry)| format!("{} {options}", program.line(verb, entry.name)));
    let scenario =
        scenario.map(|options| format!("{} {verb} scenario.toml {options}", program.name));
    let lines: Vec<String> =
        lines.chain(scenario).map(|line| format!("  {}", line.trim_end())).collect();
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
    let help = format!(
        "Settings or parameters under one name; what else is typed overrides them [of engines: {}]",
        names.join(", ")
    );
    let about = page::presets(presets::OF_ENGINES, Some(100));
    Arg::new(PRESET)
        .long(PRESET)
        .value_name("NAME,...")
        .action(ArgAction::Append)
        .value_delimiter(',')
        .help_heading(RUN_HEADING)
        .global(true)
        .long_help(format!(
            "{help}.\nThe last one named counts. `models show` lists those of a model.\n\n{about}"
        ))
        .help(help)
}

/// A subcommand that takes a model or a scenario.
fn of_models<C: Catalogue>(program: &Program<C>, verb: &'static str) -> Command {
    let all = Command::new(verb)
        .args(
            settings::of(verb)
                .iter()
                .map(|one| setting(one).hide_short_help(!short_help::shows(one))),
        )
        .arg(preset())
        .disable_help_subcommand(true);
    let name = &program.name;
    if let Some(only) = program.only() {
        let scenario = Arg::new(SCENARIO_FILE)
            .value_name("SCENARIO.toml")
            .help("A scenario file (default: none)");
        let usage = format!("{name} {verb} [SCENARIO.toml] [--PARAMETER VALUE]... [OPTIONS]");
        return all.args(only.parameters.iter().map(parameter)).arg(scenario).override_usage(usage);
    }
    let models = program.entries.iter().map(|entry| {
        let end = format!(
            "By default, a run ends at model time {}.",
            format::time(entry.default_end, entry.time_unit)
        );
        let examples = page::examples(program, entry);
        let last = format!("{end}\n\nExamples:\n  {}", examples.join("\n  "));
        let rest = short_help::rest(verb, &format!("{name} {verb} {}", entry.name));
        Command::new(entry.name)
            .about(entry.about)
            .after_help([last.as_str(), &rest].join("\n\n").trim_end().to_owned())
            .after_long_help(last)
            .args(entry.parameters.iter().map(parameter))
    });
    all.subcommands(models)
        .allow_external_subcommands(true)
        .subcommand_help_heading("Models")
        .subcommand_value_name("MODEL | SCENARIO.toml")
        .override_usage(format!(
            "{name} {verb} <MODEL | SCENARIO.toml> [--PARAMETER VALUE]... [OPTIONS]"
        ))
}

fn parameter(spec: &ParameterSpec) -> Arg {
    let default = if spec.default.is_empty() {
        "none".to_owned()
    } else {
        format!("{} {}", spec.default, spec.unit)
    };
    let takes =
        if spec.range.starts_with('[') { format!("in {}", spec.range) } else { spec.range.clone() };
    Arg::new(parameter_id(spec))
        .long(spec.name.clone())
        .value_name(if spec.range.starts_with("one of ") { "WORD" } else { "VALUE" })
        .help(format!("{} (default {}; {takes})", spec.meaning, default.trim_end()))
        .help_heading("Model parameters")
        .allow_hyphen_values(true)
}

/// The id of a parameter in clap. No setting has a colon in its name.
pub(super) fn parameter_id(spec: &ParameterSpec) -> String {
    format!("parameter:{}", spec.name)
}

fn setting(setting: &Setting) -> Arg {
    let Setting { name, placeholder, words, range, default, meaning, hurts, .. } = setting;
    let default = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
    let possible = if words.is_empty() {
        String::new()
    } else {
        format!(" [possible values: {}]", words.join(", "))
    };
    let takes = if words.is_empty() { format!("\nTakes {range}.") } else { String::new() };
    let help = format!("{meaning}{default}{possible}");
    let arg = Arg::new(name.clone())
        .long(name.clone())
        .value_name(*placeholder)
        .help_heading(setting.heading)
        .global(true);
    let arg = arg.long_help(format!("{help}{takes}\nWhen it hurts: {hurts}.")).help(help);
    match words {
        [] => arg.allow_hyphen_values(true),
        words => arg.value_parser(PossibleValuesParser::new(*words)).hide_possible_values(true),
    }
}
