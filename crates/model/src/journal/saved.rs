use warpline_base::LpId;

/// A small value that [`Context::save`](crate::Context::save) can keep for
/// [`Reverse::restore`](crate::Reverse::restore): numbers, `bool` and [`LpId`].
///
/// Implement it for a small type of your own, such as the states of a machine:
/// ```
/// use warpline_model::Saved;
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Machine { Idle, Busy }
///
/// impl Saved for Machine {
///     fn to_word(self) -> u64 { self as u64 }
///     fn from_word(word: u64) -> Self { if word == 0 { Machine::Idle } else { Machine::Busy } }
/// }
/// assert_eq!(Machine::from_word(Machine::Busy.to_word()), Machine::Busy);
/// # assert_eq!(Machine::from_word(Machine::Idle.to_word()), Machine::Idle);
/// ```
///
/// For an enum without fields, [`Journaled`](macro@crate::Journaled) derives it.
pub trait Saved: Copy {
    /// The value as one word.
    fn to_word(self) -> u64;
    /// The value of a word made by [`to_word`](Self::to_word).
    fn from_word(word: u64) -> Self;
}

macro_rules! saved_integers {
    ($($type:ty),*) => {$(
        impl Saved for $type {
            #[inline]
            fn to_word(self) -> u64 {
                self as u64
            }
            #[inline]
            fn from_word(word: u64) -> Self {
                word as $type
            }
        }
    )*};
}

saved_integers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl Saved for f64 {
    #[inline]
    fn to_word(self) -> u64 {
        self.to_bits()
    }
    #[inline]
    fn from_word(word: u64) -> Self {
        f64::from_bits(word)
    }
}

impl Saved for f32 {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline]
    fn from_word(word: u64) -> Self {
        f32::from_bits(word as u32)
    }
}

impl Saved for bool {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    #[inline]
    fn from_word(word: u64) -> Self {
        word != 0
    }
}

impl Saved for LpId {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self.0)
    }
    #[inline]
    fn from_word(word: u64) -> Self {
        LpId(word as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::Saved;

    #[test]
    fn values_come_back() {
        fn back<T: Saved + PartialEq + std::fmt::Debug>(value: T) {
            assert_eq!(T::from_word(value.to_word()), value);
        }
        back(-3i8);
        back(i64::MIN);
        back(u64::MAX);
        back(-0.1f64);
        back(f32::MIN_POSITIVE);
        back(true);
        assert!(f64::from_word((-0.0f64).to_word()).is_sign_negative());
    }
}
