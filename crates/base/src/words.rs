//! Enums whose variants have names that users type and records show.

use serde::de::{Deserialize, Deserializer, Error};

/// An enum of named words; see [`words!`](crate::words).
pub trait Word: Copy + PartialEq + 'static {
    /// All variants, in the order of their declaration.
    const ALL: &'static [Self];
    /// Their names, in the same order.
    const NAMES: &'static [&'static str];

    /// Its name on the command line, in scenario files and in records.
    fn name(self) -> &'static str;
}

/// Declares enums that implement [`Word`]. One variant of each must be marked `#[default]`.
///
/// ```
/// use warpline_base::Word;
///
/// warpline_base::words! {
///     /// Which end of a queue is next.
///     pub enum End {
///         /// The last.
///         #[default]
///         Last = "last",
///         /// The first.
///         First = "first",
///     }
/// }
///
/// assert_eq!((End::default(), End::First.name()), (End::Last, "first"));
/// assert_eq!((End::ALL.len(), End::NAMES), (2, ["last", "first"].as_slice()));
/// ```
#[macro_export]
macro_rules! words {
    ($($(#[$about:meta])* pub enum $name:ident { $($(#[$note:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$note])* $variant,)+
        }

        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$($name::$variant),+];

            /// Its name on the command line, in scenario files and in records.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl $crate::Word for $name {
            const ALL: &'static [Self] = $name::ALL;
            const NAMES: &'static [&'static str] = &[$($word),+];

            fn name(self) -> &'static str {
                $name::name(self)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::read_word(deserializer)
            }
        }
    )+};
}

/// Reads a word by its name.
#[doc(hidden)]
pub fn read_word<'de, W: Word, D: Deserializer<'de>>(deserializer: D) -> Result<W, D::Error> {
    let text = String::deserialize(deserializer)?;
    let found = W::ALL.iter().copied().find(|word| word.name() == text);
    found.ok_or_else(|| D::Error::unknown_variant(&text, W::NAMES))
}
