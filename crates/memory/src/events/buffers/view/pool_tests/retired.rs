//! Retired buffers, which are used again when they are over, and no sooner.

use std::rc::Rc;

use super::*;
use crate::events::buffers::pools::{PLENTY, RUN};

#[test]
fn a_retired_buffer_is_used_again_when_it_is_over() {
    for settings in all_settings().filter(|settings| settings.retires) {
        for to in [0, 1] {
            let [mut a, mut b] = pair(settings);
            let mut deliver = |value: u32| {
                let handle = a.insert(to, value);
                if to == 1 {
                    b.accept(handle);
                }
                handle
            };
            let [first, second] = [deliver(1), deliver(2)];
            let receiver = if to == 1 { &mut b } else { &mut a };
            let free = receiver.books().free;
            assert!(receiver.begin(first) && receiver.begin(second));
            receiver.retire(first, 3);
            receiver.retire(second, 7);
            assert_eq!(
                (receiver.books().live, receiver.books().free),
                (0, free + 2),
                "{settings:?}"
            );
            assert_eq!(
                (*receiver.get(second), *receiver.get(first)),
                (2, 1),
                "nothing has happened to them yet"
            );
            receiver.tidy(7);
            // The first is over, the second is not.
            let found: Vec<Handle> = (0..4 * RUN).map(|value| receiver.insert(0, value)).collect();
            assert_eq!(
                found.contains(&first),
                to == 0 || settings.kind != PoolKind::Receiver,
                "{settings:?}"
            );
            assert!(!found.contains(&second) && *receiver.get(second) == 2, "{settings:?}");
            receiver.withdraw(second, 7);
            assert!(receiver.undo(second) && receiver.begin(second));
            receiver.retire(second, 8);
            receiver.tidy(9);
            let found: Vec<Handle> = (0..4 * RUN).map(|value| receiver.insert(1, value)).collect();
            assert_eq!(
                found.contains(&second),
                to == 1 && settings.kind == PoolKind::Receiver || settings.kind == PoolKind::Sender
            );
            check_books(&[a, b]);
        }
    }
}

/// Otherwise a PE that sends more than it receives makes new buffers for ever.
#[test]
fn retired_buffers_that_are_over_are_surplus() {
    let [mut a, mut b] = pair(PoolSettings { retires: true, ..PoolSettings::default() });
    for stamp in 0..10 {
        let handle = deliver(&mut a, &mut b, 0);
        b.retire(handle, stamp);
    }
    assert_eq!(b.give_surplus(0, 4), None, "none of them is over");
    b.tidy(8);
    let mut back = 0;
    while let Some(empty) = b.give_surplus(0, 4) {
        a.accept_empty(empty);
        back += 1;
    }
    assert_eq!((back, b.books().free), (6, 4));
    let places = a.books().places;
    (0..back).for_each(|value| _ = deliver(&mut a, &mut b, value));
    assert_eq!(a.books().places, places, "nothing new is made");
    check_books(&[a, b]);
}

/// With plenty of them, or where memory is short.
#[test]
fn retired_local_buffers_serve_other_pes_too() {
    for (least, short) in [(PLENTY + 1, false), (1, true)] {
        let [mut a, _b] = pair::<u32>(PoolSettings { retires: true, ..PoolSettings::default() });
        let local: Vec<Handle> =
            (0..least.next_multiple_of(RUN as usize)).map(|_| a.insert(0, 0)).collect();
        let places = a.books().places;
        assert_eq!(a.books().free, 0);
        local.iter().zip(0..).for_each(|(handle, stamp)| a.retire(*handle, stamp));
        a.tidy(u64::MAX);
        a.save_memory(short);
        a.insert(1, 0);
        assert_eq!(a.books().places, places, "nothing new is made");
    }
}

#[test]
fn what_is_undone_is_taken_out_wherever_it_is() {
    let [mut a, _b] = pair::<u32>(PoolSettings { retires: true, ..PoolSettings::default() });
    let handles: Vec<Handle> = (0..6).map(|value| a.insert(0, value)).collect();
    handles.iter().zip(10..).for_each(|(handle, stamp)| a.retire(*handle, stamp));
    // One in the middle, and the last two, whose stamps are used again.
    for undone in [2, 5, 4] {
        a.withdraw(handles[undone], 10 + undone as u64);
    }
    a.retire(handles[5], 14);
    a.tidy(u64::MAX);
    let again: Vec<Handle> = std::iter::from_fn(|| a.reclaim_one(0))
        .map(|free| Handle::from_bits(free.number()))
        .collect();
    assert_eq!(again, [0, 1, 3, 5].map(|kept| handles[kept]));
    assert_eq!([*a.get(handles[2]), *a.get(handles[4])], [2, 4]);
}

/// Whatever an engine does wrong, no slot is used twice, and no value is dropped twice or used
/// after that.
#[test]
fn a_buffer_that_is_retired_by_mistake_does_no_harm() {
    let value = Rc::new(());
    let [mut a, mut b] = pair(PoolSettings { retires: true, ..PoolSettings::default() });
    let handles: Vec<Handle> = (0..4).map(|_| a.insert(1, value.clone())).collect();
    handles.iter().for_each(|handle| _ = b.accept(*handle));
    // Twice; and before the buffer is released, emptied, or given away again.
    b.retire(handles[0], 1);
    b.retire(handles[0], 2);
    b.retire(handles[1], 3);
    b.release(handles[1]);
    b.retire(handles[2], 4);
    b.empty(handles[2]);
    b.retire(handles[3], 5);
    b.release(handles[3]);
    let given = b.insert(0, value.clone());
    assert_eq!(given, handles[3]);
    b.tidy(u64::MAX);
    let found: Vec<Handle> = (0..10).map(|_| b.insert(0, value.clone())).collect();
    let mut numbers: Vec<u32> = found.iter().chain([&given]).map(|handle| handle.bits()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((numbers.len(), Rc::strong_count(&value)), (11, 12));
    drop((a, b));
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn values_of_retired_buffers_are_dropped_once() {
    for settings in all_settings().filter(|settings| settings.retires) {
        let value = Rc::new(());
        let [mut a, mut b] = pair(settings);
        for stamp in 0..if cfg!(miri) { 12 } else { 100 } {
            let handle = a.insert(1, value.clone());
            b.accept(handle);
            b.retire(handle, stamp);
            if stamp % 2 == 0 {
                b.empty(handle);
            }
            b.tidy(stamp / 2);
            if stamp % 3 == 0 {
                b.insert(0, value.clone());
            }
        }
        assert!(Rc::strong_count(&value) > 1);
        drop((a, b));
        assert_eq!(Rc::strong_count(&value), 1, "{settings:?}");
    }
}

#[cfg(not(miri))]
#[test]
#[should_panic(expected = "a stamp of its own")]
fn a_stamp_is_used_once() {
    let [mut a, _b] = pair::<u32>(PoolSettings { retires: true, ..PoolSettings::default() });
    let handles = [a.insert(0, 1), a.insert(0, 2)];
    handles.into_iter().for_each(|handle| a.retire(handle, 7));
}

#[cfg(not(miri))]
#[test]
#[should_panic(expected = "only what has been retired")]
fn only_what_has_been_retired_is_taken_back() {
    let [mut a, _b] = pair::<u32>(PoolSettings { retires: true, ..PoolSettings::default() });
    let handle = a.insert(0, 1);
    a.withdraw(handle, 1);
}
