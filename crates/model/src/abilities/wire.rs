use std::any::type_name;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::{IsPortable, Payload, Portable};

use super::serial;

/// How the events of a model leave their process.
///
/// ```
/// use warpline_model::WireFormat;
/// let plain = WireFormat::<u16>::portable();
/// let texts = WireFormat::<String>::serde();
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

/// Passes all payloads in an event to a function.
pub type PayloadVisitor<E> = fn(&mut E, &mut dyn FnMut(&mut Payload));

impl<E> Clone for WireFormat<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for WireFormat<E> {}

impl<E: Portable> WireFormat<E> {
    /// Events are plain data. Processes on one machine share them as they lie in memory, with their
    /// [payloads](Payload), without a copy. To other machines they go [as bytes](Portable::write).
    pub const fn portable() -> Self {
        let payloads: Option<PayloadVisitor<E>> =
            if E::HAS_PAYLOADS { Some(E::payloads) } else { None };
        WireFormat {
            proof: Some(IsPortable::PROOF),
            payloads,
            write: write_portable,
            read: read_portable,
        }
    }
}

impl<E: Serialize + DeserializeOwned> WireFormat<E> {
    /// Events are written by serde, in the compact format of `postcard`: for events that hold
    /// vectors, strings, boxes, maps or anything else that is not plain data. They are always
    /// copied.
    ///
    /// The format does not describe itself, so events cannot use serde's `flatten`, `untagged` and
    /// `tag`. Every event must be the same after it is written and read back. If writing or reading
    /// fails or panics, and the event happens, that is a mistake of the model, and the run ends
    /// there. Events that are undone may fail.
    pub const fn serde() -> Self {
        WireFormat { proof: None, payloads: None, write: serial::write, read: serial::read }
    }
}

impl<E> WireFormat<E> {
    /// The proof that processes may share events as they lie in memory; `None` if they may not.
    pub const fn proof(&self) -> Option<IsPortable<E>> {
        self.proof
    }

    /// Visits the payloads in an event; `None` if events have none, or are written by serde.
    pub const fn payloads(&self) -> Option<PayloadVisitor<E>> {
        self.payloads
    }

    /// Appends an event as bytes.
    ///
    /// # Errors
    /// If serde cannot write it: why. Nothing is appended then. Plain data can always be written.
    #[inline]
    pub fn write(&self, event: &E, into: &mut Vec<u8>) -> Result<(), String> {
        (self.write)(event, into)
    }

    /// Reads an event and removes its bytes from the beginning of `from`.
    ///
    /// # Errors
    /// If there are too few bytes, or they are not those of an event. Some bytes may have been
    /// removed then.
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
    E::read(from).ok_or_else(|| {
        format!("{len} bytes do not begin with a value of type `{}`", type_name::<E>())
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::num::NonZero;

    use proptest::prelude::*;
    use warpline_base::{EventKey, LpId, Priority, Sequence, VirtualTime};

    use crate::Portable;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Portable)]
    struct Unit;

    #[derive(Clone, Debug, PartialEq, Portable)]
    enum Parcel<T, const WORDS: usize> {
        Letter { weight: f64, r#type: T },
        Freight(Payload, Option<NonZero<u16>>, [u32; WORDS]),
        Key(EventKey, char, bool),
        Nothing,
    }

    #[derive(Debug, PartialEq, Portable)]
    enum Never {}

    type Any = Parcel<(Unit, i8), 3>;

    fn parcel() -> impl Strategy<Value = Any> {
        let key = (0.0..1e9, any::<u32>(), any::<i8>(), any::<u64>()).prop_map(
            |(time, step, level, bits)| EventKey {
                time: VirtualTime::new(time).expect("it is a time"),
                step,
                priority: Priority::new(level),
                sender: LpId(bits as u32),
                sequence: Sequence::from_bits(bits),
            },
        );
        prop_oneof![
            (-1e9..1e9, any::<i8>())
                .prop_map(|(weight, number)| Parcel::Letter { weight, r#type: (Unit, number) }),
            (prop::collection::vec(any::<u8>(), 0..300), any::<u16>(), any::<[u32; 3]>()).prop_map(
                |(bytes, number, words)| Parcel::Freight(bytes.into(), NonZero::new(number), words)
            ),
            (key, any::<char>(), any::<bool>())
                .prop_map(|(key, letter, is_last)| Parcel::Key(key, letter, is_last)),
            Just(Parcel::Nothing),
        ]
    }

    proptest! {
        #[test]
        fn derived_types_come_back(parcels in prop::collection::vec(parcel(), 0..5)) {
            let wire = WireFormat::portable();
            let mut bytes = Vec::new();
            parcels.iter().for_each(|parcel| wire.write(parcel, &mut bytes).unwrap());
            let mut rest = &bytes[..];
            for parcel in &parcels {
                prop_assert_eq!(&wire.read(&mut rest).unwrap(), parcel);
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn cut_and_changed_bytes_never_panic(parcel in parcel(), place: prop::sample::Index, byte: u8) {
            let mut bytes = Vec::new();
            parcel.write(&mut bytes);
            for len in 0..bytes.len() {
                prop_assert_eq!(Any::read(&mut &bytes[..len]), None);
            }
            *place.get_mut(&mut bytes) = byte;
            if let Some(changed) = Any::read(&mut &bytes[..]) {
                let mut again = Vec::new();
                changed.write(&mut again);
                prop_assert_eq!(format!("{:?}", Any::read(&mut &again[..]).unwrap()), format!("{changed:?}"));
            }
        }

        #[test]
        fn any_bytes_are_a_value_or_none(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Any::read(&mut &bytes[..]);
            let _ = <[Option<Any>; 4]>::read(&mut &bytes[..]);
            prop_assert_eq!(Never::read(&mut &bytes[..]), None);
        }
    }

    #[test]
    fn room_is_made_for_the_largest_variant() {
        fn most<T: Portable + Debug>() -> usize {
            T::MOST_BYTES
        }
        assert_eq!(
            (most::<Unit>(), most::<Never>(), most::<Parcel<u8, 0>>(), most::<Parcel<u8, 9>>()),
            (0, 1, 31, 50)
        );
    }
}
