//! New buffers, up to the last that there may be.

use super::*;
use crate::events::buffers::arena::SEGMENT_BITS;
use crate::events::buffers::pools::RUN;
use crate::events::buffers::slot::NO_SLOT;
use crate::{Exhausted, catch_exhausted};

#[test]
fn growth_over_many_segments() {
    let count = if cfg!(miri) { 70 } else { 300_000u32 };
    let [mut a, mut b] = pair::<[u64; 6]>();
    let filled = |view: &mut Buffers<[u64; 6]>| -> Vec<Handle> {
        (0..count).map(|n| view.insert(n % 2, [n.into(); 6])).collect()
    };
    let from_a = filled(&mut a);
    let from_b = filled(&mut b);
    // Even numbers are for the first, odd ones for the second.
    for (n, (&by_a, &by_b)) in (0..).zip(from_a.iter().zip(&from_b)) {
        let values = if n % 2 == 0 {
            [*a.get(by_a), *a.accept(by_b)]
        } else {
            [*b.accept(by_a), *b.get(by_b)]
        };
        assert_eq!(values, [[n; 6]; 2]);
    }
    let mut numbers: Vec<u32> = from_a.iter().chain(&from_b).map(|handle| handle.bits()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len() as u32, 2 * count);
    from_a.iter().step_by(2).for_each(|&handle| assert_eq!(a.release(handle), 0));
    from_a.iter().skip(1).step_by(2).for_each(|&handle| assert_eq!(b.release(handle), 0));
    let all = sum([&a, &b]);
    assert_eq!(all.live, u64::from(count));
    assert_eq!(all.places, all.free + all.live);
    for view in [a, b] {
        assert!(
            view.pool.numbered() >= view.books().places,
            "the view counts the slots of all its segments"
        );
    }
    // New buffers are made in runs, for each view and partner.
    assert!(
        (2 * u64::from(count)..2 * u64::from(count) + 4 * u64::from(RUN)).contains(&all.places)
    );
}

#[test]
fn no_slot_number_is_given_twice() {
    let arena = Arena::<()>::new(&Region::own(), None);
    let most = if cfg!(miri) { 12 } else { 8 };
    let mut next = 0;
    // Under Miri there are few enough numbers to go up to the last.
    while cfg!(miri) || next >> SEGMENT_BITS < 64 {
        match catch_exhausted(|| arena.grow(most)) {
            Ok(range) => {
                assert_eq!(range.start, next);
                next = range.end;
            }
            Err(full) => {
                assert_eq!(
                    (full, catch_exhausted(|| arena.grow(1))),
                    (Exhausted::Numbers, Err(Exhausted::Numbers))
                );
                break;
            }
        }
    }
    assert!(
        arena.slot(next - 1).is_some()
            && arena.slot(next).is_none()
            && arena.slot(NO_SLOT).is_none()
    );
}

#[test]
#[cfg_attr(miri, ignore = "Miri does not run out of memory")]
fn running_out_of_memory_is_an_error() {
    let arena = Arena::<[u8; 1 << 46]>::new(&Region::own(), None);
    for segments in [1, 100] {
        let outcome = catch_exhausted(|| arena.grow(segments));
        assert!(
            matches!(outcome, Err(Exhausted::Memory { what: "events in buffers", bytes }) if bytes > 1 << 46),
            "{outcome:?}"
        );
    }
}
