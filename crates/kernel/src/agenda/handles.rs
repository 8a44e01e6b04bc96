//! Handles of events as a [`Store`](super::store::Store) gives them out.

use std::num::NonZeroU32;

use warpline_memory::{Exhausted, Handle};

/// The highest bit of a handle distinguishes a shared buffer from a slot of the pool.
pub(super) const SHARED: u32 = 1 << 31;

/// Where an event lies.
pub(super) enum Location {
    Local(Handle),
    Shared(Handle),
}

#[inline(always)]
pub(super) fn locate(handle: Handle) -> Location {
    let bits = handle.bits();
    if bits & SHARED == 0 {
        Location::Local(handle)
    } else {
        Location::Shared(Handle::from_bits(bits ^ SHARED))
    }
}

/// The handle in a store of a shared buffer.
#[inline(always)]
pub(super) fn shared_handle(buffer: Handle) -> Handle {
    let bits = buffer.bits();
    if bits & SHARED == 0 { Handle::from_bits(bits | SHARED) } else { Exhausted::Numbers.unwind() }
}

/// An optional handle, in four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionalHandle(Option<NonZeroU32>);

impl OptionalHandle {
    #[inline]
    pub(crate) fn some(handle: Handle) -> Self {
        // A handle of all ones stands for none; there are fewer events than that.
        OptionalHandle(NonZeroU32::new(!handle.bits()))
    }

    #[inline]
    pub(crate) fn handle(self) -> Option<Handle> {
        self.0.map(|bits| Handle::from_bits(!bits.get()))
    }
}

/// How often the sending PE had rolled back when it sent a message: distinguishes the message from
/// one that replaces it.
pub(crate) type Incarnation = NonZeroU32;
