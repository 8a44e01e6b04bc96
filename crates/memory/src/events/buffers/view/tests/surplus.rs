//! Free buffers that a PE has no use for.

use super::*;
use crate::events::buffers::pools::{PLENTY, RUN};

/// One-sided traffic: the receiver has no use for the buffers; the sender needs no new ones, as
/// they come back.
#[test]
fn surplus_goes_back_to_the_sender() {
    let [mut a, mut b] = pair();
    for n in 0..if cfg!(miri) { 50 } else { 1000 } {
        let handle = a.insert(1, n);
        b.accept(handle);
        assert_eq!(b.release(handle), 0);
        while let Some(empty) = b.give_surplus(0, 5) {
            a.accept_empty(empty);
        }
    }
    assert_eq!(b.give_surplus(1, 0), None, "local buffers stay");
    let all = sum([&a, &b]);
    // Six go back and forth, of which the receiver keeps five; as many again are for local
    // messages.
    assert_eq!(all.places, 12u64.next_multiple_of(RUN.into()), "{all:?}");
    assert_eq!((all.places, all.in_flight()), (all.free, 0));
    let empty = b.give_surplus(0, 4).unwrap();
    assert_eq!(sum([&a, &b]).in_flight(), 1);
    a.accept_empty(empty);
}

#[test]
fn plentiful_local_buffers_are_used_for_other_pes() {
    let [mut a, mut b] = pair();
    let count = 4 * PLENTY;
    let local: Vec<Handle> = (0..count).map(|n| a.insert(0, n)).collect();
    local.into_iter().for_each(|handle| _ = a.release(handle));
    let before = a.books().places;
    for n in 0..count {
        let handle = a.insert(1, n);
        assert_eq!(*b.accept(handle), n);
    }
    let books = a.books();
    assert!(books.places <= before + 2 * (PLENTY + RUN as usize) as u64, "{books:?}");
    assert!(books.free >= PLENTY as u64, "{books:?}");
}

#[test]
fn local_buffers_are_used_for_other_pes_only_beyond_plenty_and_are_no_surplus() {
    let [mut a, mut b] = pair();
    let local: Vec<Handle> = (0..PLENTY).map(|n| a.insert(0, n)).collect();
    local.into_iter().for_each(|handle| _ = a.release(handle));
    assert_eq!(a.books().free, PLENTY as u64);
    let send = |a: &mut Buffers<usize>, b: &mut Buffers<usize>, n: usize| {
        let handle = a.insert(1, n);
        b.accept(handle);
        handle
    };
    // Not more than plenty are free, so a run of new ones is made, half of them for the other PE.
    let mut sent = vec![send(&mut a, &mut b, 0)];
    let places = (PLENTY + RUN as usize) as u64;
    assert_eq!(a.books().places, places);
    sent.extend((1..RUN as usize / 2 + 1).map(|n| send(&mut a, &mut b, n)));
    assert_eq!(a.books().places, places, "a local one is used");
    // They count as made for the other PE, so they are no surplus when they are back.
    sent.into_iter().for_each(|handle| _ = b.release(handle));
    while let Some(empty) = b.give_surplus(0, 0) {
        a.accept_empty(empty);
    }
    assert_eq!((a.give_surplus(1, 0), a.books().free), (None, places));
}

/// Bursts in either or both directions leave more free buffers than the two PEs keep of each
/// other's: the surplus returns to its makers, and stays there.
#[test]
fn surplus_comes_to_rest() {
    const MOST: usize = 5;
    let [large, small] = if cfg!(miri) { [20, 5] } else { [60, 17] };
    let bursts = [[large, 0], [large, small], [0, large], [large, large]];
    for bursts in &bursts[..if cfg!(miri) { 2 } else { 4 }] {
        let mut views = pair();
        let bursts = *bursts;
        // In a round, each sends the other this many messages, and then returns its surplus. The
        // result is the total surplus.
        let mut round = |counts: [usize; 2]| {
            let sent: [Vec<Handle>; 2] = [0, 1]
                .map(|me| (0..counts[me]).map(|n| views[me].insert(1 - me as u32, n)).collect());
            for (me, sent) in sent.into_iter().enumerate() {
                for handle in sent {
                    views[1 - me].accept(handle);
                    views[1 - me].release(handle);
                }
            }
            let back = [0, 1].map(|me: usize| {
                std::iter::from_fn(|| views[me].give_surplus(1 - me as u32, MOST))
                    .collect::<Vec<_>>()
            });
            let count: usize = back.iter().map(Vec::len).sum();
            for (me, back) in back.into_iter().enumerate() {
                back.into_iter().for_each(|handle| views[1 - me].accept_empty(handle));
            }
            count
        };
        assert!(
            (0..3).map(|_| round(bursts)).sum::<usize>() > 0 || bursts[0] == bursts[1],
            "{bursts:?}"
        );
        // With little traffic from then on, there is soon no surplus.
        let mut calm = |rounds: usize| {
            (0..rounds).map(|n| round([[0, 0], [3, 0], [0, 3], [2, 2]][n % 4])).sum::<usize>()
        };
        assert!(calm(8) <= 8, "{bursts:?}");
        assert_eq!(calm(if cfg!(miri) { 8 } else { 100 }), 0, "{bursts:?}");
    }
}

/// With many PEs, a run of new buffers may exceed the number that a PE may keep, but is no surplus
/// all the same.
#[test]
fn buffers_just_made_are_no_surplus() {
    let [mut a, mut b] = pair();
    let handle = a.insert(1, 'x');
    assert_eq!(a.give_surplus(1, 0), None);
    b.accept(handle);
    b.release(handle);
    assert_eq!(b.give_surplus(0, 0), Some(handle));
    a.accept_empty(handle);
    assert_eq!(a.give_surplus(1, 0), None);
}
