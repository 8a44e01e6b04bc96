//! `warpline calibrate`: measures this machine, and says how far what it predicts is from what is
//! measured.

mod check;
pub(crate) mod request;

use std::path::PathBuf;

use serde_json::{Value, json};
use warpline_calibration::Calibration;

use self::check::{Check, refused};
use self::request::CalibrationRequest;
use crate::failure::Failure;
use crate::models::catalogue::Catalogue;
use crate::models::program::Program;
use crate::output::progress::RunCounter;
use crate::output::{self, format};
use crate::verbs::{CALIBRATE, RUN};

/// Measures this machine, or holds what its file predicts against runs.
pub(crate) fn calibrate<C: Catalogue>(
    program: &Program<C>,
    request: &CalibrationRequest,
) -> Result<(), Failure> {
    let place = match &request.output {
        Some(path) => path.clone(),
        None => warpline_machine::place_of_this().map_err(refused)?,
    };
    if request.check { check(program, request, place) } else { measure(program, request, place) }
}

/// Measures this machine, and writes its file.
fn measure<C: Catalogue>(
    program: &Program<C>,
    request: &CalibrationRequest,
    place: PathBuf,
) -> Result<(), Failure> {
    let mut counter: Option<RunCounter> = None;
    let mut progress = |done: u64, all: u64, what: &str| {
        counter.get_or_insert_with(|| RunCounter::new(all, request.quiet)).show(done, what);
    };
    let calibration = warpline_calibration::calibrate(request.quick, &mut progress)?;
    counter.into_iter().for_each(RunCounter::finish);
    let Calibration { sheet, notes } = calibration;
    sheet.save(&place).map_err(|error| Failure::failed(error.to_string()))?;
    let path = place.display().to_string();
    if request.json {
        let figures: Value = toml::from_str(sheet.text()).unwrap_or_default();
        return output::print_json(&json!({ "file": path, "notes": notes, "machine": figures }));
    }
    let name = match request.output {
        None => warpline_machine::THIS.to_owned(),
        Some(_) => path.clone(),
    };
    let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    let shown = program.entries.last().map_or("MODEL", |entry| entry.name);
    let show = program.line(RUN, shown);
    output::print(&format!(
        "{}\n{notes}written to {path}; `{show} --machine {name}` predicts runs on this machine, \
         and `{} {CALIBRATE} --check` says how well\n",
        sheet.text(),
        program.name
    ))
}

/// Holds predictions against measurements.
fn check<C: Catalogue>(
    program: &Program<C>,
    request: &CalibrationRequest,
    place: PathBuf,
) -> Result<(), Failure> {
    let check = Check::new(program, &place, request.quick)?;
    let mut counter = RunCounter::new(check.runs(), request.quiet);
    if !request.quiet {
        let time = format::duration(check.seconds());
        output::notify(format_args!("{} runs, about {time}", check.runs()));
    }
    let found = check.conduct(&mut |run, what| counter.show(run, what))?;
    counter.finish();
    found.printout(request.quick).print(request.json)
}
