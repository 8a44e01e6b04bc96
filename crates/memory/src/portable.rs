//! Which values mean the same in every process.

use std::marker::PhantomData;
use std::num::{NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize, Saturating, Wrapping};
use std::time::Duration;

use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, VirtualTime};

use crate::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};
use crate::{Apart, Handle, Payload};

/// Plain data, with or without [payloads](Payload): a value that means the same in every process that runs the same program, so that its bytes
/// can be copied, or shared, between processes.
///
/// It is derived: `#[derive(Portable)]` checks that all fields are portable. Numbers, arrays, tuples, options and payloads are; references,
/// boxes, vectors, strings and anything else that holds an address are not, as it leads nowhere in another process.
///
/// ```
/// use warpline_memory::{Payload, Portable};
/// let mut lengths = Vec::new();
/// let mut frames = (3u8, [Some(Payload::from(vec![1, 2])), None]);
/// Portable::payloads(&mut frames, &mut |payload| lengths.push(payload.len()));
/// assert_eq!(lengths, [2]);
/// ```
///
/// # Safety
/// All bytes of a value mean the same in every process that runs the same program: so there is no address in it, except those of payloads,
/// all of which [`payloads`](Self::payloads) passes on.
pub unsafe trait Portable: Sized {
    /// Whether a value may hold payloads.
    const HAS_PAYLOADS: bool = false;

    /// Passes all payloads in the value to `visit`.
    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        let _ = visit;
    }
}

/// The proof that a type is [`Portable`], for code that works with any type and has more to offer to portable ones.
pub struct IsPortable<T>(PhantomData<fn() -> T>);

impl<T> Clone for IsPortable<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for IsPortable<T> {}

impl<T: Portable> IsPortable<T> {
    /// The proof.
    pub const PROOF: Self = IsPortable(PhantomData);
}

impl<T> IsPortable<T> {
    /// The proof for a type about which `Portable` says nothing.
    ///
    /// # Safety
    /// The type meets the conditions of [`Portable`].
    pub const unsafe fn assume() -> Self {
        IsPortable(PhantomData)
    }
}

macro_rules! plain {
    ($($(#[$why:meta])* $type:ty),* $(,)?) => {
        $(
            // SAFETY: numbers and atomics, alone or in fields, are no addresses.
            unsafe impl Portable for $type {}
        )*
    };
}

plain!((), bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);
plain!(NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize, Duration);
plain!(AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize);
plain!(LpId, VirtualTime, Priority, Sequence, EventKey, Moment, Handle);

// SAFETY: there is nothing in it.
unsafe impl<T> Portable for PhantomData<T> {}

// SAFETY: a payload is an address, of a payload.
unsafe impl Portable for Payload {
    const HAS_PAYLOADS: bool = true;

    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        visit(self);
    }
}

macro_rules! wrappers {
    ($($type:ident: $field:tt),*) => {
        $(
            // SAFETY: there is nothing else in it.
            unsafe impl<T: Portable> Portable for $type<T> {
                const HAS_PAYLOADS: bool = T::HAS_PAYLOADS;

                #[inline(always)]
                fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
                    self.$field.payloads(visit);
                }
            }
        )*
    };
}

wrappers!(Apart: 0, Wrapping: 0, Saturating: 0);

// SAFETY: beside the value there is at most a number.
unsafe impl<T: Portable> Portable for Option<T> {
    const HAS_PAYLOADS: bool = T::HAS_PAYLOADS;

    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        self.iter_mut().for_each(|value| value.payloads(visit));
    }
}

// SAFETY: there is nothing else in it.
unsafe impl<T: Portable, const N: usize> Portable for [T; N] {
    const HAS_PAYLOADS: bool = T::HAS_PAYLOADS;

    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        self.iter_mut().for_each(|value| value.payloads(visit));
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+)),*) => {
        $(
            // SAFETY: there is nothing else in it.
            unsafe impl<$($name: Portable),+> Portable for ($($name,)+) {
                const HAS_PAYLOADS: bool = $($name::HAS_PAYLOADS)||+;

                #[inline(always)]
                fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
                    $(self.$index.payloads(visit);)+
                }
            }
        )*
    };
}

tuples!((A 0), (A 0, B 1), (A 0, B 1, C 2), (A 0, B 1, C 2, D 3), (A 0, B 1, C 2, D 3, E 4), (A 0, B 1, C 2, D 3, E 4, F 5));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_found_wherever_they_are() {
        let payload = |byte: u8| Payload::from(vec![byte]);
        let mut value = ([Some(payload(1)), None], (Wrapping(7u8), Apart(payload(2))), payload(3));
        let mut found = Vec::new();
        value.payloads(&mut |payload| found.push(payload[0]));
        assert_eq!(found, [1, 2, 3]);
        fn has<T: Portable>(_: &T) -> bool {
            T::HAS_PAYLOADS
        }
        assert!(has(&value) && has(&Some(value.2.clone())) && !has(&(1u8, [2.5f64], Some('c'))));
    }
}
