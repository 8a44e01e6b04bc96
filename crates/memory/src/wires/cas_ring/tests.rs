use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::Exhausted;

fn all<T: Send>(consumer: &mut CasConsumer<T>) -> Vec<T> {
    let mut found = Vec::new();
    let count = consumer.drain(usize::MAX, |value| found.push(value));
    assert_eq!(count, found.len());
    found
}

fn why<T>(outcome: Result<(), Refused<T>>) -> Refusal {
    outcome.expect_err("it is refused").why
}

#[test]
fn cas_capacities_are_powers_of_two() {
    for (asked, given) in [(0, 1), (1, 1), (2, 2), (3, 4), (8, 8), (9, 16)] {
        let (mut producer, mut consumer) = cas_ring(asked);
        for value in 0..given {
            producer.push(value).unwrap();
        }
        assert_eq!(producer.push(7), Err(Refused { value: 7, why: Refusal::Full }));
        assert_eq!(all(&mut consumer), (0..given).collect::<Vec<_>>());
    }
}

#[test]
#[should_panic(expected = "power of two")]
fn a_cas_capacity_beyond_the_largest_power_of_two_panics() {
    cas_ring::<u8>(usize::MAX);
}

#[test]
#[cfg(not(miri))]
fn a_cas_ring_that_is_too_large_says_so() {
    let outcome = crate::catch_exhausted(|| drop(cas_ring::<u16>(1 << 47)));
    assert_eq!(
        outcome,
        Err(Exhausted::Memory { what: "the queue of several producers", bytes: 1 << 48 })
    );
}

#[test]
fn cas_indices_have_lines_of_their_own() {
    let mut offsets = [
        std::mem::offset_of!(Indices, read),
        std::mem::offset_of!(Indices, write),
        std::mem::offset_of!(Indices, reserved),
    ];
    offsets.sort_unstable();
    assert!(offsets.windows(2).all(|pair| pair[1] - pair[0] >= 128) && size_of::<Indices>() == 384);
    let (producer, _consumer) = cas_ring::<u8>(8);
    let indices = std::ptr::from_ref(&*producer.shared.indices).addr();
    let places = producer.shared.places.as_ptr().addr();
    assert!(indices % 128 == 0 && !(indices..indices + 384).contains(&places));
}

/// The three steps of a producer that is stopped after each of them.
#[test]
fn a_cas_producer_that_is_stopped_holds_others_up() {
    let (mut slow, mut consumer) = cas_ring(4);
    let mut other = slow.clone();
    other.push(1).unwrap();
    // It has found a place, and another takes it.
    let free = slow.shared.look(&mut slow.read).unwrap();
    other.push(2).unwrap();
    assert_eq!(slow.shared.reserve(free).err(), Some(Refusal::Collision));
    // It has reserved a place: the consumer does not see it, others are refused, even where there
    // is room.
    let free = slow.shared.look(&mut slow.read).unwrap();
    let place = slow.shared.reserve(free).unwrap();
    assert_eq!(why(other.push(4)), Refusal::InProgress);
    assert_eq!(why(other.push_within(4, 3)), Refusal::InProgress);
    assert_eq!(all(&mut consumer), [1, 2]);
    assert!(consumer.is_empty());
    assert_eq!(why(other.push(4)), Refusal::InProgress);
    slow.shared.write(place, 3);
    slow.counts.pushed += 1;
    assert!(!consumer.is_empty());
    other.push(4).unwrap();
    assert_eq!(all(&mut consumer), [3, 4]);
    assert_eq!(other.counts(), CasCounts { pushed: 3, in_progress: 5, ..CasCounts::default() });
    assert_eq!(slow.counts(), CasCounts { pushed: 1, ..CasCounts::default() });
}

#[test]
fn cas_refusals_are_counted_for_each_producer() {
    let (mut first, mut consumer) = cas_ring(2);
    first.push("a").unwrap();
    let mut second = first.clone();
    second.push_within("b", 0).unwrap();
    assert_eq!(second.push_within("c", 0), Err(Refused { value: "c", why: Refusal::Full }));
    assert_eq!(second.push_within("c", 10).unwrap_err().to_string(), "the ring is full");
    assert_eq!(first.counts(), CasCounts { pushed: 1, ..CasCounts::default() });
    assert_eq!(second.counts(), CasCounts { pushed: 1, full: 11, ..CasCounts::default() });
    let odd = CasCounts { pushed: 1, full: 2, in_progress: 3, collisions: 4 };
    let sum: CasCounts = [odd, odd, second.counts()].into_iter().sum();
    assert_eq!(sum, CasCounts { pushed: 3, full: 15, in_progress: 6, collisions: 8 });
    assert_eq!(all(&mut consumer), ["a", "b"]);
}

/// All the way beyond 32 bits, where an index that wraps would find a place full or free that is
/// not.
#[test]
fn cas_indices_do_not_wrap_at_32_bits() {
    let (mut producer, mut consumer) = cas_ring(4);
    let start = u64::from(u32::MAX) - 2;
    let Indices { read, write, reserved } = &*producer.shared.indices;
    for index in [read, write, reserved] {
        index.0.store(start, Ordering::Relaxed);
    }
    producer.read = start;
    consumer.read = start;
    for round in 0..5 {
        for value in 0..4 {
            producer.push(10 * round + value).unwrap();
        }
        assert_eq!(why(producer.push(99)), Refusal::Full);
        assert_eq!(consumer.drain(3, |value| assert_eq!(value / 10, round)), 3);
        assert_eq!(all(&mut consumer), [10 * round + 3]);
    }
}

/// `take` may push into the ring that it empties, as the place of its value is free by then.
#[test]
fn cas_values_may_go_round() {
    let (mut producer, mut consumer) = cas_ring(2);
    producer.push(0).unwrap();
    producer.push(1).unwrap();
    for round in 0..5 {
        assert_eq!(consumer.drain(usize::MAX, |value| producer.push(value + 2).unwrap()), 2);
        assert_eq!(consumer.drain(0, drop), 0, "round {round}");
    }
    assert_eq!(all(&mut consumer), [10, 11]);
}

#[test]
fn a_panic_leaves_a_cas_ring_valid() {
    let (mut producer, mut consumer) = cas_ring(4);
    let value = std::sync::Arc::new(());
    (0..4).for_each(|number| producer.push((number, value.clone())).unwrap());
    let mut taken = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        consumer.drain(4, |(number, _held)| {
            taken.push(number);
            assert!(number != 1, "enough");
        })
    }));
    assert!(outcome.is_err());
    assert_eq!((taken, std::sync::Arc::strong_count(&value)), (vec![0, 1], 3));
    producer.push((4, value.clone())).unwrap();
    assert_eq!(
        all(&mut consumer).into_iter().map(|(number, _)| number).collect::<Vec<_>>(),
        [2, 3, 4]
    );
}

#[test]
fn what_is_left_in_a_cas_ring_is_dropped_with_it() {
    let value = std::sync::Arc::new(());
    let (mut producer, mut consumer) = cas_ring(4);
    let mut other = producer.clone();
    for _ in 0..3 {
        producer.push(value.clone()).unwrap();
        other.push(value.clone()).unwrap();
        consumer.drain(1, drop);
    }
    assert_eq!(std::sync::Arc::strong_count(&value), 4);
    // A value that is refused is the caller's.
    producer.push(value.clone()).unwrap();
    drop(producer.push(value.clone()));
    assert_eq!(std::sync::Arc::strong_count(&value), 5);
    // A place that was reserved, and never written, holds nothing to be dropped.
    consumer.drain(1, drop);
    let free = other.shared.look(&mut other.read).unwrap();
    other.shared.reserve(free).unwrap();
    drop((consumer, producer));
    assert_eq!(std::sync::Arc::strong_count(&value), 4);
    drop(other);
    assert_eq!(std::sync::Arc::strong_count(&value), 1);
}

/// Unless they were caught one by one, a second panic would abort the process.
#[test]
fn many_panics_in_drop_at_the_end_of_a_cas_ring_do_no_harm() {
    let (dropped, bombs) = crate::drop_each::tests::bombs(3);
    let (mut producer, consumer) = cas_ring(4);
    bombs.into_iter().for_each(|bomb| assert!(producer.push(bomb).is_ok()));
    drop((producer, consumer));
    assert_eq!(dropped(), 3);
}

/// Pushes values with this producer's number until all are in; returns its counts.
fn send(mut producer: CasProducer<Box<(usize, u64)>>, number: usize, count: u64) -> CasCounts {
    for value in 0..count {
        let mut boxed = Box::new((number, value));
        while let Err(refused) = producer.push_within(boxed, 20) {
            boxed = refused.value;
            std::thread::yield_now();
        }
    }
    producer.counts()
}

#[test]
fn nothing_is_lost_between_many_cas_producers() {
    let (threads, count) = if cfg!(miri) { (3, 30) } else { (6, 50_000) };
    for capacity in [1, 4, 256] {
        let (producer, mut consumer) = cas_ring(capacity);
        let mut next = vec![0; threads];
        let counts: CasCounts = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..threads)
                .map(|number| {
                    let producer = producer.clone();
                    scope.spawn(move || send(producer, number, count))
                })
                .collect();
            while next.iter().sum::<u64>() < threads as u64 * count {
                let most = if next[0] % 2 == 0 { usize::MAX } else { 3 };
                let found = consumer.drain(most, |value| {
                    let (number, value) = *value;
                    assert_eq!(value, next[number], "of producer {number}");
                    next[number] += 1;
                });
                if found == 0 {
                    std::thread::yield_now();
                }
            }
            senders.into_iter().map(|sender| sender.join().unwrap()).sum()
        });
        assert!(consumer.is_empty());
        assert_eq!((next, counts.pushed), (vec![count; threads], threads as u64 * count));
    }
}

/// Producers that go on while the consumer leaves: every value is dropped once, in the ring or by
/// its producer.
#[test]
fn a_cas_ring_may_lose_its_consumer() {
    let value = std::sync::Arc::new(());
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let (producer, mut consumer) = cas_ring(8);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let mut producer = producer.clone();
                let value = &value;
                scope.spawn(move || {
                    (0..10).filter(|_| producer.push_within(value.clone(), 5).is_ok()).count()
                });
            }
            consumer.drain(3, drop);
            drop(consumer);
        });
        drop(producer);
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    }
}
