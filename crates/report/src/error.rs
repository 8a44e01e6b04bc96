//! Errors.

use std::io;
use std::path::PathBuf;

/// Why a report could not be made.
///
/// Whatever the reason, a `run.json` or `report.html` that was complete before is either unchanged
/// or complete and new.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The directory of the report cannot be created or read.
    #[error("cannot use {} as the directory of a report: {source}; name a directory that you may \
             write to", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of the report cannot be written.
    #[error(
        "cannot write {}: {source}; make room or get write access, and try again (an earlier \
         finished file of that name is untouched)",
        path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no record in the directory.
    #[error("there is no {}; name a directory in which a run has left its report", path.display())]
    NoRecord {
        /// The file that is missing.
        path: PathBuf,
    },
    /// The record is there and cannot be read.
    #[error("cannot read {}: {source}; get read access, or run the model again to write the record \
             anew", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The record is there but is not valid.
    #[error("{} is not a run record: {source}; correct the file at that place, or run the model \
             again to write it anew", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
}
