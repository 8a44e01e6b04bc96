//! The two outputs: stdout for results, stderr for people.

pub(crate) mod format;
pub(crate) mod progress;
pub(crate) mod report_directory;
pub(crate) mod views;

use std::fmt::Display;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use warpline_report::ReportError;
use warpline_run::processes::{is_started_by_another, launch};

/// What is said of states that are equal although their texts are not.
pub(crate) const ORDER_VARIES: &str = "the texts of equal states differ from run to run, in the \
                                       order of hash maps or in addresses; let no handler depend \
                                       on it\n";

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

/// Prints a line for people to stderr; a failure to do so is ignored.
pub(crate) fn notify(text: impl Display) {
    if is_silent() {
        return;
    }
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a line for people to stderr, once for all processes of a run.
pub(crate) fn remark(text: impl Display) {
    if !is_started_by_another() {
        notify(text);
    }
}

/// A failure as programs read it.
pub(crate) fn failure_json(failure: &Failure) -> Value {
    json!({ "error": failure.message, "exit_code": failure.code })
}

/// What a command found, to be printed: as one object for programs, or as text for people.
pub(crate) struct Printout {
    pub(crate) object: Value,
    pub(crate) text: String,
    /// What went wrong, if anything did. It is printed all the same.
    pub(crate) failed: Option<Failure>,
}

impl Printout {
    /// Adds where the report lies, on a line after `gap`, or why there is none.
    pub(crate) fn add_report(&mut self, report: Result<PathBuf, ReportError>, gap: &str) {
        match report {
            Ok(page) => {
                self.text += &format!("{gap}report: {}\n", page.display());
                self.object["report"] = json!(page.display().to_string());
            }
            Err(cause) => self.failed = self.failed.take().or_else(|| Some(cause.into())),
        }
    }

    /// Prints it, and fails if anything went wrong.
    pub(crate) fn print(mut self, as_json: bool) -> Result<(), Failure> {
        if let Some(failure) = &self.failed {
            self.object["error"] = json!(failure.message);
            self.object["exit_code"] = json!(failure.code);
        }
        if as_json {
            print_json(&self.object)?;
        } else {
            print(&self.text)?;
        }
        self.failed.map_or(Ok(()), |failure| Err(failure.printed()))
    }
}
