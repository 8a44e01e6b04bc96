use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use warpline::Observe;

/// A file to which LPs of any process add lines, once it is settled that their events happen.
#[derive(Clone, Debug)]
pub struct Diary(Arc<PathBuf>);

impl Diary {
    /// A diary in this file, which is created when a line is added.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Diary(Arc::new(path.into()))
    }

    /// Lets an event of `lp` add a line.
    pub fn note(&self, lp: &mut impl Observe, line: String) {
        let path = self.0.clone();
        lp.when_settled(move || {
            let file = File::options().append(true).create(true).open(&*path);
            let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
            written.unwrap_or_else(|cause| panic!("{}: {cause}", path.display()));
        });
    }
}
