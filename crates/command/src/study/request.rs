//! How a study is asked for.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use warpline_run::settings::THREADS_MOST;

use super::experiment::Study;
use crate::verbs::STUDY;

/// The arguments of `study`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StudyRequest {
    /// The name of a study; without one, all are listed.
    pub(crate) name: Option<String>,
    pub(crate) quick: bool,
    pub(crate) threads: u32,
    pub(crate) runs: u32,
    pub(crate) report: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

/// The command line of `study`.
pub(crate) fn command(program: &str, studies: &[Study]) -> Command {
    let cores = cores();
    let names: Vec<&str> = studies.iter().map(|study| study.name).collect();
    let which = format!("Which one: {}. Without it, all are listed", names.join(", "));
    Command::new(STUDY)
        .about(
            "Repeat an experiment from the literature on this machine, or list those that there \
                are",
        )
        .arg(Arg::new("NAME").help(which))
        .arg(
            Arg::new("quick")
                .long("quick")
                .action(ArgAction::SetTrue)
                .help("One short run of each kind: whether it works, not how fast it is"),
        )
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("PES")
                .value_parser(value_parser!(u32).range(2..=i64::from(THREADS_MOST)))
                .help(format!(
                    "Number of PEs, 2 or more [default: as many as cores, at least 2; \
                               here {cores}]"
                )),
        )
        .arg(
            Arg::new("runs")
                .long("runs")
                .value_name("RUNS")
                .value_parser(value_parser!(u32).range(1..=1000))
                .help("Runs of each kind, in turn; medians are shown [default: 3, with --quick 1]"),
        )
        .arg(
            Arg::new("report")
                .long("report")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Directory for a report"),
        )
        .after_help(format!(
            "Every run is a process of its own. Others that use the machine meanwhile spoil the \
             figures.\n\n\
             Examples:\n  {program} {STUDY}\n  {program} {STUDY} {0} --quick\n  {program} {STUDY} \
             {0} --report out\n\n\
             Exit status: 0 done, 1 a run failed or gave another answer, 2 usage error.",
            names.first().copied().unwrap_or("NAME")
        ))
}

/// Reads the arguments.
pub(crate) fn request(matches: &ArgMatches) -> StudyRequest {
    let quick = matches.get_flag("quick");
    StudyRequest {
        name: matches.get_one::<String>("NAME").cloned(),
        quick,
        threads: matches.get_one("threads").copied().unwrap_or_else(cores),
        runs: matches.get_one("runs").copied().unwrap_or(if quick { 1 } else { 3 }),
        report: matches.get_one::<PathBuf>("report").cloned(),
        json: matches.get_flag("json"),
        quiet: matches.get_flag("quiet"),
    }
}

fn cores() -> u32 {
    std::thread::available_parallelism()
        .map_or(2, |cores| cores.get() as u32)
        .clamp(2, THREADS_MOST)
}
