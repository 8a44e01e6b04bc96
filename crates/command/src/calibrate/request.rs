//! How a calibration is asked for.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::verbs::{CALIBRATE, RUN};

/// The arguments of `calibrate`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CalibrationRequest {
    /// The machine file, if not that of `--machine this`.
    pub(crate) output: Option<PathBuf>,
    pub(crate) quick: bool,
    /// Whether the file is checked, and not written.
    pub(crate) check: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

/// The command line of `calibrate`.
pub(crate) fn command(program: &str) -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new(CALIBRATE)
        .about("Measure this machine, as a machine that runs can be modelled on")
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The machine file [default: that of `--machine this`, see below]"),
        )
        .arg(flag("quick", "Fewer and shorter runs: seconds, and less precise"))
        .arg(flag(
            "check",
            "Write nothing: hold what the file predicts against runs on this machine",
        ))
        .after_help(format!(
            "The file of `--machine this` is what WARPLINE_MACHINE_THIS names, or \
             warpline/this.toml among the user's configurations.\n\
             Others that use the machine meanwhile spoil the figures.\n\n\
             Examples:\n  {program} {CALIBRATE}\n  {program} {CALIBRATE} --quick --output \
             laptop.toml\n  {program} {CALIBRATE} --check --quick\n  {program} {RUN} phold \
             --machine this\n\n\
             Exit status: 0 done, 1 a run failed, gave another answer, or the file could not be \
             written, 2 usage error."
        ))
}

/// Reads the arguments.
pub(crate) fn request(matches: &ArgMatches) -> CalibrationRequest {
    CalibrationRequest {
        output: matches.get_one::<PathBuf>("output").cloned(),
        quick: matches.get_flag("quick"),
        check: matches.get_flag("check"),
        json: matches.get_flag("json"),
        quiet: matches.get_flag("quiet"),
    }
}
