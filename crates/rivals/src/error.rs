//! Errors.

use std::fmt;

/// Why Boost refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A segment could not be created or opened.
    Segment {
        /// Its name.
        name: String,
        /// What Boost said.
        reason: String,
    },
    /// A segment has no room for a message, or for its record in a queue.
    Full {
        /// The bytes of the message.
        wanted: usize,
        /// The bytes that are free in the segment, in pieces that may be too small.
        free: u64,
        /// The bytes of the segment.
        bytes: u64,
    },
    /// A lock of the segment has been held for seconds, most likely by a process that was killed.
    /// Nobody can use the segment any more.
    Locked,
}

/// What Boost returned.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Segment { name, reason } => {
                write!(f, "there is no shared memory with the name {name}: {reason}")
            }
            Error::Full { wanted, free, bytes } => write!(
                f,
                "the shared memory is full: of its {bytes} bytes {free} are free, in no piece \
                 large enough for a message of {wanted} bytes. It cannot grow: free messages, or \
                 create it with more bytes"
            ),
            Error::Locked => f.write_str(
                "a lock in shared memory has been held for 5 s: the process that holds it is gone, \
                 or was stopped",
            ),
        }
    }
}

impl std::error::Error for Error {}
