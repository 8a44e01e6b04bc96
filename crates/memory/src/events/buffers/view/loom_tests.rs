use loom::thread;

use super::*;
use crate::{CancelOutcome, Consumer, PoolKind, ring};

fn pair() -> [Buffers<Box<u32>>; 2] {
    buffers(2).try_into().unwrap()
}

fn receive(into: &mut Consumer<Handle>) -> Handle {
    let mut found = Vec::new();
    while into.drain_into(&mut found, 1) == 0 {
        thread::yield_now();
    }
    found[0]
}

/// Both PEs write and read the value in turn, never concurrently. The last one is dropped with the
/// arena, still in flight.
#[test]
fn loom_a_buffer_goes_back_and_forth() {
    loom::model(|| {
        let [mut a, mut b] = pair();
        let (mut a_out, mut b_in) = ring(2);
        let (mut b_out, mut a_in) = ring(2);
        let other = thread::spawn(move || {
            let handle = receive(&mut b_in);
            b.accept(handle);
            assert_eq!(**b.get(handle), 7);
            b.release(handle);
            let again = b.insert(0, Box::new(8));
            assert_eq!(again, handle);
            b_out.push(again);
        });
        let link = Handle::from_bits(3);
        let handle = a.insert_with(1, 0, Some(link), || Box::new(7));
        a_out.push(handle);
        assert_eq!(receive(&mut a_in), handle);
        a.accept(handle);
        assert_eq!((**a.get(handle), a.partner(handle), a.next(handle)), (8, 1, None));
        assert_eq!(*a.take(handle), 8);
        a.insert(1, Box::new(9));
        other.join().unwrap();
    });
}

/// A handle may be guessed, rather than arrive through a ring, which would synchronise: the tag
/// alone publishes the buffer's contents.
#[test]
fn loom_the_tag_publishes_the_buffer() {
    loom::model(|| {
        let [mut a, mut b] = pair();
        let first = Handle::from_bits(0);
        let other = thread::spawn(move || {
            let sent = |slot: &Slot<_>| slot.tag() == tag(SENT, 1);
            while !b.arena.slot(first.bits()).is_some_and(sent) {
                thread::yield_now();
            }
            b.accept(first);
            assert_eq!(**b.get(first), 7);
            b.release(first);
        });
        assert_eq!(a.insert(1, Box::new(7)), first);
        other.join().unwrap();
    });
}

/// Cancels a message while its receiver acts on it. `receiver` returns what the cancellation must
/// have found.
fn cancel_against(receiver: fn(&Buffers<Box<u32>>, Handle) -> CancelOutcome) {
    loom::model(move || {
        let [mut a, mut b] = pair();
        let handle = a.insert(1, Box::new(7));
        b.accept(handle);
        let other = thread::spawn(move || (receiver(&b, handle), b));
        let cancelled = a.cancel(handle);
        let (expected, mut b) = other.join().unwrap();
        assert_eq!(cancelled, expected);
        assert!(a.is_cancelled(handle) && b.is_cancelled(handle));
        b.release(handle);
    });
}

#[test]
fn loom_cancel_against_begin() {
    cancel_against(|view, handle| {
        if view.begin(handle) { CancelOutcome::Processed } else { CancelOutcome::Pending }
    });
}

#[test]
fn loom_cancel_against_begin_and_undo() {
    cancel_against(|view, handle| match view.begin(handle) && !view.undo(handle) {
        true => CancelOutcome::Processed,
        false => CancelOutcome::Pending,
    });
}

/// The receiver frees the cancelled message and reuses the buffer, but only after the sender has
/// read the link.
#[test]
fn loom_cancel_against_reuse() {
    loom::model(|| {
        let [mut a, mut b] = pair();
        let link = Handle::from_bits(3);
        let handle = a.insert_with(1, 0, Some(link), || Box::new(7));
        let other = thread::spawn(move || {
            b.accept(handle);
            if !b.begin(handle) {
                b.release(handle);
                assert_eq!(b.insert(0, Box::new(8)), handle);
            }
        });
        assert_eq!(a.next(handle), Some(link));
        a.cancel(handle);
        other.join().unwrap();
    });
}

/// A free buffer goes back, and is reused by the PE that gets it.
#[test]
fn loom_surplus_goes_back() {
    loom::model(|| {
        let [mut a, mut b] = pair();
        let (mut out, mut into) = ring(2);
        let handle = a.insert(1, Box::new(7));
        b.accept(handle);
        let other = thread::spawn(move || {
            b.release(handle);
            assert!(out.push(b.give_surplus(0, 0).unwrap()));
        });
        a.accept_empty(receive(&mut into));
        assert_eq!(a.insert(1, Box::new(8)), handle);
        other.join().unwrap();
    });
}

/// Both make their first segment at the same time, and find the other's in the directory.
#[test]
fn loom_two_pes_grow_the_arena_at_once() {
    loom::model(|| {
        let [mut a, mut b] = pair();
        let other = thread::spawn(move || {
            let handle = b.insert(1, Box::new(1));
            (handle, **b.get(handle))
        });
        let handle = a.insert(0, Box::new(0));
        a.prefetch(Handle::from_bits(handle.bits() ^ 2));
        let found = other.join().unwrap();
        assert_eq!((**a.get(handle), found.1), (0, 1));
        assert_ne!(handle, found.0);
    });
}

fn pair_of(kind: PoolKind) -> [Buffers<Box<u32>>; 2] {
    buffers_in(&crate::Region::own(), None, 2, PoolSettings { kind, ..PoolSettings::default() })
        .try_into()
        .unwrap()
}

/// The receiver gives a buffer back to its pool while the sender takes one from there: the same one
/// or another, but no two PEs the same.
#[test]
fn loom_a_receiver_pool_is_used_by_both() {
    loom::model(|| {
        let [mut a, mut b] = pair_of(PoolKind::Receiver);
        let handle = a.insert(1, Box::new(7));
        b.accept(handle);
        let other = thread::spawn(move || {
            b.release(handle);
            let local = b.insert(1, Box::new(8));
            assert_eq!(**b.get(local), 8);
            (b, local)
        });
        let second = a.insert(1, Box::new(9));
        let (mut b, local) = other.join().unwrap();
        assert_ne!(second, local);
        assert_eq!((**b.accept(second), **b.get(local)), (9, 8));
    });
}

/// What one PE gives to all, another takes, with its contents gone and a new one in it.
#[test]
fn loom_a_common_pool_passes_buffers_on() {
    loom::model(|| {
        let [mut a, mut b] = pair_of(PoolKind::Sender);
        let handle = a.insert(1, Box::new(7));
        b.accept(handle);
        let other = thread::spawn(move || {
            b.release(handle);
            b.tidy(0);
            b
        });
        let mut sent: Vec<Handle> = (0..3).map(|value| a.insert(0, Box::new(value))).collect();
        sent.iter().zip(0..).for_each(|(handle, value)| assert_eq!(**a.get(*handle), value));
        let b = other.join().unwrap();
        sent.sort_unstable_by_key(|handle| handle.bits());
        sent.dedup();
        assert_eq!(sent.len(), 3);
        let a = a.books();
        let b = b.books();
        let mut all = a;
        all.merge(&b);
        assert_eq!(all.places, all.free + all.live + all.in_common());
    });
}
