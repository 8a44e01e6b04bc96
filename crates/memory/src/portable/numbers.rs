//! Numbers as bytes: of fixed size, the least significant byte first, so that they mean the same on
//! every machine.

use std::array::from_fn;
use std::num::NonZero;
use std::time::Duration;

use warpline_base::{EventKey, EventKind, LpId, Moment, Priority, Sequence, VirtualTime};

use super::{Portable, Room};
use crate::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The first `N` bytes, which are taken off.
#[inline(always)]
pub(super) fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*first)
}

// SAFETY: a number is no address, and takes a byte.
unsafe impl Portable for u8 {
    const MOST_BYTES: usize = 1;

    #[inline(always)]
    fn put(&self, room: &mut Room<'_>) {
        room.put([*self]);
    }

    #[inline(always)]
    fn put_all(values: &[Self], room: &mut Room<'_>) {
        room.put_slice(values);
    }

    #[inline(always)]
    fn read(from: &mut &[u8]) -> Option<Self> {
        take(from).map(|[byte]| byte)
    }

    #[inline(always)]
    fn read_all<const N: usize>(from: &mut &[u8]) -> Option<[Self; N]> {
        take(from)
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(
            // SAFETY: a number is no address, and takes as many bytes as in memory.
            unsafe impl Portable for $type {
                const MOST_BYTES: usize = size_of::<$type>();

                #[inline(always)]
                fn put(&self, room: &mut Room<'_>) {
                    room.put(self.to_le_bytes());
                }

                #[inline(always)]
                fn read(from: &mut &[u8]) -> Option<Self> {
                    take(from).map(Self::from_le_bytes)
                }

                #[inline(always)]
                fn read_all<const N: usize>(from: &mut &[u8]) -> Option<[Self; N]> {
                    let (all, rest) = from.split_at_checked(size_of::<[Self; N]>())?;
                    *from = rest;
                    let (numbers, _) = all.as_chunks();
                    Some(from_fn(|index| Self::from_le_bytes(numbers[index])))
                }
            }
        )*
    };
}

numbers!(u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

/// Types that are written as another type: how to convert a value to that, and back if it is valid.
macro_rules! written_as {
    ($($type:ty as $other:ty: $make:expr, $value:expr;)*) => {
        $(
            // SAFETY: there is no address in it, and it takes as many bytes as what it is written
            // as.
            unsafe impl Portable for $type {
                const MOST_BYTES: usize = <$other as Portable>::MOST_BYTES;

                #[inline(always)]
                fn put(&self, room: &mut Room<'_>) {
                    let make: fn(&$type) -> $other = $make;
                    make(self).put(room);
                }

                #[inline(always)]
                fn read(from: &mut &[u8]) -> Option<Self> {
                    let value: fn($other) -> Option<$type> = $value;
                    value(Portable::read(from)?)
                }
            }
        )*
    };
}

written_as! {
    usize as u64: |value| *value as u64, |value| value.try_into().ok();
    isize as i64: |value| *value as i64, |value| value.try_into().ok();
    bool as u8: |value| u8::from(*value), |byte| (byte < 2).then_some(byte == 1);
    char as u32: |value| u32::from(*value), char::from_u32;
    Duration as (u64, u32): |value| (value.as_secs(), value.subsec_nanos()), |(seconds, nanos)| {
        (nanos < 1_000_000_000).then(|| Duration::new(seconds, nanos))
    };
    LpId as u32: |lp| lp.0, |number| Some(LpId(number));
    VirtualTime as u64: |time| time.bits(), |bits| {
        (bits <= VirtualTime::MAX.bits()).then(|| VirtualTime::from_bits(bits))
    };
    Priority as i8: |priority| priority.level(), |level| {
        (level > i8::MIN).then(|| Priority::new(level))
    };
    EventKind as u8: |kind| kind.bits(), EventKind::from_bits;
    Sequence as u64: |sequence| sequence.bits(), |bits| Some(Sequence::from_bits(bits));
    EventKey as (VirtualTime, u32, Priority, LpId, Sequence):
        |key| (key.time, key.step, key.priority, key.sender, key.sequence),
        |(time, step, priority, sender, sequence)| {
            Some(EventKey { time, step, priority, sender, sequence })
        };
}

macro_rules! not_zero {
    ($($type:ty),*) => {
        written_as! { $(NonZero<$type> as $type: |value| value.get(), NonZero::new;)* }
    };
}

not_zero!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

macro_rules! atomics {
    ($($type:ty as $value:ty),*) => {
        // Relaxed: no other data depends on it.
        written_as! {
            $($type as $value: |value| value.load(Ordering::Relaxed), |value| {
                Some(<$type>::new(value))
            };)*
        }
    };
}

atomics!(
    AtomicU8 as u8,
    AtomicU16 as u16,
    AtomicU32 as u32,
    AtomicU64 as u64,
    AtomicUsize as usize
);

// SAFETY: it holds only numbers, those of an event at most, and its kind takes a byte.
unsafe impl Portable for Moment {
    const MOST_BYTES: usize = 1 + EventKey::MOST_BYTES;

    #[inline]
    fn put(&self, room: &mut Room<'_>) {
        match *self {
            Moment::Init(lp) => (0u8, lp).put(room),
            Moment::Event(key) => (1u8, key).put(room),
            Moment::Finish(lp) => (2u8, lp).put(room),
            Moment::Never => 3u8.put(room),
        }
    }

    #[inline]
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::read(from)? {
            0 => Moment::Init(Portable::read(from)?),
            1 => Moment::Event(Portable::read(from)?),
            2 => Moment::Finish(Portable::read(from)?),
            3 => Moment::Never,
            _ => return None,
        })
    }
}
