use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::block::tests::kept;
use super::*;

/// Lengths on either side of what a header, a line and a class hold.
const LENGTHS: [usize; 11] = [0, 1, 8, 47, 48, 49, 112, 113, 65_536, 65_584, 65_585];

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index * 7) as u8).collect()
}

#[test]
fn payloads_hold_what_was_put_in() {
    // Miri takes seconds for the long ones.
    for len in LENGTHS.into_iter().take(if cfg!(miri) { 8 } else { 11 }) {
        let bytes = pattern(len);
        let payload = Payload::from(bytes.as_slice());
        assert_eq!((payload.len(), &*payload, payload.as_ref()), (len, &*bytes, &*bytes));
        assert_eq!(Payload::from(bytes.clone()), payload);
        assert_eq!(Payload::filled(len, |found| found.copy_from_slice(&bytes)), payload);
        // In memory that has just been written.
        drop(payload);
        assert!(Payload::zeroed(len).iter().all(|&byte| byte == 0));
        assert!(Payload::filled(len, |_| ()).iter().all(|&byte| byte == 0));
    }
}

/// A payload of zeros is all zeros, whatever its memory held before: bytes written here and there,
/// all at once, or copied.
#[test]
fn zeros_are_zeros_whatever_was_written_before() {
    let rounds = if cfg!(miri) { 60 } else { 3000 };
    let lengths = if cfg!(miri) { [40, 300, 900] } else { [300, 5000, 65_536] };
    let mut luck = 1u64;
    let mut below = |limit: usize| {
        luck = luck.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (luck >> 33) as usize % limit
    };
    let mut held: Vec<Payload> = Vec::new();
    for round in 0..rounds {
        // Of any length in the class, so that blocks that were used beyond the end come back.
        let most = lengths[round % 3];
        let mut payload = Payload::zeroed(most - below(most / 3));
        assert!(payload.iter().all(|&byte| byte == 0), "{payload:?} in round {round}");
        let mut expected = vec![0; payload.len()];
        for _ in 0..below(4) {
            let offset = [0, payload.len() - 8, below(payload.len() - 8)][below(3)];
            payload.write_at(offset, &[0xff; 8]);
            expected[offset..offset + 8].fill(0xff);
        }
        assert!(*payload == *expected, "round {round}");
        match below(8) {
            0 => payload.make_mut().fill(1),
            1 => held.push(Payload::from(vec![2; payload.len()])),
            2 => {
                // Its bytes are copied when the clone is written.
                let mut clone = payload.clone();
                clone.write_at(0, &[3]);
                assert_eq!((payload[0], clone[0]), (expected[0], 3));
                assert_eq!((&payload[1..], &clone[1..]), (&expected[1..], &expected[1..]));
                held.push(clone);
            }
            _ => {}
        }
        held.push(payload);
        while held.len() > below(20) {
            held.swap_remove(below(held.len()));
        }
    }
}

/// The time to make a payload depends on how many bytes are cleared, which can be read off its
/// block.
#[test]
fn little_is_cleared_where_little_was_written() {
    let cleared = |len: usize| {
        let bytes = HEADER_BYTES + len;
        let block = block::take_block(bytes);
        let dirty = block.clean().dirty_within(bytes).map(|dirty| dirty.len());
        // SAFETY: the block is as it came.
        unsafe { block::free_block(block, bytes) };
        dirty.iter().sum::<usize>()
    };
    thread::spawn(move || {
        for len in if cfg!(miri) { [300, 1000] } else { [5000, 65_536] } {
            drop(Payload::zeroed(len));
            assert_eq!(cleared(len), 64, "nothing but the header's line");
            let mut payload = Payload::zeroed(len);
            payload.write_at(0, &[1; 8]);
            payload.write_at(len - 8, &[1; 8]);
            drop(payload);
            assert!((128..=192).contains(&cleared(len)), "{} bytes", cleared(len));
            drop(Payload::filled(len, |_| ()));
            assert!(cleared(len) > len);
            drop(Payload::zeroed(len));
            assert_eq!(cleared(len), 64, "it has been cleared once and for all");
        }
    })
    .join()
    .unwrap();
}

#[test]
fn bytes_beyond_the_end_are_refused() {
    for (offset, bytes) in [(97, &[1, 2, 3, 4][..]), (101, &[]), (usize::MAX, &[1])] {
        let refused = catch_unwind(|| Payload::zeroed(100).write_at(offset, bytes)).unwrap_err();
        let text = refused.downcast::<String>().unwrap();
        assert_eq!(
            *text,
            format!("{} bytes at {offset} lie beyond the end of a payload of 100", bytes.len())
        );
    }
    let mut whole = Payload::zeroed(3);
    whole.write_at(1, &[1, 2]);
    whole.write_at(3, &[]);
    Payload::empty().write_at(0, &[]);
    assert_eq!(*whole, [0, 1, 2]);
}

#[test]
fn a_payload_is_one_pointer() {
    assert_eq!([size_of::<Payload>(), size_of::<Option<Payload>>(), HEADER_BYTES], [8, 8, 16]);
    assert_eq!(Payload::default(), Payload::empty());
    assert!(Payload::empty().clone().make_mut().is_empty());
}

#[test]
fn clones_share_their_bytes_until_one_is_changed() {
    let mut payload = Payload::from(pattern(1500));
    let start = payload.as_ptr();
    payload.make_mut()[0] = 1;
    assert_eq!(payload.as_ptr(), start, "nobody else holds the bytes");
    let clones = [payload.clone(), payload.clone()];
    assert!(clones.iter().all(|clone| clone.as_ptr() == start));
    payload.make_mut()[0] = 2;
    assert_ne!(payload.as_ptr(), start);
    assert_eq!([&payload, &clones[0], &clones[1]].map(|one| one[0]), [2, 1, 1]);
    assert_eq!(payload[1..], clones[0][1..]);
}

#[test]
fn payloads_compare_by_their_bytes() {
    let [short, long, other] = [&[1, 2][..], &[1, 2, 0], &[2]].map(Payload::from);
    assert!(short < long && long < other && Payload::empty() < short);
    assert_eq!(short, Payload::from(vec![1, 2]));
    assert_ne!(short, long);
    let set: HashSet<Payload> =
        [short.clone(), Payload::from(vec![1, 2]), other].into_iter().collect();
    assert_eq!((set.len(), set.contains(&short)), (2, true));
}

#[test]
fn only_the_first_bytes_are_shown() {
    let text = |len| format!("{:?}", Payload::from(pattern(len)));
    assert_eq!([text(0), text(2)], ["Payload(0 bytes)", "Payload(2 bytes: 00 07)"]);
    assert_eq!(text(8), "Payload(8 bytes: 00 07 0e 15 1c 23 2a 31)");
    assert_eq!(text(1500), "Payload(1500 bytes: 00 07 0e 15 1c 23 2a 31 …)");
}

#[test]
fn a_block_is_used_again_by_the_thread_that_frees_it() {
    for len in [1, 48, 1500, 65_536] {
        let [first, second] = [Payload::zeroed(len), Payload::zeroed(len)];
        let starts = [first.as_ptr().addr(), second.as_ptr().addr()];
        thread::spawn(move || {
            drop((first, second));
            let again = [Payload::zeroed(len), Payload::zeroed(len)];
            assert_eq!(
                again.map(|payload| payload.as_ptr().addr()),
                [starts[1], starts[0]],
                "last in, first out"
            );
        })
        .join()
        .unwrap();
    }
}

#[test]
fn a_thread_that_only_frees_keeps_little() {
    let (count, lengths) = if cfg!(miri) { (100, [3000, 5000]) } else { (5000, [1500, 20_000]) };
    for len in lengths {
        let all: Vec<Payload> = (0..count).map(|_| Payload::zeroed(len)).collect();
        thread::spawn(move || {
            drop(all);
            let (kept, most) = kept(len);
            assert!(kept > most / 2 && kept <= most, "{kept} bytes are kept, at most {most}");
        })
        .join()
        .unwrap();
    }
}

/// One of the two outlives the thread's lists, whichever is destroyed first.
#[test]
fn payloads_are_dropped_while_their_thread_ends() {
    thread_local! {
        static BEFORE: RefCell<Option<Payload>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<Payload>> = const { RefCell::new(None) };
    }
    thread::spawn(|| {
        BEFORE.set(None);
        let payload = Payload::zeroed(100);
        drop(Payload::zeroed(100));
        AFTER.set(Some(payload.clone()));
        BEFORE.set(Some(payload));
    })
    .join()
    .unwrap();
}

#[test]
fn a_count_that_would_overflow_is_refused() {
    let payload = Payload::zeroed(1);
    let count = &payload.header().unwrap().count;
    count.store(MOST_CLONES + 1, Ordering::Relaxed);
    let refused = catch_unwind(AssertUnwindSafe(|| payload.clone()));
    count.store(1, Ordering::Relaxed);
    let text = refused.unwrap_err().downcast::<String>().unwrap();
    assert!(text.starts_with("a payload cannot have more than"), "{text}");
}

#[test]
fn a_payload_that_panics_in_the_making_leaks_nothing() {
    thread::spawn(|| {
        assert!(catch_unwind(|| Payload::filled(100, |_| panic!("not now"))).is_err());
        assert!(kept(100).0 > 0);
    })
    .join()
    .unwrap();
}

// Miri does not run out of memory.
#[test]
#[cfg(not(miri))]
fn memory_that_runs_out_is_an_error() {
    use crate::{Exhausted, catch_exhausted};
    for len in [1 << 48, isize::MAX as usize, usize::MAX] {
        let bytes = HEADER_BYTES.saturating_add(len);
        let outcome = catch_exhausted(|| drop(Payload::zeroed(len)));
        assert_eq!(outcome, Err(Exhausted::Memory { what: "a payload", bytes }));
    }
}

/// Threads pass payloads on to each other, change them and drop them; everyone finds the bytes that
/// it expects.
#[test]
fn payloads_go_from_thread_to_thread() {
    let (rounds, lengths) = if cfg!(miri) { (5, [9, 300]) } else { (2000, [9, 5000]) };
    thread::scope(|scope| {
        let (to, from) = std::sync::mpsc::channel::<Payload>();
        let shared = Payload::from(pattern(lengths[1]));
        let kept = shared.clone();
        scope.spawn(move || {
            for round in 0..rounds {
                let own = Payload::filled(lengths[round % 2], |bytes| bytes.fill(round as u8));
                [own, shared.clone()].into_iter().for_each(|payload| to.send(payload).unwrap());
            }
        });
        for round in 0..rounds {
            let mut own = from.recv().unwrap();
            assert!(own.iter().all(|&byte| byte == round as u8));
            own.make_mut()[0] ^= 1;
            assert_eq!(own[0], round as u8 ^ 1);
            assert_eq!(from.recv().unwrap(), kept);
        }
    });
}
