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
/// Both files are complete before they take the place of earlier ones. The page links to `run.json` and to every `*.csv` that is in `dir` by then.
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
    let neighbours = neighbours(dir).map_err(|source| ReportError::Directory { path: dir.to_owned(), source })?;
    let path = dir.join(REPORT_FILE);
    replace(&path, |file| file.write_all(page::page(record, &neighbours).as_bytes()))?;
    Ok(path)
}

/// The record and the CSV tables of `dir`, by name. A file whose name is not Unicode cannot be linked and is passed over.
fn neighbours(dir: &Path) -> io::Result<Vec<Neighbour>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let wanted = name == RECORD_FILE || Path::new(&name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        // A file that goes away meanwhile is no reason to fail.
        let Ok(about) = fs::metadata(entry.path()) else { continue };
        if wanted && about.is_file() {
            found.push(Neighbour { name, bytes: about.len() });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
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
        // The draft may not even exist; what matters is the first failure.
        let _ = fs::remove_file(&draft);
        ReportError::Write { path: path.to_owned(), source }
    })
}
