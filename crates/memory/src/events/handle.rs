use crate::{Portable, Room};

/// The number of a value in its [`Pool`](crate::Pool), or of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u32);

impl Handle {
    /// The handle as a number.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The handle whose [`bits`](Self::bits) these are.
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        Handle(bits)
    }
}

// SAFETY: it is no address, and takes as many bytes as its number.
unsafe impl Portable for Handle {
    const MOST_BYTES: usize = u32::MOST_BYTES;

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) {
        self.0.put(room);
    }

    #[inline(always)]
    fn read(from: &mut &[u8]) -> Option<Self> {
        u32::read(from).map(Handle)
    }
}
