//! Which values mean the same in every process.
//!
//! Events are written as bytes where PEs share no memory. Portable values are written field by
//! field, without padding. Nothing that is read is trusted: invalid bytes give no value, and a
//! length asks for no memory that the bytes do not fill. The type knows how many bytes a value
//! takes at most, payloads aside, so room is made once and a number is one store: 48 bytes take 3
//! ns to write, where serde and postcard take 60. Values that are not plain data are written by
//! serde and postcard (`WireFormat::serde`).

mod compound;
mod numbers;
mod room;
mod shareable;
#[cfg(all(test, not(loom)))]
mod tests;

use std::marker::PhantomData;

pub use self::room::Room;
pub use self::shareable::Shareable;
use crate::Payload;

/// Plain data, with or without [payloads](Payload): a value that means the same in every process
/// that runs the same program, so that its bytes can be copied, or shared, between processes. It
/// can be [written](Self::write) as bytes that mean the same on every machine, too.
///
/// It is derived: `#[derive(Portable)]` checks that all fields are portable. Numbers, arrays,
/// tuples, options and payloads are; references, boxes, vectors, strings and anything else that
/// holds an address are not, as it leads nowhere in another process.
///
/// ```
/// use warpline_memory::{Payload, Portable};
/// let mut frames = (3u8, [Some(Payload::from(vec![7, 8])), None]);
/// let mut bytes = Vec::new();
/// frames.write(&mut bytes);
/// // The number, and the options: one with a payload of two bytes, and one with nothing.
/// assert_eq!(bytes, [3, 1, 2, 7, 8, 0]);
///
/// let mut rest = &bytes[..];
/// assert_eq!((Portable::read(&mut rest), rest), (Some(frames.clone()), &[][..]));
/// assert_eq!(<(u8, [Option<Payload>; 2])>::read(&mut &bytes[..5]), None);
///
/// let mut lengths = Vec::new();
/// Portable::payloads(&mut frames, &mut |payload| lengths.push(payload.len()));
/// assert_eq!(lengths, [2]);
/// ```
///
/// # Safety
/// All bytes of a value mean the same in every process that runs the same program: it holds no
/// address, except those of payloads, all of which [`payloads`](Self::payloads) passes on.
///
/// [`put`](Self::put) puts no more than [`MOST_BYTES`](Self::MOST_BYTES), and does so by putting
/// other values that keep to this.
pub unsafe trait Portable: Sized {
    /// Whether a value may hold payloads.
    const HAS_PAYLOADS: bool = false;

    /// The most bytes that a value takes when it is written, those of its payloads aside.
    const MOST_BYTES: usize;

    /// Passes all payloads in the value to `visit`.
    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        let _ = visit;
    }

    /// Appends the value as bytes: its fields in their order, without gaps. Numbers have their
    /// size, `usize` that of `u64`, and their least significant byte comes first. The number of a
    /// variant takes one byte, if there are no more than 256, and `Some` or `None` takes one.
    /// Payloads are written with their lengths.
    #[inline]
    fn write(&self, into: &mut Vec<u8>) {
        let mut room = Room::new(into, Self::MOST_BYTES);
        self.put(&mut room);
        room.finish();
    }

    /// Reads a value that was [written](Self::write), and takes its bytes off the beginning of
    /// `from`; `None` if there are too few, or if they are invalid. It never panics.
    fn read(from: &mut &[u8]) -> Option<Self>;

    /// Puts the value into room that has been made for it, or for a value that it is a part of.
    #[doc(hidden)]
    fn put(&self, room: &mut Room<'_>);

    /// Puts the values of an array.
    #[doc(hidden)]
    #[inline(always)]
    fn put_all(values: &[Self], room: &mut Room<'_>) {
        values.iter().for_each(|value| value.put(room));
    }

    /// Reads an array.
    #[doc(hidden)]
    #[inline]
    fn read_all<const N: usize>(from: &mut &[u8]) -> Option<[Self; N]> {
        // After the first that cannot be read, no more are read.
        let mut failed = false;
        let values = [(); N].map(|()| {
            let value = if failed { None } else { Self::read(from) };
            failed |= value.is_none();
            value
        });
        (!failed).then(|| values.map(|value| value.expect("all have been read")))
    }
}

/// The proof that a type is [`Portable`], for code that works with any type and has more to offer
/// to portable ones.
pub struct IsPortable<T>(PhantomData<fn() -> T>);

impl<T> Clone for IsPortable<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for IsPortable<T> {}

impl<T: Portable> IsPortable<T> {
    /// The proof.
    pub const PROOF: Self = IsPortable(PhantomData);
}

impl<T> IsPortable<T> {
    /// The proof for a type about which `Portable` says nothing.
    ///
    /// # Safety
    /// The type meets the conditions of [`Portable`].
    pub const unsafe fn assume() -> Self {
        IsPortable(PhantomData)
    }
}
