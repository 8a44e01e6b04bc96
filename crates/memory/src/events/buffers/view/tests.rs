use std::rc::Rc;

use super::*;
use crate::events::buffers::arena::SEGMENT_BITS;
use crate::events::buffers::pools::{PLENTY, RUN};
use crate::events::buffers::slot::NO_SLOT;
use crate::{CancelOutcome, Exhausted, catch_exhausted};

pub(super) fn pair<T>() -> [Buffers<T>; 2] {
    buffers(2).try_into().unwrap()
}

pub(super) fn sum<'a, T: 'a>(views: impl IntoIterator<Item = &'a Buffers<T>>) -> Books {
    let mut all = Books::default();
    views.into_iter().for_each(|view| all.merge(&view.books()));
    all
}

#[test]
fn views_may_move_to_threads_but_not_be_shared() {
    fn sendable<T: Send>() {}
    sendable::<Buffers<Cell<u8>>>();
    // Compiles only as long as exactly one of the two holds.
    trait Ambiguous<A> {
        fn check() {}
    }
    struct IfSync;
    struct IfSend;
    impl<T> Ambiguous<()> for T {}
    impl<T: Sync> Ambiguous<IfSync> for (T, IfSync) {}
    impl<T: Send> Ambiguous<IfSend> for (T, IfSend) {}
    <(Buffers<u8>, IfSync) as Ambiguous<_>>::check();
    <(Buffers<Rc<u8>>, IfSend) as Ambiguous<_>>::check();
}

#[test]
fn freed_buffers_are_reused_last_first() {
    let [mut a, _b] = pair();
    let handles: Vec<Handle> = (0..4).map(|n| a.insert(0, n)).collect();
    a.release(handles[1]);
    a.release(handles[3]);
    assert_eq!((a.insert(0, 10), a.insert(0, 11)), (handles[3], handles[1]));
    assert_eq!(handles.iter().map(|&handle| *a.get(handle)).collect::<Vec<_>>(), [0, 11, 2, 10]);
    let run = u64::from(RUN.max(4));
    assert_eq!(
        a.books(),
        Books { inserted: 6, released: 2, live: 4, places: run, free: run - 4, ..Books::default() }
    );
}

#[test]
fn a_buffer_goes_back_the_way_it_came() {
    let mut views = buffers(3);
    let handle = views[0].insert(2, 'x');
    views[2].accept(handle);
    assert_eq!((views[2].me(), views[2].partner(handle), *views[2].get(handle)), (2, 0, 'x'));
    views[2].release(handle);
    assert_ne!(views[2].insert(1, 'y'), handle);
    assert_ne!(views[2].insert(2, 'y'), handle);
    assert_eq!(views[2].insert(0, 'y'), handle);
    assert_eq!(
        format!("{:?}", views[1]),
        format!("Buffers {{ me: 1, books: {:?}, .. }}", Books::default())
    );
}

#[test]
fn links_outlast_the_handover() {
    let [mut a, mut b] = pair();
    let second = a.insert(0, 2);
    let first = a.insert_with(1, 7, Some(second), || 1);
    assert_eq!(*b.accept(first), 1);
    assert_eq!((a.next(first), a.next(second)), (Some(second), None));
    assert_eq!(b.begin_if(first, |mark| mark == 7), Some(&1));
    b.release(first);
    let again = b.insert(0, 3);
    assert_eq!((again, b.next(again)), (first, None));
    b.prefetch(again);
    b.prefetch(Handle::from_bits(u32::MAX));
}

#[test]
fn status_of_local_and_remote_messages() {
    for to in [0, 1] {
        let [mut a, mut b] = pair();
        let mut send = |value| {
            let handle = a.insert(to, value);
            if to == 1 {
                b.accept(handle);
            }
            handle
        };
        let pending = send(1);
        let processed = send(2);
        let undone = send(3);
        let receiver = if to == 1 { &b } else { &a };
        assert!(receiver.begin(processed) && receiver.begin(undone) && receiver.undo(undone));
        assert_eq!(a.cancel(pending), CancelOutcome::Pending);
        assert_eq!(a.cancel(processed), CancelOutcome::Processed);
        assert_eq!(a.cancel(undone), CancelOutcome::Pending);
        for handle in [pending, processed, undone] {
            assert!(!receiver.begin(handle) && !receiver.undo(handle));
            assert!(a.is_cancelled(handle) && b.is_cancelled(handle));
        }
    }
    let [mut a, mut b] = pair();
    let undone = a.insert(1, 3);
    let local = a.insert(0, 3);
    assert_eq!((a.owner(undone), b.owner(undone), b.owner(local)), (1, 1, 0));
    b.accept(undone);
    assert!(
        b.begin(undone) && a.cancel(undone) == CancelOutcome::Processed && !b.is_undone(undone)
    );
    assert!(!b.undo(undone) && b.is_undone(undone) && b.is_cancelled(undone));
    let in_flight = a.insert(1, 4);
    assert!(!b.is_cancelled(in_flight));
    assert_eq!(a.cancel(in_flight), CancelOutcome::Pending);
    assert!(b.is_cancelled(in_flight));
}

/// A message of PE 0 that PE 1 has begun as certain.
fn certain(a: &mut Buffers<u64>, b: &mut Buffers<u64>) -> Handle {
    let handle = given(a);
    b.accept(handle);
    assert_eq!(b.begin_if(handle, |_| true), Some(&1));
    handle
}

#[test]
fn certain_messages_are_begun_and_undone_like_others() {
    let [mut a, mut b] = pair();
    let handle = certain(&mut a, &mut b);
    assert!(
        b.undo(handle)
            && b.begin(handle)
            && b.undo(handle)
            && b.begin_if(handle, |_| true).is_some()
    );
    assert!(!a.is_cancelled(handle) && !b.is_undone(handle));
    assert_eq!(b.release(handle), 0);
    // The mark of certainty does not stay in the buffer.
    assert_eq!(b.insert(0, 2), handle);
    a.accept(handle);
    assert!(a.begin(handle));
    assert_eq!(b.cancel(handle), CancelOutcome::Processed);
    // A local message may be cancelled even if it was begun as certain.
    let local = a.insert(0, 1);
    assert!(
        a.begin_if(local, |_| true).is_some()
            && a.cancel(local) == CancelOutcome::Processed
            && !a.undo(local)
    );
    // A message that was cancelled before it was begun is found cancelled.
    let late = given(&mut a);
    assert_eq!(a.cancel(late), CancelOutcome::Pending);
    b.accept(late);
    assert_eq!(b.begin_if(late, |_| true), None);
}

#[test]
fn certain_messages_are_read_while_they_are_pending() {
    let [mut a, mut b] = pair();
    let sent = given(&mut a);
    let local = a.insert(0, 2);
    b.accept(sent);
    assert_eq!((b.get_certain(sent), a.get_certain(local)), (Some(&1), Some(&2)));
    // They may be read again, and then begun like others.
    assert_eq!((b.get_certain(sent), b.begin(sent)), (Some(&1), true));
    // A message of another PE that was cancelled before it was read is found cancelled.
    let late = given(&mut a);
    assert_eq!(a.cancel(late), CancelOutcome::Pending);
    b.accept(late);
    assert_eq!(b.get_certain(late), None);
    // A local message may still be cancelled.
    assert_eq!((a.cancel(local), a.get_certain(local)), (CancelOutcome::Pending, None));
}

#[test]
fn uncertain_messages_are_begun_as_usual() {
    let [mut a, mut b] = pair();
    let sent = given(&mut a);
    let late = given(&mut a);
    b.accept(sent);
    b.accept(late);
    assert_eq!((b.begin_if(sent, |_| false), a.cancel(sent)), (Some(&1), CancelOutcome::Processed));
    assert_eq!((a.cancel(late), b.begin_if(late, |_| false)), (CancelOutcome::Pending, None));
}

/// One test for each mistake of a caller, which must panic with the given message.
macro_rules! caught {
    ($($name:ident: $expected:literal, |$a:ident, $b:ident| $mistake:expr;)*) => {
        $(#[test]
        #[cfg_attr(miri, ignore = "panics are slow there, and these come before any unsafe code")]
        #[should_panic(expected = $expected)]
        fn $name() {
            #[allow(unused_mut, unused_variables)]
            let [mut $a, mut $b] = pair::<u64>();
            $mistake;
        })*
    };
}

/// A buffer in flight to the other PE.
fn given(a: &mut Buffers<u64>) -> Handle {
    a.insert(1, 1)
}

caught! {
    no_such_buffer: "no value of this PE", |a, b| a.get(Handle::from_bits(0));
    no_number: "no value of this PE", |a, b| a.get(Handle::from_bits(u32::MAX));
    getting_a_free_one: "no value of this PE", |a, b| { let h = a.insert(0, 1); a.release(h); a.get(h) };
    getting_one_never_used: "no value of this PE", |a, b| { let h = a.insert(0, 1); a.get(Handle::from_bits(h.bits() + 1)) };
    getting_one_of_another_pe: "no value of this PE", |a, b| { let h = a.insert(0, 1); b.get(h) };
    getting_one_in_flight: "no value of this PE", |a, b| { let h = given(&mut a); a.get(h) };
    getting_one_not_accepted: "no value of this PE", |a, b| { let h = given(&mut a); b.get(h) };
    releasing_twice: "no value of this PE", |a, b| { let h = a.insert(0, 1); a.release(h); a.release(h) };
    releasing_one_in_flight: "no value of this PE", |a, b| { let h = given(&mut a); a.release(h) };
    accepting_twice: "nothing in flight to PE 1", |a, b| { let h = given(&mut a); b.accept(h); b.accept(h) };
    accepting_its_own: "nothing in flight to PE 0", |a, b| { let h = given(&mut a); a.accept(h) };
    accepting_a_live_one: "nothing in flight to PE 1", |a, b| { let h = a.insert(0, 1); b.accept(h) };
    beginning_one_of_another_pe: "no value of this PE", |a, b| { let h = given(&mut a); b.begin(h) };
    beginning_twice: "processed already", |a, b| { let h = a.insert(0, 1); a.begin(h); a.begin(h) };
    reading_a_processed_one: "processed already", |a, b| { let h = given(&mut a); b.accept(h); b.begin(h); b.get_certain(h) };
    reading_one_of_another_pe: "no value of this PE", |a, b| { let h = given(&mut a); b.get_certain(h) };
    undoing_a_pending_one: "pending already", |a, b| { let h = given(&mut a); b.accept(h); b.undo(h) };
    cancelling_twice: "cancelled already", |a, b| { let h = given(&mut a); a.cancel(h); a.cancel(h) };
    taking_twice: "no value of this PE", |a, b| { let h = a.insert(0, 1); a.take(h); a.take(h) };
    cancelling_a_free_one: "no value of this PE", |a, b| { let h = a.insert(0, 1); a.release(h); a.cancel(h) };
    no_such_partner: "out of bounds", |a, b| a.insert(2, 1);
    no_pes: "1 to 16777215", |a, b| buffers::<u8>(0);
    too_many_pes: "1 to 16777215", |a, b| buffers::<u8>(1 << 24);
}

#[cfg(debug_assertions)]
caught! {
    cancelling_a_certain_one: "certain that it never would be", |a, b| { let h = certain(&mut a, &mut b); a.cancel(h) };
    cancelling_one_read_as_certain: "certain that it never would be", |a, b| {
        let h = given(&mut a);
        b.accept(h);
        b.get_certain(h);
        a.cancel(h)
    };
    cancelling_a_certain_one_after_undoing: "certain that it never would be", |a, b| { let h = certain(&mut a, &mut b); b.undo(h); a.cancel(h) };
    cancelling_one_that_was_certain_once: "certain that it never would be", |a, b| {
        let h = certain(&mut a, &mut b);
        assert!(b.undo(h) && b.begin(h));
        a.cancel(h)
    };
    beginning_a_certain_one_twice: "processed already", |a, b| { let h = certain(&mut a, &mut b); b.begin_if(h, |_| true) };
    undoing_a_certain_one_twice: "pending already", |a, b| { let h = certain(&mut a, &mut b); b.undo(h); b.undo(h) };
}

#[test]
fn values_are_dropped_once() {
    let value = Rc::new(());
    let [mut a, mut b] = pair();
    let mut handles: Vec<Handle> = (0..100).map(|n| a.insert(n % 2, value.clone())).collect();
    assert_eq!(Rc::strong_count(&value), 101);
    // Some released by either PE, some live with either PE, some in flight.
    for (number, handle) in handles.drain(..).enumerate() {
        match (number % 2, number / 2 % 5) {
            (0, 0 | 1) => assert_eq!(a.release(handle), 0),
            (1, 0 | 1) => _ = b.accept(handle),
            (1, 2) => {
                b.accept(handle);
                assert_eq!(b.release(handle), 0);
            }
            _ => {}
        }
    }
    let all = sum([&a, &b]);
    assert_eq!(Rc::strong_count(&value) as u64, 1 + all.live + all.in_flight());
    assert!(b.books().live > 0 && all.in_flight() > 0 && all.released > 20);
    drop(a);
    assert_eq!(Rc::strong_count(&value) as u64, 1 + all.live + all.in_flight());
    drop(b);
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn a_value_taken_out_is_dropped_by_whoever_took_it() {
    let [mut a, mut b] = pair();
    let value = Rc::new(7);
    let handle = a.insert(1, value.clone());
    b.accept(handle);
    let taken = b.take(handle);
    assert_eq!((Rc::strong_count(&value), b.books().free), (2, 1));
    drop((a, b));
    assert_eq!(Rc::strong_count(&value), 2, "nothing was dropped where it lay");
    drop(taken);
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn a_panic_in_drop_does_no_harm() {
    struct Bomb(Rc<Cell<u32>>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            assert!(self.0.get() > 1, "bang");
        }
    }
    let drops = Rc::new(Cell::new(0));
    let [mut a, _] = pair();
    let handle = a.insert(0, Bomb(drops.clone()));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| a.release(handle)));
    assert!(caught.is_err());
    assert_eq!(a.insert(0, Bomb(drops.clone())), handle);
    drop(a);
    assert_eq!(drops.get(), 2);
}

/// Unless they were caught one by one, a second panic would abort the process.
#[test]
fn many_panics_in_drop_at_the_end_do_no_harm() {
    let (dropped, bombs) = crate::drop_each::tests::bombs(5);
    let [mut a, b] = pair();
    // Some live, some in flight.
    (0..).zip(bombs).for_each(|(n, bomb)| _ = a.insert(n % 2, bomb));
    drop((a, b));
    assert_eq!(dropped(), 5);
}

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

#[cfg(not(miri))]
#[test]
#[should_panic(expected = "nothing in flight")]
fn an_empty_buffer_that_was_not_sent_is_caught() {
    let [mut a, mut b] = pair::<u8>();
    let handle = a.insert(1, 1);
    b.accept_empty(handle);
}

#[test]
fn no_slot_number_is_given_twice() {
    let arena = Arena::<()>::new(&Region::own(), None);
    let most = if cfg!(miri) { 200 } else { 8 };
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
