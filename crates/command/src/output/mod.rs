//! The two outputs: stdout for results, stderr for people.

pub(crate) mod format;
pub(crate) mod progress;
pub(crate) mod report_directory;

use std::fmt::Display;
use std::io::{BufWriter, ErrorKind, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use warpline_run::processes::{is_started_by_another, launch};

/// Whether a launcher has started this process beside another one, which prints for both.
pub(crate) fn is_silent() -> bool {
    launch().and_then(|launch| launch.rank()).is_some_and(|rank| rank > 0)
}

/// Prints text to stdout. The reader may stop reading at any time.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    if is_silent() {
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to stdout: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Prints one JSON value on one line to stdout, piece by piece: it may be larger than memory. The
/// reader may stop reading at any time.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    if is_silent() {
        return Ok(());
    }
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let written = serde_json::to_writer(&mut stdout, value).map_err(std::io::Error::from);
    match written.and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to stdout: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line for people to stderr, whether or not anybody reads it.
pub(crate) fn notify(text: impl Display) {
    if is_silent() {
        return;
    }
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a line for people only once, however many processes a run has.
pub(crate) fn remark(text: impl Display) {
    if !is_started_by_another() {
        notify(text);
    }
}

/// A failure as programs read it.
pub(crate) fn failure_json(failure: &Failure) -> Value {
    json!({ "error": failure.message, "exit_code": failure.code })
}
