//! What can go wrong.

use std::fmt;

/// Why a call failed.
///
/// After [`Error::Mpi`] the MPI standard promises nothing about MPI, and the other ranks know
/// nothing of it: end all of them with [`Mpi::abort`](crate::Mpi::abort). Whatever has failed once
/// fails in the same way when it is used again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// MPI has been started in this program before. It can be started only once, even if it has
    /// been finished since.
    AlreadyStarted,
    /// MPI found another number of ranks than the launcher said it had started. Most likely the
    /// launcher belongs to another MPI library than the one that this program was built with, so
    /// that each rank takes itself for the only one there is.
    OtherLauncher {
        /// How many programs the launcher has started together.
        launched: u32,
        /// How many MPI knows of.
        found: u32,
    },
    /// MPI reported an error.
    Mpi {
        /// The function of MPI that failed.
        call: &'static str,
        /// Its error code, which depends on the MPI library.
        code: i32,
        /// What MPI says about the code.
        text: String,
    },
    /// The system has no memory for a buffer.
    Memory {
        /// How much was needed, in bytes.
        bytes: usize,
    },
    /// A message is longer than a message may be.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A message arrived with a tag of this crate, but this crate did not send it.
    Foreign {
        /// The rank that sent it.
        source: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::AlreadyStarted => {
                write!(f, "MPI can be started only once per program, and has been")
            }
            Error::OtherLauncher { launched, found } => write!(
                f,
                "the launcher started {launched} programs together, but MPI finds {found}: \
                 start the program with the mpirun of the MPI library that it was built with, \
                 or with an srun that supports this library"
            ),
            Error::Mpi { call, code, text } => write!(f, "{call} failed: {text} (code {code})"),
            Error::Memory { bytes } => {
                write!(f, "the system has no memory for a message buffer of {bytes} bytes")
            }
            Error::TooLong { bytes } => {
                write!(
                    f,
                    "a message of {bytes} bytes is too long: at most {} can be sent at once",
                    crate::LONGEST_MESSAGE
                )
            }
            Error::Foreign { source } => {
                write!(f, "rank {source} sent a message that is not one of Warpline's")
            }
        }
    }
}

impl std::error::Error for Error {}

/// The result of most calls.
pub type Result<T> = std::result::Result<T, Error>;
