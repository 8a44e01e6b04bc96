//! Reports as files: written whole or not at all.

use crate::ReportError;
use crate::page::{self, Neighbour};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use warpline_base::record::RunRecord;

/// The file of a report's directory that holds the whole record.
pub const RECORD_FILE: &str = "run.json";
/// The file of a report's directory that holds the page.
pub const REPORT_FILE: &str = "report.html";

/// Writes `run.json` and `report.html` to `dir`, which is created if needed, and returns the path of the page.
///
/// Both files are complete before they take the place of earlier ones. The page links to `run.json` and to those of the record's tables that are in `dir` by then.
pub fn write(dir: &Path, record: &RunRecord) -> Result<PathBuf, ReportError> {
    fs::create_dir_all(dir).map_err(|source| ReportError::Directory { path: dir.to_owned(), source })?;
    let path = dir.join(RECORD_FILE);
    replace(&path, |file| {
        serde_json::to_writer_pretty(&mut *file, record)?;
        file.write_all(b"\n")
    })?;
    page(dir, record)
}

/// Makes `report.html` in `dir` again from the `run.json` beside it, and returns its path.
pub fn rerender(dir: &Path) -> Result<PathBuf, ReportError> {
    let path = dir.join(RECORD_FILE);
    let json = fs::read(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => ReportError::NoRecord { path: path.clone() },
        _ => ReportError::Read { path: path.clone(), source },
    })?;
    let record: RunRecord = serde_json::from_slice(&json).map_err(|source| ReportError::Broken { path, source })?;
    page(dir, &record)
}

/// Writes the page of `record` to `dir`.
fn page(dir: &Path, record: &RunRecord) -> Result<PathBuf, ReportError> {
    let neighbours = neighbours(dir, record);
    let path = dir.join(REPORT_FILE);
    replace(&path, |file| file.write_all(page::page(record, &neighbours).as_bytes()))?;
    Ok(path)
}

/// The record and the tables that the run wrote, as far as they lie in `dir`.
fn neighbours(dir: &Path, record: &RunRecord) -> Vec<Neighbour> {
    let names = std::iter::once(RECORD_FILE).chain(record.tables.iter().map(String::as_str));
    let found = names.filter_map(|name| {
        let about = fs::metadata(dir.join(name)).ok().filter(fs::Metadata::is_file)?;
        Some(Neighbour { name: name.to_owned(), bytes: about.len() })
    });
    found.collect()
}

/// Puts a new file at `path`, written by `fill`: a temporary file beside it is completed first and then renamed.
fn replace(path: &Path, fill: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>) -> Result<(), ReportError> {
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
        // The draft may not even exist; the first failure is the one that matters.
        let _ = fs::remove_file(&draft);
        ReportError::Write { path: path.to_owned(), source }
    })
}
