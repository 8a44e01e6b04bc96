use std::fmt::Debug;
use std::num::{NonZero, Saturating, Wrapping};
use std::time::Duration;

use warpline_base::random::mix64;
use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, VirtualTime};

use super::*;
use crate::Handle;
use crate::sync::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

const ROUNDS: u64 = if cfg!(miri) { 2 } else { 2000 };

fn bytes_of<T: Portable>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    bytes
}

/// The value comes back, whatever stands before and behind it; no beginning of its bytes is a
/// value; and other bytes are some value or none.
fn comes_back<T: Portable + Debug + PartialEq>(value: &T) {
    let mut list = vec![9; 3];
    value.write(&mut list);
    list.push(7);
    let mut rest = &list[3..];
    assert_eq!((T::read(&mut rest).as_ref(), rest), (Some(value), &[7][..]), "{list:?}");
    let bytes = &list[3..list.len() - 1];
    assert!(T::HAS_PAYLOADS || bytes.len() <= T::MOST_BYTES, "{value:?}");
    for len in 0..bytes.len() {
        assert_eq!(T::read(&mut &bytes[..len]), None, "{len} of {bytes:?}");
    }
    corrupt::<T>(bytes, 1);
}

/// What reads although its bytes were changed is a value that comes back.
fn corrupt<T: Portable>(bytes: &[u8], seed: u64) {
    for round in 0..ROUNDS.min(50) {
        let mut bytes = bytes.to_vec();
        let luck = mix64(seed ^ mix64(round));
        let Some(place) = (luck as usize).checked_rem(bytes.len()) else { return };
        bytes[place] = [0, 255, bytes[place] ^ 1, (luck >> 48) as u8][(luck >> 40) as usize % 4];
        if let Some(value) = T::read(&mut &bytes[..]) {
            let again = bytes_of(&value);
            let second = T::read(&mut &again[..]).expect("it was written");
            assert_eq!(bytes_of(&second), again, "{bytes:?}");
        }
    }
}

fn payload(len: usize) -> Payload {
    Payload::filled(len, |bytes| {
        bytes.iter_mut().zip(1..).for_each(|(byte, number)| *byte = number as u8)
    })
}

fn key(bits: u64) -> EventKey {
    let sender = LpId(mix64(bits) as u32);
    let priority = Priority::new(bits as i8);
    let sequence = Sequence::first_of(mix64(bits) >> 30).nth(5);
    EventKey {
        time: VirtualTime::from_bits(bits >> 2),
        step: bits as u32,
        priority,
        sender,
        sequence,
    }
}

#[test]
fn numbers_come_back() {
    for round in 0..ROUNDS {
        let bits = mix64(round);
        let wide = u128::from(bits) << 64 | u128::from(mix64(bits));
        comes_back(&(bits as u8, bits as u16, bits as u32, bits, wide, bits as usize));
        comes_back(&(
            bits as i8,
            bits as i16,
            bits as i32,
            bits as i64,
            wide as i128,
            bits as isize,
        ));
        comes_back(&(
            bits & 1 == 1,
            char::from_u32(bits as u32 >> 11),
            Wrapping(bits as u16),
            Saturating(bits as i16),
        ));
        comes_back(&(
            Duration::new(bits, (bits % 1_000_000_000) as u32),
            PhantomData::<String>,
            (),
        ));
        comes_back(&(
            NonZero::new(bits as u8),
            NonZero::new(bits),
            NonZero::new(wide),
            NonZero::new(bits as isize),
        ));
    }
    assert_eq!(
        bytes_of(&(0x0102_0304u32, -2i16, 3usize, 'ü')),
        [4, 3, 2, 1, 254, 255, 3, 0, 0, 0, 0, 0, 0, 0, 252, 0, 0, 0]
    );
}

#[test]
fn floats_come_back_bit_by_bit() {
    for bits in [0, 1 << 63, f64::NAN.to_bits() ^ 0xABC, f64::NEG_INFINITY.to_bits(), 1, mix64(5)] {
        let read = f64::read(&mut &bytes_of(&f64::from_bits(bits))[..]).unwrap();
        assert_eq!(read.to_bits(), bits);
        let bits = (bits >> 32) as u32;
        let [_, read] = <[f32; 2]>::read(&mut &bytes_of(&[0.0, f32::from_bits(bits)])[..]).unwrap();
        assert_eq!(read.to_bits(), bits);
    }
}

#[test]
fn ids_times_and_keys_come_back() {
    for round in 0..ROUNDS {
        let bits = mix64(round);
        let key = key(bits);
        comes_back(&(key, key.sequence, Handle::from_bits(bits as u32)));
        for moment in [
            Moment::Init(key.sender),
            Moment::Event(key),
            Moment::Finish(key.sender),
            Moment::Never,
        ] {
            comes_back(&moment);
        }
    }
    assert_eq!(bytes_of(&Moment::Never), [3]);
}

#[test]
fn payloads_come_back_with_their_lengths() {
    let lengths = [0, 1, 127, 128, 1000, 16_383, 16_384];
    for len in lengths.into_iter().filter(|len| !cfg!(miri) || *len < 1000) {
        let value = (payload(len), 3u64);
        let bytes = bytes_of(&value);
        let length_bytes = len.max(1).ilog2() as usize / 7 + 1;
        assert_eq!(bytes.len(), length_bytes + len + 8);
        assert_eq!(<(Payload, u64)>::read(&mut &bytes[..]), Some(value));
        let cut = (0..bytes.len()).step_by(if len > 200 { 501 } else { 1 });
        cut.for_each(|len| assert_eq!(<(Payload, u64)>::read(&mut &bytes[..len]), None));
    }
    comes_back(&[
        Some((payload(3), [1u8; 5], payload(40))),
        None,
        Some((payload(0), [2; 5], payload(1))),
    ]);
}

/// Neither are there as many bytes, nor is memory asked for.
#[test]
fn lengths_beyond_the_end_are_refused() {
    for length in [
        [255; 10],
        [255, 255, 255, 255, 255, 255, 255, 255, 127, 0],
        [255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
    ] {
        assert_eq!(Payload::read(&mut &length[..]), None);
    }
    assert_eq!(Payload::read(&mut &[0x80, 0x80][..]), None);
}

#[test]
fn what_is_no_value_is_refused() {
    let is_none = |read: bool| assert!(!read);
    is_none(bool::read(&mut &[2][..]).is_some());
    is_none(<Option<()>>::read(&mut &[2][..]).is_some());
    is_none(char::read(&mut &0xD800u32.to_le_bytes()[..]).is_some());
    is_none(<NonZero<u16>>::read(&mut &[0, 0][..]).is_some());
    is_none(Priority::read(&mut &[0x80][..]).is_some());
    is_none(Moment::read(&mut &[4][..]).is_some());
    is_none(Duration::read(&mut &bytes_of(&(1u64, 1_000_000_000u32))[..]).is_some());
    for bad in [f64::NAN, f64::INFINITY, -1.0, -0.0] {
        is_none(VirtualTime::read(&mut &bytes_of(&bad)[..]).is_some());
    }
}

#[test]
fn arrays_come_back() {
    let of = |round: u64| mix64(round);
    comes_back(&[0u8; 0]);
    comes_back(&[[1u8, 2, 3], [4, 5, 6]]);
    comes_back(&std::array::from_fn::<u64, 33, _>(|index| of(index as u64)));
    comes_back(&std::array::from_fn::<_, 7, _>(|index| {
        (of(index as u64) as u8, index % 2 == 0, [Some(of(9)), None])
    }));
    assert_eq!(bytes_of(&[[1u16, 2], [3, 4]]), [1, 0, 2, 0, 3, 0, 4, 0]);
}

#[test]
fn atomics_are_written_by_their_values() {
    let bytes = bytes_of(&(AtomicU8::new(1), AtomicU64::new(2), AtomicUsize::new(3)));
    let (small, large, size) = <(AtomicU8, AtomicU64, AtomicUsize)>::read(&mut &bytes[..]).unwrap();
    assert_eq!((small.into_inner(), large.load(Ordering::Relaxed), size.into_inner()), (1, 2, 3));
}

#[test]
fn payloads_are_found_wherever_they_are() {
    let mut value = ([Some(payload(1)), None], (Wrapping(7u8), (payload(2),)), payload(3));
    let mut found = Vec::new();
    value.payloads(&mut |payload| found.push(payload.len()));
    assert_eq!(found, [1, 2, 3]);
    fn has<T: Portable>(_: &T) -> bool {
        T::HAS_PAYLOADS
    }
    assert!(has(&value) && has(&Some(value.2.clone())) && !has(&(1u8, [2.5f64], Some('c'))));
}
