//! Writes and reads events by serde, in the format of `postcard`, with errors that say what to do.

use std::any::type_name;
use std::io;

use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::MakeRoom;

/// What the memory is for, in error messages.
const BYTES: &str = "events as bytes";

/// Why serde attributes of self-describing formats do not work.
const NO_DESCRIPTION: &str = "the format does not describe itself, so serde's `flatten`, \
                              `untagged`, `tag` and `skip_serializing_if` do not work with it";

/// The end of a list of bytes.
struct End<'l>(&'l mut Vec<u8>);

impl Flavor for End<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.0.make_room(data.len(), BYTES);
        self.0.extend_from_slice(data);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.0.make_room(1, BYTES);
        self.0.push(data);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Appends an event.
///
/// # Errors
/// If it cannot be written: why. Nothing is appended then.
pub(crate) fn write<E: Serialize>(event: &E, into: &mut Vec<u8>) -> Result<(), String> {
    let len = into.len();
    postcard::serialize_with_flavor(event, End(into)).map_err(|error| {
        into.truncate(len);
        format!(
            "serde does not write a value of type `{}`: {}",
            type_name::<E>(),
            refusal(event, error)
        )
    })
}

#[cold]
fn refusal<E: Serialize>(event: &E, error: postcard::Error) -> String {
    match error {
        // `postcard` loses the type's own message. Another format keeps it.
        postcard::Error::SerdeSerCustom | postcard::Error::CollectStrError => {
            let other = serde_json::to_writer(io::sink(), event);
            other.err().map_or_else(|| error.to_string(), |error| error.to_string())
        }
        postcard::Error::WontImplement | postcard::Error::SerializeSeqLengthUnknown => {
            NO_DESCRIPTION.to_owned()
        }
        error => error.to_string(),
    }
}

/// Reads an event and removes its bytes from the beginning of `from`.
///
/// # Errors
/// If it cannot be read: why.
pub(crate) fn read<E: DeserializeOwned>(from: &mut &[u8]) -> Result<E, String> {
    match postcard::take_from_bytes(from) {
        Ok((event, rest)) => {
            *from = rest;
            Ok(event)
        }
        Err(error) => {
            let name = type_name::<E>();
            let len = from.len();
            let why = if error == postcard::Error::WontImplement {
                NO_DESCRIPTION.to_owned()
            } else {
                error.to_string()
            };
            Err(format!(
                "serde does not read a value of type `{name}` from the beginning of {len} bytes: \
                 {why}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::ser::Error as _;
    use serde::{Deserialize, Serializer};

    use super::*;
    use crate::{Payload, WireFormat};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Order {
        Many { items: BTreeMap<String, Vec<f64>>, note: Option<Box<Order>> },
        Bytes(Payload, char),
        Nothing,
    }

    fn orders() -> Vec<Order> {
        let items = [("nails".to_owned(), vec![1.5, f64::MAX]), ("ü".to_owned(), Vec::new())];
        let bytes = Order::Bytes(Payload::from(vec![7; 300]), '€');
        vec![
            Order::Many { items: items.into(), note: Some(Box::new(bytes.clone())) },
            Order::Nothing,
            bytes,
        ]
    }

    #[test]
    fn events_with_maps_and_texts_come_back() {
        let wire = WireFormat::serde();
        let mut bytes = Vec::new();
        orders().iter().for_each(|order| wire.write(order, &mut bytes).unwrap());
        let mut rest = &bytes[..];
        assert_eq!((0..3).map(|_| wire.read(&mut rest).unwrap()).collect::<Vec<Order>>(), orders());
        assert!(rest.is_empty() && wire.proof().is_none() && wire.payloads().is_none());
    }

    #[test]
    fn changed_bytes_are_refused_or_read() {
        let wire = WireFormat::<Order>::serde();
        let mut bytes = Vec::new();
        wire.write(&orders()[0], &mut bytes).unwrap();
        for len in 0..bytes.len() {
            let refused = wire.read(&mut &bytes[..len]).unwrap_err();
            assert!(
                refused.contains("Order") && refused.contains(&format!("{len} bytes")),
                "{refused}"
            );
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[len] = byte;
                let _ = wire.read(&mut &changed[..]);
            }
        }
    }

    #[derive(Debug, Deserialize)]
    struct Shy(u8);

    impl Serialize for Shy {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if self.0 < 10 {
                serializer.serialize_u8(self.0)
            } else {
                Err(S::Error::custom(format!("{} is too large", self.0)))
            }
        }
    }

    #[test]
    fn what_serde_does_not_write_is_an_error_in_words() {
        let wire = WireFormat::serde();
        let mut bytes = vec![1];
        let refused = wire.write(&(1u8, Shy(10)), &mut bytes).unwrap_err();
        assert!(refused.contains("Shy)`: 10 is too large"), "{refused}");
        assert_eq!(bytes, [1], "what was written of it is gone");
        wire.write(&(1u8, Shy(9)), &mut bytes).unwrap();
        assert_eq!(bytes, [1, 1, 9]);
    }

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Loose {
        Number(u8),
        Text(String),
    }

    #[test]
    fn what_has_to_describe_itself_is_refused() {
        let wire = WireFormat::serde();
        let mut bytes = Vec::new();
        wire.write(&Loose::Number(3), &mut bytes).unwrap();
        wire.write(&Loose::Text("3".into()), &mut bytes).unwrap();
        let refused = wire.read(&mut &bytes[..]).unwrap_err();
        assert!(refused.contains("`untagged`"), "{refused}");
    }
}
