//! Reductions: how values of several ranks become one.

use std::fmt;

use warpline_memory::Payload;

use super::{Data, Datatype, Element};
use crate::packet::Content;

/// How two values become one, as MPI's operations.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// `MPI_SUM`; whole numbers wrap around.
    Sum,
    /// `MPI_PROD`; whole numbers wrap around.
    Product,
    /// `MPI_MIN`; of values of type `(f64, u64)`, that of the least place among equals, as
    /// `MPI_MINLOC`.
    Min,
    /// `MPI_MAX`; of values of type `(f64, u64)`, that of the least place among equals, as
    /// `MPI_MAXLOC`.
    Max,
    /// `MPI_LAND`: 1 if both are not 0.
    LogicalAnd,
    /// `MPI_LOR`: 1 if one of them is not 0.
    LogicalOr,
    /// `MPI_BAND`, of whole numbers.
    BitAnd,
    /// `MPI_BOR`, of whole numbers.
    BitOr,
    /// `MPI_BXOR`, of whole numbers.
    BitXor,
    /// A function of the program's own, which must be associative: what the first argument and the
    /// second become, of as many bytes. Ranks with lower numbers come first. What is just a size
    /// does not reach it.
    Own {
        /// The function.
        combine: fn(&Data, &Data) -> Data,
        /// Whether the order of ranks does not matter, which leaves more algorithms to choose from.
        commutes: bool,
    },
}

impl Op {
    /// Whether the order of ranks does not matter, but for rounding.
    pub fn commutes(&self) -> bool {
        !matches!(self, Op::Own { commutes: false, .. })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Sum => "MPI_SUM",
            Op::Product => "MPI_PROD",
            Op::Min => "MPI_MIN",
            Op::Max => "MPI_MAX",
            Op::LogicalAnd => "MPI_LAND",
            Op::LogicalOr => "MPI_LOR",
            Op::BitAnd => "MPI_BAND",
            Op::BitOr => "MPI_BOR",
            Op::BitXor => "MPI_BXOR",
            Op::Own { .. } => "an operation of the program",
        })
    }
}

/// The function of an operation on whole numbers.
macro_rules! whole {
    ($op:expr) => {
        match $op {
            Op::Sum => Some(|a, b| a.wrapping_add(b)),
            Op::Product => Some(|a, b| a.wrapping_mul(b)),
            Op::Min => Some(|a, b| a.min(b)),
            Op::Max => Some(|a, b| a.max(b)),
            Op::LogicalAnd => Some(|a, b| (a != 0 && b != 0).into()),
            Op::LogicalOr => Some(|a, b| (a != 0 || b != 0).into()),
            Op::BitAnd => Some(|a, b| a & b),
            Op::BitOr => Some(|a, b| a | b),
            Op::BitXor => Some(|a, b| a ^ b),
            Op::Own { .. } => None,
        }
    };
}

/// The function of an operation on real numbers.
macro_rules! real {
    ($op:expr) => {
        match $op {
            Op::Sum => Some(|a, b| a + b),
            Op::Product => Some(|a, b| a * b),
            Op::Min => Some(|a, b| a.min(b)),
            Op::Max => Some(|a, b| a.max(b)),
            Op::LogicalAnd => Some(|a, b| f32::from(a != 0.0 && b != 0.0).into()),
            Op::LogicalOr => Some(|a, b| f32::from(a != 0.0 || b != 0.0).into()),
            Op::BitAnd | Op::BitOr | Op::BitXor | Op::Own { .. } => None,
        }
    };
}

/// What the data of two ranks become, the first of them being that of lower ranks.
///
/// # Errors
/// If they differ in length or type, or the operation means nothing for the type: why.
pub(crate) fn combine(op: Op, first: &Data, second: &Data) -> Result<Data, String> {
    if first.len() != second.len() {
        return Err(format!(
            "ranks reduce data of {} and of {} bytes; all ranks must give as many",
            first.len(),
            second.len()
        ));
    }
    let datatype = first.datatype;
    let (Some(left), Some(right)) = (first.bytes(), second.bytes()) else {
        return Ok(Data { content: Content::Size(first.len()), datatype });
    };
    if datatype != second.datatype {
        return Err(format!(
            "ranks reduce values of type {datatype} and of type {}; all ranks must give the same type",
            second.datatype
        ));
    }
    if let Op::Own { combine, .. } = op {
        return Ok(combine(first, second));
    }
    let mut content = Payload::from(left);
    let bytes = content.make_mut();
    let is_known = match datatype {
        Datatype::Byte => each::<u8>(bytes, right, whole!(op)),
        Datatype::I8 => each::<i8>(bytes, right, whole!(op)),
        Datatype::I16 => each::<i16>(bytes, right, whole!(op)),
        Datatype::I32 => each::<i32>(bytes, right, whole!(op)),
        Datatype::I64 => each::<i64>(bytes, right, whole!(op)),
        Datatype::U16 => each::<u16>(bytes, right, whole!(op)),
        Datatype::U32 => each::<u32>(bytes, right, whole!(op)),
        Datatype::U64 => each::<u64>(bytes, right, whole!(op)),
        Datatype::F32 => each::<f32>(bytes, right, real!(op)),
        Datatype::F64 => each::<f64>(bytes, right, real!(op)),
        Datatype::F64At => each::<(f64, u64)>(bytes, right, with_place(op)),
    };
    if !is_known {
        return Err(format!("{op} means nothing for values of type {datatype}"));
    }
    Ok(Data { content: Content::Bytes(content), datatype })
}

/// Replaces each of these values by what it and that of others become. Returns `false` if there is
/// no such function.
fn each<T: Element>(bytes: &mut [u8], others: &[u8], of: Option<fn(T, T) -> T>) -> bool {
    let Some(of) = of else { return false };
    let size = size_of::<T>();
    for (own, other) in bytes.chunks_exact_mut(size).zip(others.chunks_exact(size)) {
        of(T::read(own), T::read(other)).write(own);
    }
    true
}

/// A number and its place.
type Placed = (f64, u64);

/// The function of an operation on numbers and their places.
fn with_place(op: Op) -> Option<fn(Placed, Placed) -> Placed> {
    match op {
        Op::Min => Some(|a, b| if (b.0, b.1) < (a.0, a.1) { b } else { a }),
        Op::Max => Some(|a, b| if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }),
        _ => None,
    }
}
