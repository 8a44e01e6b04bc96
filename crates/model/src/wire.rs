use std::any::type_name;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::{IsPortable, Payload, Portable};

use crate::serial;

/// How the events of a model leave their process: [`Model::wire`](crate::Model::wire), which has an example.
///
/// ```
/// use warpline_model::WireFormat;
/// let (plain, texts) = (WireFormat::<u16>::portable(), WireFormat::<String>::serde());
/// let mut bytes = Vec::new();
/// plain.write(&258, &mut bytes).unwrap();
/// texts.write(&"on".to_owned(), &mut bytes).unwrap();
/// assert_eq!(bytes, [2, 1, 2, b'o', b'n']);
///
/// let mut rest = &bytes[..];
/// assert_eq!((plain.read(&mut rest), texts.read(&mut rest)), (Ok(258), Ok("on".to_owned())));
/// let refused = plain.read(&mut rest).unwrap_err();
/// assert!(refused.contains("`u16`"), "{refused}");
/// ```
pub struct WireFormat<E> {
    proof: Option<IsPortable<E>>,
    payloads: Option<PayloadVisitor<E>>,
    write: fn(&E, &mut Vec<u8>) -> Result<(), String>,
    read: fn(&mut &[u8]) -> Result<E, String>,
}

/// Passes all payloads in an event to somebody.
pub type PayloadVisitor<E> = fn(&mut E, &mut dyn FnMut(&mut Payload));

impl<E> Clone for WireFormat<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for WireFormat<E> {}

impl<E: Portable> WireFormat<E> {
    /// As plain data. Processes on the same machine share it as it lies in memory, with its [payloads](Payload), without a copy; to other
    /// machines it goes [as bytes](Portable::write).
    pub const fn portable() -> Self {
        let payloads: Option<PayloadVisitor<E>> = if E::HAS_PAYLOADS { Some(E::payloads) } else { None };
        WireFormat { proof: Some(IsPortable::PROOF), payloads, write: write_portable, read: read_portable }
    }
}

impl<E: Serialize + DeserializeOwned> WireFormat<E> {
    /// As serde writes it, in the compact format of `postcard`: for events that hold vectors, strings, boxes, maps or whatever else is no plain
    /// data. They are always copied, to whichever process they go.
    ///
    /// The format does not describe itself, so serde's `flatten`, `untagged` and `tag` are not for events.
    pub const fn serde() -> Self {
        WireFormat { proof: None, payloads: None, write: serial::write, read: serial::read }
    }
}

impl<E> WireFormat<E> {
    /// The proof that processes may share events as they lie in memory, if they may.
    pub const fn proof(&self) -> Option<IsPortable<E>> {
        self.proof
    }

    /// Passes on the payloads in an event that processes may share, if such events have any.
    pub const fn payloads(&self) -> Option<PayloadVisitor<E>> {
        self.payloads
    }

    /// Appends an event as bytes.
    ///
    /// # Errors
    /// If serde does not write it: why. Nothing is appended then. Plain data can always be written.
    #[inline]
    pub fn write(&self, event: &E, into: &mut Vec<u8>) -> Result<(), String> {
        (self.write)(event, into)
    }

    /// Reads an event that was written, and takes its bytes off the beginning of `from`.
    ///
    /// # Errors
    /// If there are too few bytes, or they are those of no event. How many have been taken off is not said then.
    #[inline]
    pub fn read(&self, from: &mut &[u8]) -> Result<E, String> {
        (self.read)(from)
    }
}

fn write_portable<E: Portable>(event: &E, into: &mut Vec<u8>) -> Result<(), String> {
    event.write(into);
    Ok(())
}

fn read_portable<E: Portable>(from: &mut &[u8]) -> Result<E, String> {
    let len = from.len();
    E::read(from).ok_or_else(|| format!("{len} bytes do not begin with a value of type `{}`", type_name::<E>()))
}
