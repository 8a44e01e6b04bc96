//! `warpline study`: experiments from the literature on this machine, with what the source claims
//! beside what was measured.

mod experiment;
mod figures;
mod findings;
mod report;
pub(crate) mod request;
mod text;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

pub use self::experiment::{Measured, Study, StudyCase, StudyFigure, StudyPlace};
use self::findings::Findings;
use self::request::StudyRequest;
use crate::failure::Failure;
use crate::output::progress::RunCounter;
use crate::output::report_directory::prepare;
use crate::output::{self, Printout, format};
use crate::process::child;
use crate::process::ways::{Launcher, Placement};
use crate::verbs::{RUN, STUDY};
use warpline_run::{nearest, provenance};

/// Lists the studies, or does one of them.
pub(crate) fn study(
    program: &str,
    studies: &[Study],
    request: &StudyRequest,
) -> Result<(), Failure> {
    let Some(name) = &request.name else { return list(program, studies, request) };
    let Some(study) = studies.iter().find(|study| study.name == name) else {
        let names: Vec<&str> = studies.iter().map(|study| study.name).collect();
        let hint = format::did_you_mean(nearest(name, names.iter().copied()).as_deref());
        return Err(Failure::wrong_use(format!(
            "there is no study `{name}`{hint} (there are: {})",
            names.join(", ")
        )));
    };
    conduct(study, request)
}

fn list(program: &str, studies: &[Study], request: &StudyRequest) -> Result<(), Failure> {
    let &StudyRequest { threads, json, .. } = request;
    if json {
        let entry = |study: &Study| {
            json!({
                "name": study.name, "about": study.about, "source": study.source, "claim": study.claim, "model": study.model,
                "runs": study.runs(threads, 3, false), "seconds": study.runs(threads, 3, false) as f64 * study.seconds[0],
            })
        };
        return output::print_json(
            &json!({ "studies": studies.iter().map(entry).collect::<Vec<_>>() }),
        );
    }
    let row = |study: &Study| {
        let full = study.time(threads, 3, false);
        let quick = study.time(threads, 1, true);
        [study.name.to_owned(), format!("{full}, --quick {quick}"), study.about.to_owned()]
    };
    let head = ["study", "takes about", "what"].map(str::to_owned);
    let rows: Vec<[String; 3]> = std::iter::once(head).chain(studies.iter().map(row)).collect();
    output::print(&format!(
        "{}\n`{program} {STUDY} NAME` does one of them.\n",
        format::columns(&rows, 0)
    ))
}

/// Runs all variants under all conditions, in turn, and prints what was found.
fn conduct(study: &Study, request: &StudyRequest) -> Result<(), Failure> {
    request.report.as_deref().map_or(Ok(()), prepare)?;
    let started = Instant::now();
    let launcher = Launcher::find();
    let no_launcher = launcher.as_ref().err().map(String::as_str);
    let mut findings = Findings::of(study, request.threads, request.quick, no_launcher);
    if let Some(why) = findings.nothing_left() {
        let name = study.name;
        return Err(Failure::failed(format!("all of the study `{name}` is about ranks: {why}")));
    }
    if !request.quiet {
        announce(study, &findings, request);
    }
    measure(&mut findings, request, &launcher)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut printout = Printout {
        object: findings.json(request.quick, cores),
        text: findings.text(request.quick, cores),
        failed: findings.failure(),
    };
    if let Some(directory) = &request.report {
        let warning = printout.failed.as_ref().map(|failure| failure.message.clone());
        let provenance = provenance::of(started, request.threads as usize);
        let figures = printout.object.clone();
        let record = findings.record(figures, warning, provenance, request.quick, cores);
        printout.add_report(warpline_report::write_study(directory, &record), "");
    }
    printout.print(request.json)
}

/// Tells people how much there is to do, and what is left out.
fn announce(study: &Study, findings: &Findings, request: &StudyRequest) {
    let &StudyRequest { threads, runs, quick, .. } = request;
    let all = study.runs(threads, runs, quick);
    let time = study.time(threads, runs, quick);
    output::notify(format_args!("{}: {all} runs, about {time}", study.name));
    if let Some(skipped) = findings.skipped() {
        output::notify(format_args!("note: {skipped}"));
    }
}

/// Runs every case as often as asked.
fn measure(
    findings: &mut Findings,
    request: &StudyRequest,
    launcher: &Result<Launcher, String>,
) -> Result<(), Failure> {
    let study = findings.study;
    let executable = child::executable()?;
    let runs = study.runs(request.threads, request.runs, request.quick);
    let mut counter = RunCounter::new(runs, request.quiet);
    let mut turn = 0;
    for _ in 0..study.times(request.threads, request.runs) {
        findings.each(|condition, variant, placement| {
            let cases = [condition, variant];
            let command = command_of(&executable, study, request, cases, placement, launcher);
            let alone = if placement.pes() == 1 { ", one PE" } else { "" };
            let run = command.and_then(|mut command| {
                child::run(&mut command, || {
                    counter.show(turn, &format!("{}, {}{alone}", condition.name, variant.name))
                })
            });
            turn += 1;
            run.map_err(|failure| Failure {
                message: format!("{}, {}: {}", condition.name, variant.name, failure.message),
                ..failure
            })
        })?;
    }
    counter.finish();
    Ok(())
}

/// The command line of one run of a condition and a variant.
fn command_of(
    executable: &Path,
    study: &Study,
    request: &StudyRequest,
    cases: [&StudyCase; 2],
    placement: Placement,
    launcher: &Result<Launcher, String>,
) -> Result<Command, Failure> {
    let mut command = placement.command(executable, launcher).map_err(Failure::failed)?;
    let model = cases.iter().find_map(|case| case.model).unwrap_or(study.model);
    command.args([RUN, model, "--json", "--quiet"]);
    command.args(placement.arguments());
    let arguments = || cases.into_iter().flat_map(|case| &case.arguments);
    let is_end = |argument: &&String| argument.starts_with("--end=");
    // A case may have an end of its own, except with `--quick`.
    match arguments().find(is_end).filter(|_| !request.quick) {
        Some(end) => command.arg(end),
        None => command.arg(format!("--end={}", study.ends[usize::from(request.quick)])),
    };
    command.args(arguments().filter(|argument| !is_end(argument)));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::findings::tests::STUDY;
    use super::*;
    use crate::process::ways::Way;
    use crate::process::ways::tests::{launcher, typed};

    #[test]
    fn cases_say_how_they_are_launched() {
        let request = StudyRequest {
            name: None,
            quick: true,
            threads: 4,
            runs: 1,
            report: None,
            json: true,
            quiet: true,
        };
        let line =
            |condition: &StudyCase, variant: &StudyCase, launcher: Result<Launcher, String>| {
                let placement = variant.placement(condition, 4);
                let command = command_of(
                    Path::new("warpline"),
                    &STUDY,
                    &request,
                    [condition, variant],
                    placement,
                    &launcher,
                );
                command.map(|command| typed(&command)).map_err(|failure| failure.message)
            };
        let room = StudyCase::new("room", ["--room"]);
        let spring = StudyCase::new("spring", ["--by=spring"]);
        let rest = "--end=1 --room --by=spring";
        let run = "run clock --json --quiet";
        assert_eq!(
            line(&room, &spring, launcher()),
            Ok(format!("warpline {run} --processes=1 --threads=4 {rest}"))
        );
        let processes = spring.clone().by(Way::Processes);
        assert_eq!(
            line(&room, &processes, launcher()),
            Ok(format!("warpline {run} --processes=4 --threads=1 {rest}"))
        );
        assert_eq!(
            line(&room.clone().pes(8), &processes, launcher()),
            Ok(format!("warpline {run} --processes=8 --threads=1 {rest}"))
        );
        let ranks = spring.clone().by(Way::MpiCopies).processes(2);
        let launched = "mpirun --oversubscribe --bind-to none -np 2 warpline";
        assert_eq!(
            line(&room, &ranks, launcher()),
            Ok(format!("{launched} {run} --processes=2 --threads=2 --zero-copy=no {rest}"))
        );
        assert_eq!(line(&room, &ranks, Err("no launcher".into())), Err("no launcher".into()));
        // A variant has precedence over its condition.
        let condition = room.by(Way::Mpi).pes(3);
        assert_eq!(spring.placement(&condition, 4).name(), "3 ranks by MPI");
        assert_eq!(processes.pes(2).placement(&condition, 4).name(), "2 processes");
    }
}
