//! What programs send: values, or a size alone.

mod element;
pub(crate) mod parts;
pub(crate) mod reduction;

use warpline_memory::Payload;

pub use self::element::{Datatype, Element};
pub use self::reduction::Op;
use crate::packet::Content;

/// What a message carries: values, bytes, or just a size. A skeleton of a program sends sizes, which
/// take as long and need no memory.
///
/// ```
/// use warpline_ranks::Data;
/// let values = Data::from(&[1.5, 2.5][..]);
/// assert_eq!((values.len(), values.values::<f64>()), (16, vec![1.5, 2.5]));
/// assert_eq!((Data::size(1 << 20).len(), Data::size(0).is_empty()), (1 << 20, true));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub(crate) content: Content,
    pub(crate) datatype: Datatype,
}

impl Data {
    /// So many bytes, which are not there.
    pub const fn size(bytes: u64) -> Self {
        Data { content: Content::Size(bytes), datatype: Datatype::Byte }
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.content.len()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its values.
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// The values.
    ///
    /// # Panics
    /// If it is just a size, or holds values of another type.
    pub fn values<T: Element>(&self) -> Vec<T> {
        let Content::Bytes(bytes) = &self.content else {
            assert!(
                self.is_empty(),
                "{} bytes were sent by size alone: they have no values",
                self.len()
            );
            return Vec::new();
        };
        assert!(
            self.datatype == T::DATATYPE,
            "the message holds values of type {}, not {}",
            self.datatype,
            T::DATATYPE
        );
        bytes.chunks_exact(size_of::<T>()).map(T::read).collect()
    }

    /// The bytes; none if it is just a size.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Size(0) => Some(&[]),
            Content::Size(_) => None,
            Content::Bytes(bytes) => Some(bytes),
        }
    }
}

impl<T: Element> From<&[T]> for Data {
    fn from(values: &[T]) -> Self {
        let bytes = Payload::filled(size_of_val(values), |bytes| {
            for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
                value.write(bytes);
            }
        });
        Data { content: Content::Bytes(bytes), datatype: T::DATATYPE }
    }
}

impl<T: Element> From<&Vec<T>> for Data {
    fn from(values: &Vec<T>) -> Self {
        Data::from(&values[..])
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Data {
    fn from(values: [T; N]) -> Self {
        Data::from(&values[..])
    }
}
