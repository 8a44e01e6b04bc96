//! Mistakes of callers, which are caught.

use super::*;

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

#[cfg(not(miri))]
#[test]
#[should_panic(expected = "nothing in flight")]
fn an_empty_buffer_that_was_not_sent_is_caught() {
    let [mut a, mut b] = pair::<u8>();
    let handle = a.insert(1, 1);
    b.accept_empty(handle);
}
