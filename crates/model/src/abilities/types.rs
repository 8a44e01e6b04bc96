//! What `#[model]` finds out about the types of a model.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::Portable;

use super::comparable::Comparable;
use super::wire::WireFormat;

/// What a type says: each constant is the inherent one if the type implements the traits, otherwise
/// that of [`DefaultAbilities`].
///
/// The compiler prefers inherent constants whose bounds hold. It can tell only where the type is
/// written out, so a macro has to ask.
pub struct TypeAbilities<T>(PhantomData<T>);

/// Like [`TypeAbilities`], for types that serde reads and writes. Plain data is preferred to these.
pub struct SerdeAbilities<T>(PhantomData<T>);

/// The constants of a type without the traits.
pub trait DefaultAbilities<T> {
    /// Values do not leave their process.
    const WIRE: Option<WireFormat<T>> = None;
    /// Values are not compared.
    const COMPARABLE: Option<Comparable<T>> = None;
}

impl<T> DefaultAbilities<T> for TypeAbilities<T> {}
impl<T> DefaultAbilities<T> for SerdeAbilities<T> {}

impl<T: Portable> TypeAbilities<T> {
    /// Plain data leaves its process as it is.
    pub const WIRE: Option<WireFormat<T>> = Some(WireFormat::portable());
}

impl<T: Eq + Clone> TypeAbilities<T> {
    /// An `Eq` type holds no floating-point numbers, which may be equal and yet differ.
    pub const COMPARABLE: Option<Comparable<T>> = Some(Comparable::new());
}

impl<T: Serialize + DeserializeOwned> SerdeAbilities<T> {
    /// Values that serde reads and writes leave their process as bytes.
    pub const WIRE: Option<WireFormat<T>> = Some(WireFormat::serde());
}
