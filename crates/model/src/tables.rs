use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A table whose rows are written when their events commit: `const ARRIVALS: Table = Table(0);`.
/// The number is its index among the model's tables, from 0. Declare it in
/// [`Model::declare`](crate::Model::declare), and write rows by
/// [`Observe::record`](crate::Observe::record), which has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(pub u16);

impl Table {
    /// The table into which LPs tell what goes on within them. No model declares it.
    pub(crate) const TOLD: Table = Table(u16::MAX);
}

/// One value of a row, usually made by `into`.
///
/// ```
/// # use warpline_model::prelude::*;
/// let row: [Cell; 5] = [LpId(7).into(), 12.5.into(), 3u64.into(), "train".into(), format!("coach {}", 7).into()];
/// assert_eq!(row[..3], [Cell::Whole(7), Cell::Real(12.5), Cell::Whole(3)]);
/// assert_eq!((&row[3], row[4].to_string()), (&Cell::Text("train".into()), "coach 7".to_owned()));
/// ```
///
/// A text made during the run costs an allocation. Numbers and string literals cost none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// A real number.
    Real(f64),
    /// A whole number.
    Whole(i64),
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(Text),
}

/// The text in a [cell](Cell): a string literal, or a string made during the run. It is cheap to
/// clone.
///
/// ```
/// # use warpline_model::Text;
/// let [fixed, made] = [Text::from("train"), Text::from(String::from("train"))];
/// assert_eq!(fixed, made);
/// assert_eq!((fixed.len(), format!("{made}, {made:?}")), (5, "train, \"train\"".to_owned()));
/// ```
#[derive(Clone)]
pub struct Text(TextKind);

#[derive(Clone)]
enum TextKind {
    Fixed(&'static str),
    Made(Arc<str>),
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            TextKind::Fixed(text) => text,
            TextKind::Made(text) => text,
        }
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Text(TextKind::Fixed(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(TextKind::Made(text.into()))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

macro_rules! cells {
    ($($type:ty => $variant:ident as $target:ty),*) => {$(
        impl From<$type> for Cell {
            fn from(value: $type) -> Self {
                Cell::$variant(<$target>::from(value))
            }
        }
    )*};
}

cells!(f64 => Real as f64, f32 => Real as f64, i64 => Whole as i64, i32 => Whole as i64, u32 => Whole as i64, u16 => Whole as i64, u8 => Whole as i64, i16 => Whole as i64, i8 => Whole as i64, bool => Flag as bool, &'static str => Text as Text, String => Text as Text);

impl From<Text> for Cell {
    fn from(text: Text) -> Self {
        Cell::Text(text)
    }
}

impl From<warpline_base::LpId> for Cell {
    fn from(lp: warpline_base::LpId) -> Self {
        Cell::Whole(i64::from(lp.0))
    }
}

impl From<usize> for Cell {
    /// Like a `u64`.
    fn from(value: usize) -> Self {
        Cell::from(value as u64)
    }
}

impl From<u64> for Cell {
    /// Counts above `i64::MAX` become real numbers.
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Cell::Real(value as f64), Cell::Whole)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Real(value) => value.fmt(f),
            Cell::Whole(value) => value.fmt(f),
            Cell::Flag(value) => value.fmt(f),
            Cell::Text(value) => value.fmt(f),
        }
    }
}

/// As a text.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Text::from)
    }
}
