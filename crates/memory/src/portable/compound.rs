//! Values that consist of others, and payloads.

use std::marker::PhantomData;
use std::num::{Saturating, Wrapping};

use super::{Portable, Room};
use crate::Payload;

/// The most bytes that the length of a payload takes.
const LENGTH_BYTES: usize = u64::BITS.div_ceil(7) as usize;

// SAFETY: the one address in a payload is that of the payload itself, which `payloads` passes on.
// Room for its bytes is made when they are put.
unsafe impl Portable for Payload {
    const HAS_PAYLOADS: bool = true;
    const MOST_BYTES: usize = LENGTH_BYTES;

    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        visit(self);
    }

    #[inline]
    fn put(&self, room: &mut Room<'_>) {
        put_length(self.len(), room);
        room.put_payload(self);
    }

    #[inline]
    fn read(from: &mut &[u8]) -> Option<Self> {
        let len = read_length(from)?;
        let (bytes, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(bytes.into())
    }
}

/// Puts a length in as few bytes as it needs: seven bits in each, the lowest first, and a bit that
/// says whether there are more.
fn put_length(length: usize, room: &mut Room<'_>) {
    let mut rest = length as u64;
    while rest > 0x7f {
        room.put([rest as u8 | 0x80]);
        rest >>= 7;
    }
    room.put([rest as u8]);
}

fn read_length(from: &mut &[u8]) -> Option<usize> {
    let mut length = 0u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = u8::read(from)?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        length |= bits << shift;
        if byte < 0x80 {
            return length.try_into().ok();
        }
    }
    None
}

// SAFETY: there is nothing in it.
unsafe impl<T> Portable for PhantomData<T> {
    const MOST_BYTES: usize = 0;

    #[inline(always)]
    fn put(&self, _: &mut Room<'_>) {}

    #[inline(always)]
    fn read(_: &mut &[u8]) -> Option<Self> {
        Some(PhantomData)
    }
}

macro_rules! wrappers {
    ($($type:ident),*) => {
        $(
            // SAFETY: there is nothing else in it.
            unsafe impl<T: Portable> Portable for $type<T> {
                const HAS_PAYLOADS: bool = T::HAS_PAYLOADS;
                const MOST_BYTES: usize = T::MOST_BYTES;

                #[inline(always)]
                fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
                    self.0.payloads(visit);
                }

                #[inline(always)]
                fn put(&self, room: &mut Room<'_>) {
                    self.0.put(room);
                }

                #[inline(always)]
                fn read(from: &mut &[u8]) -> Option<Self> {
                    T::read(from).map($type)
                }
            }
        )*
    };
}

wrappers!(Wrapping, Saturating);

// SAFETY: beside the value there is at most a number, which takes a byte.
unsafe impl<T: Portable> Portable for Option<T> {
    const HAS_PAYLOADS: bool = T::HAS_PAYLOADS;
    const MOST_BYTES: usize = 1 + T::MOST_BYTES;

    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        self.iter_mut().for_each(|value| value.payloads(visit));
    }

    #[inline]
    fn put(&self, room: &mut Room<'_>) {
        self.is_some().put(room);
        if let Some(value) = self {
            value.put(room);
        }
    }

    #[inline]
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
}

// SAFETY: there is nothing else in it.
unsafe impl<T: Portable, const N: usize> Portable for [T; N] {
    const HAS_PAYLOADS: bool = T::HAS_PAYLOADS;
    const MOST_BYTES: usize = N * T::MOST_BYTES;

    #[inline(always)]
    fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
        self.iter_mut().for_each(|value| value.payloads(visit));
    }

    #[inline]
    fn put(&self, room: &mut Room<'_>) {
        T::put_all(self, room);
    }

    #[inline]
    fn read(from: &mut &[u8]) -> Option<Self> {
        T::read_all(from)
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*)),*) => {
        $(
            // SAFETY: there is nothing else in it.
            unsafe impl<$($name: Portable),*> Portable for ($($name,)*) {
                const HAS_PAYLOADS: bool = false $(|| $name::HAS_PAYLOADS)*;
                const MOST_BYTES: usize = 0 $(+ $name::MOST_BYTES)*;

                #[inline(always)]
                #[allow(unused_variables, reason = "there is nothing in `()`")]
                fn payloads(&mut self, visit: &mut dyn FnMut(&mut Payload)) {
                    $(self.$index.payloads(visit);)*
                }

                #[inline(always)]
                #[allow(unused_variables, reason = "likewise")]
                fn put(&self, room: &mut Room<'_>) {
                    $(self.$index.put(room);)*
                }

                #[inline(always)]
                #[allow(unused_variables, reason = "likewise")]
                fn read(from: &mut &[u8]) -> Option<Self> {
                    Some(($($name::read(from)?,)*))
                }
            }
        )*
    };
}

tuples!(
    (),
    (A 0),
    (A 0, B 1),
    (A 0, B 1, C 2),
    (A 0, B 1, C 2, D 3),
    (A 0, B 1, C 2, D 3, E 4),
    (A 0, B 1, C 2, D 3, E 4, F 5)
);
