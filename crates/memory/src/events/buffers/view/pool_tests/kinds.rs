//! What distinguishes the kinds of pools: where free buffers wait, and who may take them.

use super::*;
use crate::events::buffers::pools::{FEW, RUN};

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
