//! What distinguishes the pools, and what all of them keep to.

use std::collections::VecDeque;
use std::rc::Rc;
use std::thread;

use super::tests::sum;
use super::*;
use crate::events::buffers::pools::{FEW, KEPT, PLENTY, RUN};
use crate::{Books, Consumer, PoolKind, PoolOrder, Producer, SubPool, ring};

const KINDS: [PoolKind; 5] = [
    PoolKind::Receiver,
    PoolKind::Sender,
    PoolKind::Partitioned(SubPool::Unlimited),
    PoolKind::Partitioned(SubPool::Fixed(3)),
    PoolKind::Partitioned(SubPool::Adaptive(4)),
];

/// Free lists are safe code, so Miri need not see both orders.
const ORDERS: &[PoolOrder] =
    if cfg!(miri) { &[PoolOrder::Lifo] } else { &[PoolOrder::Lifo, PoolOrder::Fifo] };

/// Every kind of pool in either order, with and without buffers that are retired.
fn all_settings() -> impl Iterator<Item = PoolSettings> {
    let of_kind = |kind| {
        ORDERS.iter().flat_map(move |&order| {
            [false, true].map(|retires| PoolSettings { kind, order, retires })
        })
    };
    KINDS.into_iter().flat_map(of_kind)
}

fn views<T>(pes: u32, settings: PoolSettings) -> Vec<Buffers<T>> {
    buffers_in(&Region::own(), None, pes, settings)
}

fn pair<T>(settings: PoolSettings) -> [Buffers<T>; 2] {
    views(2, settings).try_into().unwrap()
}

fn of(kind: PoolKind) -> PoolSettings {
    PoolSettings { kind, ..PoolSettings::default() }
}

/// A message that goes to the other PE, which returns it.
fn deliver(from: &mut Buffers<u32>, to: &mut Buffers<u32>, value: u32) -> Handle {
    let handle = from.insert(to.me(), value);
    assert_eq!(*to.accept(handle), value);
    handle
}

/// No buffer is lost, whoever has it.
fn check_books<T>(views: &[Buffers<T>]) -> Books {
    let all = sum(views);
    assert_eq!(all.places, all.free + all.live + all.in_flight() + all.in_common(), "{all:?}");
    assert!(all.withdrawn <= all.deposited, "{all:?}");
    all
}

#[test]
fn a_buffer_stays_with_its_receiver() {
    let [mut a, mut b] = pair(of(PoolKind::Receiver));
    let first = deliver(&mut a, &mut b, 1);
    assert_eq!(
        (a.books().places, b.books().places),
        (1, 0),
        "no memory but the sender's is there yet"
    );
    b.release(first);
    assert_eq!((a.books().free, b.books().free), (0, 1));
    assert_ne!(b.insert(0, 2), first, "it is for messages to PE 1");
    assert_eq!(deliver(&mut a, &mut b, 3), first);
    b.release(first);
    assert_eq!(b.insert(1, 4), first, "those of PE 1 to itself included");
    check_books(&[a, b]);
}

/// The memory of a pool is made by its PE, so that pages lie where they are first touched.
#[test]
fn a_receiver_adds_what_senders_have_missed() {
    let [mut a, mut b] = pair(of(PoolKind::Receiver));
    let sent: Vec<Handle> = (0..5).map(|value| deliver(&mut a, &mut b, value)).collect();
    assert_eq!((a.books().places, b.books().places, b.books().free), (5, 0, 0));
    b.tidy(0);
    assert_eq!((a.books().places, b.books().places, b.books().free), (5, 5, 5));
    let again: Vec<Handle> = (0..5).map(|value| deliver(&mut a, &mut b, value)).collect();
    assert!(again.iter().all(|handle| !sent.contains(handle)));
    assert_eq!((a.books().places, b.books().free), (5, 0));
    b.tidy(0);
    assert_eq!(b.books().places, 5, "nothing was missed");
    let local = b.insert(1, 7);
    assert_eq!(b.books().places, 5 + u64::from(RUN));
    b.tidy(0);
    b.release(local);
    assert_eq!(b.books().places, 5 + u64::from(RUN), "a PE does not miss what it makes for itself");
    check_books(&[a, b]);
}

#[test]
fn a_receiver_keeps_the_buffers_of_its_senders_until_it_gives_them_to_all() {
    let mut three = views(3, of(PoolKind::Sender));
    let [a, b, c] = &mut three[..] else { panic!() };
    let count = 10 * RUN;
    let sent: Vec<Handle> = (0..count).map(|value| deliver(a, b, value)).collect();
    assert_eq!((a.books().places, b.books().places), (u64::from(count), 0));
    sent.iter().for_each(|handle| _ = b.release(*handle));
    assert_eq!((a.books().free, b.books().free), (0, u64::from(count)));
    // It sends with what it has received.
    let answer = deliver(b, a, 1);
    assert_eq!(answer, *sent.last().unwrap());
    a.release(answer);
    b.tidy(0);
    assert_eq!(
        (b.books().deposited, b.books().free),
        (u64::from(count) - 1, 0),
        "it has made none itself"
    );
    // Another PE takes as few as it needs from there, and the first as many as it has made.
    deliver(c, b, 1);
    assert_eq!((c.books().places, c.books().withdrawn), (0, FEW as u64));
    a.tidy(0);
    deliver(a, b, 1);
    assert_eq!(
        (a.books().places, a.books().withdrawn),
        (u64::from(count), u64::from(count) - 1 - FEW as u64)
    );
    check_books(&three);
}

#[test]
fn a_pool_with_enough_leaves_the_common_one_alone() {
    let [mut b, mut a] = pair(of(PoolKind::Sender));
    let local: Vec<Handle> = (0..FEW as u32 + 1).map(|value| a.insert(1, value)).collect();
    let places = a.books().places;
    local.into_iter().for_each(|handle| _ = a.release(handle));
    let sent: Vec<Handle> = (0..2 * RUN).map(|value| deliver(&mut b, &mut a, value)).collect();
    sent.into_iter().for_each(|handle| _ = a.release(handle));
    a.tidy(0);
    assert_eq!((a.books().deposited, a.books().free), (u64::from(2 * RUN), places));
    while a.books().free as usize > FEW {
        deliver(&mut a, &mut b, 1);
    }
    deliver(&mut a, &mut b, 1);
    assert_eq!(a.books().withdrawn, 0, "five are enough");
    deliver(&mut a, &mut b, 1);
    assert!(a.books().withdrawn > 0, "and four are too few");
    check_books(&[a, b]);
}

#[test]
fn a_sub_pool_of_a_size_has_room_for_so_many() {
    for retires in [false, true] {
        let size = PoolKind::Partitioned(SubPool::Fixed(4));
        let mut three = views(3, PoolSettings { retires, ..of(size) });
        assert!(
            three[0].is_bounded()
                && three[0].has_room(1, 4)
                && !three[0].has_room(1, 5)
                && three[0].has_room(0, u32::MAX)
        );
        let [a, b, _] = &mut three[..] else { panic!() };
        let sent: Vec<Handle> = (0..4).map(|value| deliver(a, b, value)).collect();
        assert!(!a.has_room(1, 1) && a.has_room(2, 4), "nobody takes from other sub-pools");
        // A message that nobody may hold up takes more.
        let beyond = deliver(a, b, 5);
        // All come back. What exceeds the size is for local messages from then on.
        sent.iter().chain([&beyond]).for_each(|handle| _ = b.release(*handle));
        assert!(b.has_room(0, 9) && !b.has_room(0, 10));
        let mut back = 0;
        while let Some(empty) = b.give_surplus(0, 1000) {
            a.accept_empty(empty);
            back += 1;
        }
        assert_eq!(back, 4, "a quarter of the size may stay");
        a.tidy(0);
        assert!(a.has_room(1, 3) && !a.has_room(1, 4), "the receiver has kept one");
        let places = a.books().places;
        let local: Vec<Handle> = (0..places - 4).map(|value| a.insert(0, value as u32)).collect();
        assert_eq!(a.books().places, places);
        local.into_iter().for_each(|handle| _ = a.release(handle));
        check_books(&three);
    }
}

#[test]
fn sizes_that_adapt_follow_what_is_wanted() {
    let mut three = views::<u32>(3, of(PoolKind::Partitioned(SubPool::Adaptive(4))));
    let a = &mut three[0];
    assert!(a.has_room(1, 4) && !a.has_room(1, 5) && !a.has_room(2, 5));
    let sent: Vec<Handle> = (0..4).map(|value| a.insert(2, value)).collect();
    a.want(1, 100);
    a.tidy(0);
    assert!(a.has_room(1, 7) && !a.has_room(1, 8), "all but one");
    assert!(!a.has_room(2, 1));
    let [a, _, c] = &mut three[..] else { panic!() };
    for handle in sent {
        c.accept(handle);
        c.release(handle);
    }
    while let Some(empty) = c.give_surplus(0, 1000) {
        a.accept_empty(empty);
    }
    a.tidy(0);
    assert!(!a.has_room(2, 1), "the receiver has kept the one that is left");
    let answer = deliver(c, a, 1);
    a.release(answer);
    assert!(a.has_room(2, 1) && !a.has_room(2, 2));
    check_books(&three);
}

#[test]
fn the_order_is_kept() {
    for settings in all_settings().filter(|settings| !settings.retires) {
        let [mut a, _b] = pair::<u32>(settings);
        let mut handles: Vec<Handle> = (0..2 * RUN).map(|value| a.insert(0, value)).collect();
        // What is left of the last run is free as well.
        while a.books().free > 0 {
            handles.push(a.insert(0, 0));
        }
        handles.iter().for_each(|handle| _ = a.release(*handle));
        let mut again: Vec<Handle> = handles.iter().map(|_| a.insert(0, 1)).collect();
        if settings.order == PoolOrder::Lifo {
            again.reverse();
        }
        assert_eq!(again, handles, "{settings:?}");
        assert_eq!(a.books().free, 0);
    }
}

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

/// A free buffer waits in a list that goes through the buffers themselves. A link that somebody sets
/// by mistake must not lead there, or the buffer of a live value would be handed out as free.
#[test]
fn a_link_set_by_mistake_hands_out_no_buffer_twice() {
    for settings in all_settings() {
        let value = Rc::new(());
        let [mut a, mut b] = pair(settings);
        let live = a.insert(1, value.clone());
        b.accept(live);
        let freed: Vec<Handle> = (0..2 * FEW).map(|_| a.insert(1, value.clone())).collect();
        for handle in &freed {
            b.accept(*handle);
            b.release(*handle);
        }
        for buffers in [&mut a, &mut b] {
            buffers.save_memory(true);
            buffers.tidy(0);
        }
        freed.iter().for_each(|handle| a.set_next(*handle, Some(live)));
        let again: Vec<Handle> = (0..4 * FEW).map(|_| a.insert(1, value.clone())).collect();
        assert!(!again.contains(&live), "{settings:?}");
        drop((a, b));
        assert_eq!(Rc::strong_count(&value), 1, "{settings:?}");
    }
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
fn a_message_to_a_pe_that_is_not_there_is_caught() {
    for kind in KINDS {
        for to in [2, 1 << 16, u32::MAX] {
            let send = || pair(of(kind))[0].insert(to, 1);
            assert!(std::panic::catch_unwind(send).is_err(), "{kind:?} to PE {to}");
        }
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

/// Messages from one PE to another and how many of those sent have been received, as the sender
/// sees it.
fn chatter(
    view: &mut Buffers<Box<u64>>,
    mut out: Producer<Handle>,
    mut into: Consumer<Handle>,
    count: u64,
    retires: bool,
) {
    let other = 1 - view.me();
    let mut sent = 0;
    let mut received = 0;
    let mut open = VecDeque::new();
    let mut found = Vec::new();
    let mut rounds = 0u64;
    while sent < count || received < count {
        rounds += 1;
        // Now and then several local ones, which are over at once.
        if sent % 16 == 3 {
            let local: Vec<Handle> = (0..5).map(|n| view.insert(view.me(), Box::new(n))).collect();
            local.into_iter().for_each(|handle| _ = view.release(handle));
        }
        if sent < count && sent < received + 100 {
            assert!(out.push(view.insert(other, Box::new(sent))));
            sent += 1;
        }
        if into.drain_into(&mut found, 16) == 0 {
            thread::yield_now();
        }
        for handle in found.drain(..) {
            assert_eq!(**view.accept(handle), received);
            assert!(view.begin(handle));
            if retires {
                view.retire(handle, received);
                open.push_back((received, handle));
            } else {
                view.release(handle);
            }
            received += 1;
        }
        if rounds.is_multiple_of(8) {
            while open.len() > if cfg!(miri) { 4 } else { 20 }
                && let Some((stamp, handle)) = open.pop_front()
            {
                // One in ten is executed once more.
                if stamp % 10 == 0 {
                    view.withdraw(handle, stamp);
                    assert!(**view.get(handle) == stamp && view.undo(handle));
                    view.release(handle);
                } else {
                    view.empty(handle);
                }
            }
            view.tidy(open.front().map_or(0, |(stamp, _)| *stamp));
        }
    }
}

#[test]
fn two_threads_exchange_buffers_of_every_pool() {
    let count = if cfg!(miri) { 13 } else { 20_000 };
    for settings in all_settings() {
        let [mut a, mut b] = pair(settings);
        let (a_out, b_in) = ring(1000);
        let (b_out, a_in) = ring(1000);
        thread::scope(|scope| {
            scope.spawn(|| chatter(&mut b, b_out, b_in, count, settings.retires));
            chatter(&mut a, a_out, a_in, count, settings.retires);
        });
        let all = check_books(&[a, b]);
        assert_eq!(
            (all.given, all.accepted, all.live, all.in_flight()),
            (2 * count, 2 * count, 0, 0),
            "{settings:?}"
        );
        assert!(all.places <= 2000, "buffers are used again: {settings:?}, {all:?}");
    }
}

/// A PE with nothing to do does not keep what others need.
#[test]
fn where_memory_is_short_free_buffers_are_for_all() {
    let [mut a, mut b] = pair::<u32>(PoolSettings::default());
    let count = 4 * (KEPT as u32 + RUN);
    let local: Vec<Handle> = (0..count).map(|value| a.insert(0, value)).collect();
    local.into_iter().for_each(|handle| _ = a.release(handle));
    a.tidy(0);
    assert_eq!(
        (a.books().deposited, a.books().places),
        (0, u64::from(count)),
        "there is enough memory"
    );
    for buffers in [&mut a, &mut b] {
        buffers.save_memory(true);
        buffers.tidy(0);
    }
    let kept = a.books().free;
    assert!(
        kept <= KEPT as u64 && a.books().deposited == u64::from(count) - kept,
        "{:?}",
        a.books()
    );
    (0..count / 2).for_each(|value| _ = deliver(&mut b, &mut a, value));
    assert_eq!(b.books().places, 0, "nothing new is made");
    assert_eq!(b.available() - b.books().free, sum(&[a, b]).in_common());
}
