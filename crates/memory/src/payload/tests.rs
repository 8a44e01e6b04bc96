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
    let set: HashSet<Payload> = [short.clone(), Payload::from(vec![1, 2]), other].into_iter().collect();
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
            assert_eq!(again.map(|payload| payload.as_ptr().addr()), [starts[1], starts[0]], "last in, first out");
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

/// Threads pass payloads on to each other, change them and drop them; everyone finds the bytes that it expects.
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
