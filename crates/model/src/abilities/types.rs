//! What `#[model]` asks the types of a model.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpline_memory::Portable;

use super::comparable::Comparable;
use super::wire::WireFormat;

/// What a type says, where it is named: each constant is the inherent one if the type has the
/// traits, and else that of [`Otherwise`].
///
/// The compiler prefers inherent constants, and looks whether their bounds hold. It knows that only
/// where the type is written out, which is why a macro asks.
pub struct Says<T>(PhantomData<T>);

/// The same for what serde writes: plain data is preferred to it.
pub struct SaysSerde<T>(PhantomData<T>);

/// What a type says that says nothing.
pub trait Otherwise<T> {
    /// It does not leave its process.
    const WIRE: Option<WireFormat<T>> = None;
    /// It is not compared.
    const COMPARABLE: Option<Comparable<T>> = None;
}

impl<T> Otherwise<T> for Says<T> {}
impl<T> Otherwise<T> for SaysSerde<T> {}

impl<T: Portable> Says<T> {
    /// Plain data leaves its process as it is.
    pub const WIRE: Option<WireFormat<T>> = Some(WireFormat::portable());
}

impl<T: Eq + Clone> Says<T> {
    /// What is `Eq` holds no floating-point numbers, of which two may be equal and yet differ.
    pub const COMPARABLE: Option<Comparable<T>> = Some(Comparable::new());
}

impl<T: Serialize + DeserializeOwned> SaysSerde<T> {
    /// What serde reads and writes leaves its process as bytes.
    pub const WIRE: Option<WireFormat<T>> = Some(WireFormat::serde());
}
