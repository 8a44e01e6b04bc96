//! Why a file could not be read.

/// A file that is no topology, or a mistake in one: which file, where, which value, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject} {problem}")]
pub struct ReadError {
    subject: String,
    problem: String,
}

impl ReadError {
    pub(crate) fn new(subject: &str, problem: String) -> Self {
        ReadError { subject: subject.to_owned(), problem }
    }
}

/// What is wrong, in words that follow "the topology file `x`".
pub(crate) type Problem = String;

/// What can be read, for messages.
pub(crate) const EXPECTED: &str = "expected GraphML, GML, SNDlib (XML or native), JSON (node-link, adjacency, Cytoscape or JGF), or a list of edges (CSV)";
