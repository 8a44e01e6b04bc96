//! Payloads as bytes, for formats that have them; elsewhere, such as in JSON, as lists of numbers.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Payload;
use crate::MakeRoom;

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Payload;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Payload, E> {
        Ok(bytes.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Payload, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = values.next_element()? {
            bytes.make_room(1, "a payload");
            bytes.push(byte);
        }
        Ok(bytes.into())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use serde::de::value::{BytesDeserializer, Error, SeqDeserializer, U8Deserializer};

    use super::*;

    #[test]
    fn payloads_are_read_from_bytes_and_lists() {
        let bytes = BytesDeserializer::<Error>::new(&[1, 2, 255]);
        let list = SeqDeserializer::<_, Error>::new([1u8, 2, 255].into_iter());
        assert_eq!(
            [Payload::deserialize(bytes).unwrap(), Payload::deserialize(list).unwrap()],
            [[1, 2, 255]; 2].map(|all| all[..].into())
        );
        let refused =
            Payload::deserialize(U8Deserializer::<Error>::new(7)).unwrap_err().to_string();
        assert!(refused.contains("expected bytes"), "{refused}");
    }
}
