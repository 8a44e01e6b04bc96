//! From bytes to a graph.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Problem, ReadError};
use crate::formats;
use crate::graph::Graph;
use crate::meaning::Given;
use crate::text;

/// The most bytes that a file may have.
pub const MOST_BYTES: u64 = 1 << 30;

/// What is looked at before the rest of a file is read.
const HEAD_BYTES: u64 = 1 << 16;

/// Reads graphs; see the [crate documentation](crate).
#[derive(Clone, Debug, Default)]
pub struct Reader {
    given: Given,
}

impl Reader {
    /// A reader that goes by the names that files use.
    pub fn new() -> Self {
        Reader::default()
    }

    /// Says which attribute of links is their length or delay, and in which unit: `weight:km`,
    /// `length:m`, `cost:ms`; or `none`, so that none is. Empty: by the usual names.
    ///
    /// # Errors
    /// If that is not a name and a unit of length or time.
    pub fn length_from(mut self, given: &str) -> Result<Self, String> {
        self.given.set_length(given)?;
        Ok(self)
    }

    /// Says which attribute of links is their capacity, and in which unit: `bw:Gbps`; or `none`, so
    /// that none is. Empty: by the usual names.
    ///
    /// # Errors
    /// If that is not a name and a unit of bit rates.
    pub fn capacity_from(mut self, given: &str) -> Result<Self, String> {
        self.given.set_capacity(given)?;
        Ok(self)
    }

    /// Reads a graph from text.
    ///
    /// # Errors
    /// If it is in no known format, or has a mistake.
    pub fn read_text(&self, text: &str) -> Result<Graph, ReadError> {
        self.read_bytes(text.as_bytes())
    }

    /// Reads a graph from the bytes of a file.
    ///
    /// # Errors
    /// Like [`read_text`](Self::read_text), and if the bytes are no text.
    pub fn read_bytes(&self, bytes: &[u8]) -> Result<Graph, ReadError> {
        let read =
            || -> Result<Graph, Problem> { formats::read(&text::decode(bytes)?, &self.given) };
        let subject = "the topology";
        let graph = read().map_err(|problem| ReadError::new(subject, problem))?;
        Ok(Graph { subject: subject.to_owned(), ..graph })
    }

    /// Reads a graph from a file.
    ///
    /// # Errors
    /// Like [`read_bytes`](Self::read_bytes), and if the file cannot be read or is too large. The
    /// message names the file.
    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<Graph, ReadError> {
        let subject = format!("the topology file `{}`", path.as_ref().display());
        let read = || -> Result<Graph, Problem> {
            formats::read(&text::decode(&bytes_of(path.as_ref())?)?, &self.given)
        };
        let graph = read().map_err(|problem| ReadError::new(&subject, problem))?;
        Ok(Graph { subject, ..graph })
    }
}

/// The bytes of a file; what is no text is refused early, as it may have no end.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Problem> {
    let failed = |why: std::io::Error| format!("cannot be read: {why}");
    if path.is_dir() {
        return Err("is a folder; name a file in it".into());
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    text::check_head(&bytes)?;
    file.take(MOST_BYTES + 1 - HEAD_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("has more than {} MiB, the most that is read", MOST_BYTES >> 20));
    }
    Ok(bytes)
}
