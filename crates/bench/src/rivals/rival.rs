//! The carriers of messages, and the uses of messages.

use std::str::FromStr;

/// A way to carry messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rival {
    /// Payloads in memory that processes share, through rings.
    ZeroCopy,
    /// Boost's segment: every message is allocated by its sender and freed by its receiver.
    Boost,
    /// The same, but a message that is passed on stays where it is.
    BoostKept,
    /// Copies through rings.
    Copies,
    /// Copies through MPI.
    Mpi,
}

impl Rival {
    pub(super) const ALL: [(Rival, &'static str); 5] = [
        (Rival::ZeroCopy, "zero-copy"),
        (Rival::Boost, "boost"),
        (Rival::BoostKept, "boost-kept"),
        (Rival::Copies, "copies"),
        (Rival::Mpi, "mpi"),
    ];

    pub(super) fn is_available(self) -> bool {
        match self {
            Rival::ZeroCopy | Rival::Copies => cfg!(target_os = "linux"),
            Rival::Boost | Rival::BoostKept => cfg!(feature = "boost"),
            Rival::Mpi => warpline_mpi::AVAILABLE,
        }
    }
}

/// A use of the bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Each message is new: its sender writes all of it, and its receiver reads every cache line.
    Written,
    /// A message is passed on with its first 8 bytes written, and its receiver reads every cache
    /// line.
    Read,
    /// Likewise, but its receiver reads only those 8 bytes, as in the source.
    Passed,
}

impl Use {
    pub(super) const ALL: [(Use, &'static str, &'static str); 3] = [
        (
            Use::Written,
            "written",
            "all bytes written by the sender, every cache line read by the receiver",
        ),
        (Use::Read, "read", "8 bytes written by the sender, every cache line read by the receiver"),
        (Use::Passed, "passed", "8 bytes written by the sender, and read by the receiver"),
    ];
}

impl FromStr for Rival {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Rival::ALL
            .iter()
            .find(|one| one.1 == name)
            .map(|one| one.0)
            .ok_or_else(|| format!("there is no carrier {name}"))
    }
}

impl FromStr for Use {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Use::ALL
            .iter()
            .find(|one| one.1 == name)
            .map(|one| one.0)
            .ok_or_else(|| format!("bytes are not used as {name}"))
    }
}
