//! The directory of a report.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// Creates the directory of a report and tries to write there, before any time is spent.
pub(crate) fn prepare(directory: &Path) -> Result<(), Failure> {
    let probe = directory.join(format!(".warpline.{}.tmp", std::process::id()));
    let tried = fs::create_dir_all(directory)
        .and_then(|()| fs::write(&probe, []))
        .and_then(|()| fs::remove_file(&probe));
    tried.map_err(|cause| {
        let directory = directory.display();
        Failure::wrong_use(format!(
            "cannot write a report to {directory}: {cause}; name a directory that you may write to"
        ))
    })
}
