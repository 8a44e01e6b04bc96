/// The name of what mailboxes hold, in error messages.
pub(crate) const UNREAD: &str = "messages that have yet to be received";

/// How much rings hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// As much as makes them fast.
    #[default]
    Ample,
    /// The least possible: to test what happens to messages that find no room.
    Least,
}

impl Room {
    /// How many places a ring has that usually has this many.
    pub fn places(self, usual: usize) -> usize {
        match self {
            Room::Ample => usual,
            Room::Least => 2,
        }
    }
}
