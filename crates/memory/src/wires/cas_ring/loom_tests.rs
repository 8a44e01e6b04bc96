use std::sync::atomic::{AtomicU64 as Seen, Ordering as Of};

use loom::thread;

use super::*;

/// Pushes each value, if it is not refused twice; returns those that went in, and the counts.
fn push_some(mut producer: CasProducer<Box<u32>>, values: &[u32]) -> (Vec<u32>, CasCounts) {
    let pushed = values
        .iter()
        .copied()
        .filter(|&value| producer.push_within(Box::new(value), 2).is_ok())
        .collect();
    (pushed, producer.counts())
}

/// Nothing is lost or doubled, and the values of one producer stay in order, whoever is stopped
/// wherever. Each refusal occurs.
#[test]
fn loom_cas_two_producers_and_a_consumer() {
    static REFUSED: [Seen; 3] = [const { Seen::new(0) }; 3];
    loom::model(|| {
        let (first, mut consumer) = cas_ring(2);
        let second = first.clone();
        let first = thread::spawn(move || push_some(first, &[1, 2]));
        let second = thread::spawn(move || push_some(second, &[10]));
        let mut found = Vec::new();
        consumer.drain(usize::MAX, |value| found.push(*value));
        let [(ones, one), (tens, ten)] = [first, second].map(|producer| producer.join().unwrap());
        consumer.drain(usize::MAX, |value| found.push(*value));
        assert!(consumer.is_empty());
        let (low, high): (Vec<_>, Vec<_>) = found.into_iter().partition(|&value| value < 10);
        assert_eq!((low, high), (ones, tens));
        let counts = one + ten;
        for (seen, count) in
            REFUSED.iter().zip([counts.full, counts.in_progress, counts.collisions])
        {
            seen.fetch_add(count, Of::Relaxed);
        }
    });
    assert!(REFUSED.iter().all(|seen| seen.load(Of::Relaxed) > 0), "{REFUSED:?}");
}

/// Whoever sees the last value sees those before it, of another producer. The consumer is not the
/// first thread: there, loom does not try the case that both values have arrived.
#[test]
fn loom_cas_the_last_value_brings_those_before() {
    static BOTH: Seen = Seen::new(0);
    loom::model(|| {
        let (mut first, mut consumer) = cas_ring(2);
        let mut second = first.clone();
        let first = thread::spawn(move || first.push(Box::new(1)).is_ok());
        let taken = thread::spawn(move || {
            let mut found = Vec::new();
            consumer.drain(usize::MAX, |value| found.push(*value));
            BOTH.fetch_add(u64::from(found.len() == 2), Of::Relaxed);
        });
        // It is refused if the first is there.
        let _ = second.push(Box::new(10));
        first.join().unwrap();
        taken.join().unwrap();
    });
    assert!(BOTH.load(Of::Relaxed) > 0);
}

/// A place is used again as soon as its value has been read, and not before.
#[test]
fn loom_cas_one_place() {
    loom::model(|| {
        let (mut producer, mut consumer) = cas_ring(1);
        let sender = thread::spawn(move || {
            for value in 1..=3 {
                let mut value = Box::new(value);
                while let Err(refused) = producer.push(value) {
                    value = refused.value;
                    thread::yield_now();
                }
            }
        });
        let mut found = Vec::new();
        while found.len() < 3 {
            if consumer.drain(usize::MAX, |value| found.push(*value)) == 0 {
                thread::yield_now();
            }
        }
        assert_eq!(found, [1, 2, 3]);
        sender.join().unwrap();
    });
}

/// A producer may write where the consumer has read a value of the other one.
#[test]
fn loom_cas_places_pass_between_producers() {
    loom::model(|| {
        let (mut first, mut consumer) = cas_ring(1);
        let second = first.clone();
        first.push(Box::new(1)).unwrap();
        let first = thread::spawn(move || push_some(first, &[2]));
        let second = thread::spawn(move || push_some(second, &[10]));
        let mut found = Vec::new();
        consumer.drain(usize::MAX, |value| found.push(*value));
        consumer.drain(usize::MAX, |value| found.push(*value));
        let pushed: usize =
            [first, second].map(|producer| producer.join().unwrap().0.len()).iter().sum();
        consumer.drain(usize::MAX, |value| found.push(*value));
        assert_eq!((found[0], found.len()), (1, 1 + pushed));
    });
}

/// Values are dropped once, by whoever is the last to leave.
#[test]
fn loom_cas_what_is_left_is_dropped_once() {
    loom::model(|| {
        let value = Arc::new(());
        let (mut first, mut consumer) = cas_ring(2);
        let mut second = first.clone();
        let [a, b] = [value.clone(), value.clone()];
        let first = thread::spawn(move || drop(first.push(a)));
        let second = thread::spawn(move || drop(second.push(b)));
        consumer.drain(1, drop);
        drop(consumer);
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
    });
}
