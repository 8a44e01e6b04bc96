/// Whom a message goes to or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A rank of the communicator.
    Rank(u32),
    /// Nobody, as `MPI_PROC_NULL`: such a message takes no time and has no bytes.
    Nobody,
    /// Whoever sends first; see [`ANY_SOURCE`].
    Anybody,
}

/// A receive takes a message of any rank.
pub const ANY_SOURCE: Peer = Peer::Anybody;
/// A receive takes a message with any tag.
pub const ANY_TAG: Tag = Tag(None);

impl From<u32> for Peer {
    fn from(rank: u32) -> Self {
        Peer::Rank(rank)
    }
}

/// `None` is nobody.
impl From<Option<u32>> for Peer {
    fn from(rank: Option<u32>) -> Self {
        rank.map_or(Peer::Nobody, Peer::Rank)
    }
}

/// The tag of messages that a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub(crate) Option<u32>);

impl From<u32> for Tag {
    fn from(tag: u32) -> Self {
        Tag(Some(tag))
    }
}
