use std::fmt;

/// The type of the values in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Datatype {
    /// Bytes, or nothing but a size: `MPI_BYTE`.
    Byte,
    /// `MPI_INT8_T`.
    I8,
    /// `MPI_INT16_T`.
    I16,
    /// `MPI_INT32_T`.
    I32,
    /// `MPI_INT64_T`.
    I64,
    /// `MPI_UINT16_T`.
    U16,
    /// `MPI_UINT32_T`.
    U32,
    /// `MPI_UINT64_T`.
    U64,
    /// `MPI_FLOAT`.
    F32,
    /// `MPI_DOUBLE`.
    F64,
    /// A number and where it comes from, as `MPI_DOUBLE_INT`.
    F64At,
}

impl Datatype {
    const ALL: [Datatype; 11] = [
        Datatype::Byte,
        Datatype::I8,
        Datatype::I16,
        Datatype::I32,
        Datatype::I64,
        Datatype::U16,
        Datatype::U32,
        Datatype::U64,
        Datatype::F32,
        Datatype::F64,
        Datatype::F64At,
    ];

    /// The type of this number.
    pub(crate) fn of(number: u8) -> Self {
        Self::ALL.get(number as usize).copied().unwrap_or(Datatype::Byte)
    }

    /// The bytes of a value.
    pub fn size(self) -> usize {
        match self {
            Datatype::Byte | Datatype::I8 => 1,
            Datatype::I16 | Datatype::U16 => 2,
            Datatype::I32 | Datatype::U32 | Datatype::F32 => 4,
            Datatype::I64 | Datatype::U64 | Datatype::F64 => 8,
            Datatype::F64At => 16,
        }
    }
}

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Datatype::Byte => "u8",
            Datatype::I8 => "i8",
            Datatype::I16 => "i16",
            Datatype::I32 => "i32",
            Datatype::I64 => "i64",
            Datatype::U16 => "u16",
            Datatype::U32 => "u32",
            Datatype::U64 => "u64",
            Datatype::F32 => "f32",
            Datatype::F64 => "f64",
            Datatype::F64At => "(f64, u64)",
        })
    }
}

/// A value that messages carry: a number, or a number and where it comes from. Values of type
/// `(f64, u64)` are for reductions that look for the place of an extreme.
pub trait Element: Copy + Send + Sync + 'static {
    /// What MPI calls the type.
    const DATATYPE: Datatype;

    /// Writes the value into as many bytes as it has.
    #[doc(hidden)]
    fn write(self, bytes: &mut [u8]);

    /// Reads a value from as many bytes as it has.
    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($type:ty => $datatype:ident,)*) => {
        $(
            impl Element for $type {
                const DATATYPE: Datatype = Datatype::$datatype;

                #[inline]
                fn write(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_le_bytes());
                }

                #[inline]
                fn read(bytes: &[u8]) -> Self {
                    let mut own = [0; size_of::<Self>()];
                    own.copy_from_slice(bytes);
                    Self::from_le_bytes(own)
                }
            }
        )*
    };
}

elements! {
    u8 => Byte,
    i8 => I8,
    i16 => I16,
    i32 => I32,
    i64 => I64,
    u16 => U16,
    u32 => U32,
    u64 => U64,
    f32 => F32,
    f64 => F64,
}

impl Element for (f64, u64) {
    const DATATYPE: Datatype = Datatype::F64At;

    fn write(self, bytes: &mut [u8]) {
        let (value, place) = bytes.split_at_mut(8);
        self.0.write(value);
        self.1.write(place);
    }

    fn read(bytes: &[u8]) -> Self {
        let (value, place) = bytes.split_at(8);
        (f64::read(value), u64::read(place))
    }
}
