//! Tags, and what MPI sees of them.

use std::ffi::c_int;

/// Tells messages of one communicator apart: a receiver gets only those with its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(u16);

impl Tag {
    /// The highest tag.
    pub const MOST: u16 = 16_382;

    /// The tag of collective calls that are made of messages.
    pub(crate) const COLLECTIVE: c_int = 0;

    /// # Panics
    /// If the number is above [`Tag::MOST`].
    pub const fn new(number: u16) -> Tag {
        assert!(number <= Tag::MOST, "tags go up to 16382");
        Tag(number)
    }

    /// The tag of batches, and of announcements of large messages. All MPI libraries have tags up
    /// to 32 767.
    pub(crate) fn batches(self) -> c_int {
        1 + 2 * c_int::from(self.0)
    }

    /// The tag of large messages.
    pub(crate) fn large(self) -> c_int {
        2 + 2 * c_int::from(self.0)
    }
}
