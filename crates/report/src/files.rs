//! Reports as files: written whole or not at all.

use crate::ReportError;
use crate::page::{self, Neighbour};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use warpline_record::{RunRecord, StudyRecord};

/// The file of a report's directory that holds the whole record of a run or study.
pub const RECORD_FILE: &str = "run.json";
/// The file of a report's directory that holds the page.
pub const REPORT_FILE: &str = "report.html";

/// Writes `run.json` and `report.html` to `dir`, which is created if needed, and returns the path
/// of the page.
///
/// Both files are complete before they take the place of earlier ones. The page links to `run.json`
/// and to those of the record's tables that are in `dir` by then.
pub fn write(dir: &Path, record: &RunRecord) -> Result<PathBuf, ReportError> {
    keep(dir, record)?;
    page_of_run(dir, record)
}

/// Writes `run.json` and `report.html` of a study: a comparison, an explanation, or an experiment.
pub fn write_study(dir: &Path, record: &StudyRecord) -> Result<PathBuf, ReportError> {
    keep(dir, record)?;
    page_of_study(dir, record)
}

/// Writes a record.
fn keep(dir: &Path, record: &impl Serialize) -> Result<(), ReportError> {
    fs::create_dir_all(dir)
        .map_err(|source| ReportError::Directory { path: dir.to_owned(), source })?;
    replace(&dir.join(RECORD_FILE), |file| {
        serde_json::to_writer_pretty(&mut *file, record)?;
        file.write_all(b"\n")
    })
}

/// The field that only the record of a study has.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    study: Option<IgnoredAny>,
}

/// Makes `report.html` in `dir` again from the `run.json` beside it, and returns its path.
pub fn rerender(dir: &Path) -> Result<PathBuf, ReportError> {
    let path = dir.join(RECORD_FILE);
    let json = fs::read(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => ReportError::NoRecord { path: path.clone() },
        _ => ReportError::Read { path: path.clone(), source },
    })?;
    let broken = |source| ReportError::Broken { path, source };
    let is_study = serde_json::from_slice::<Kind>(&json).is_ok_and(|kind| kind.study.is_some());
    if is_study {
        page_of_study(dir, &serde_json::from_slice(&json).map_err(broken)?)
    } else {
        page_of_run(dir, &serde_json::from_slice(&json).map_err(broken)?)
    }
}

/// Writes the page of a run.
fn page_of_run(dir: &Path, record: &RunRecord) -> Result<PathBuf, ReportError> {
    page(dir, &page::page(record, &neighbours(dir, &record.tables)))
}

/// Writes the page of a study.
fn page_of_study(dir: &Path, record: &StudyRecord) -> Result<PathBuf, ReportError> {
    page(dir, &page::study(record, &neighbours(dir, &[])))
}

fn page(dir: &Path, html: &str) -> Result<PathBuf, ReportError> {
    let path = dir.join(REPORT_FILE);
    replace(&path, |file| file.write_all(html.as_bytes()))?;
    Ok(path)
}

/// The record and the tables of the run that are in `dir`.
fn neighbours(dir: &Path, tables: &[String]) -> Vec<Neighbour> {
    let names = std::iter::once(RECORD_FILE).chain(tables.iter().map(String::as_str));
    let found = names.filter_map(|name| {
        let about = fs::metadata(dir.join(name)).ok().filter(fs::Metadata::is_file)?;
        Some(Neighbour { name: name.to_owned(), bytes: about.len() })
    });
    found.collect()
}

/// Puts a new file at `path`: `fill` writes a temporary file beside it, which is then renamed.
fn replace(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>,
) -> Result<(), ReportError> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let draft = path.with_file_name(name);
    let finish = || {
        let mut file = io::BufWriter::new(File::create(&draft)?);
        fill(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&draft, path)
    };
    finish().map_err(|source| {
        // The draft may not exist, and only the first failure matters.
        let _ = fs::remove_file(&draft);
        ReportError::Write { path: path.to_owned(), source }
    })
}
