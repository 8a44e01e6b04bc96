//! What distinguishes the pools, and what all of them keep to.

mod kinds;
mod retired;

use std::collections::VecDeque;
use std::rc::Rc;
use std::thread;

use super::tests::sum;
use super::*;
use crate::events::buffers::pools::{FEW, KEPT, RUN};
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
    let (count, room) = if cfg!(miri) { (13, 16) } else { (20_000, 1000) };
    for settings in all_settings() {
        let [mut a, mut b] = pair(settings);
        let (a_out, b_in) = ring(room);
        let (b_out, a_in) = ring(room);
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
