/// A table of rows that the model writes on commit: `const ARRIVALS: Table = Table(0);`. The number is its index among the model's tables,
/// from 0. Declare it in [`Model::declare`](crate::Model::declare), and write rows by [`Observe::record`](crate::Observe::record), which
/// has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(pub u16);

/// One value of a row, usually made by `into`.
///
/// ```
/// # use warpline_model::prelude::*;
/// let row: [Cell; 4] = [LpId(7).into(), 12.5.into(), 3u64.into(), "train".into()];
/// assert_eq!(row, [Cell::Whole(7), Cell::Real(12.5), Cell::Whole(3), Cell::Text("train")]);
/// ```
///
/// Text must be part of the program, not made during the run:
/// ```compile_fail,E0277
/// # use warpline_model::prelude::*;
/// let row: [Cell; 1] = [format!("train {}", 7).into()]; // error: `From<String>` is not implemented; give the number its own column
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// A real number.
    Real(f64),
    /// A whole number.
    Whole(i64),
    /// A yes or no.
    Flag(bool),
    /// A text in the model's source.
    Text(&'static str),
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

cells!(f64 => Real as f64, f32 => Real as f64, i64 => Whole as i64, i32 => Whole as i64, u32 => Whole as i64, u16 => Whole as i64, u8 => Whole as i64, i16 => Whole as i64, i8 => Whole as i64, bool => Flag as bool, &'static str => Text as &'static str);

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

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Real(value) => value.fmt(f),
            Cell::Whole(value) => value.fmt(f),
            Cell::Flag(value) => value.fmt(f),
            Cell::Text(value) => f.write_str(value),
        }
    }
}
