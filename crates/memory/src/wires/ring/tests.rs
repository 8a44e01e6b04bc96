use super::*;

#[test]
fn capacities_are_powers_of_two() {
    for (asked, given) in [(0, 2), (2, 2), (3, 4), (8, 8), (9, 16)] {
        let (mut producer, consumer) = ring(asked);
        assert_eq!(producer.push_some(&[7; 100]), given);
        assert_eq!(consumer.len(), given);
        assert!(!producer.push(7));
    }
}

#[test]
#[should_panic(expected = "power of two")]
fn a_capacity_beyond_the_largest_power_of_two_panics() {
    ring::<u8>(usize::MAX);
}

#[test]
fn the_ends_have_lines_of_their_own() {
    let tail = std::mem::offset_of!(Indices, tail);
    let head = std::mem::offset_of!(Indices, head);
    assert!(tail.abs_diff(head) >= 128);
}

#[test]
fn batches_wrap_around() {
    let (mut producer, mut consumer) = ring(8);
    let mut next = 0u32;
    let mut found = Vec::new();
    for size in [5, 8, 3, 0, 1, 7, 2, 8, 6, 5, 4].repeat(3) {
        let batch: Vec<u32> = (next..next + size).collect();
        next += producer.push_some(&batch) as u32;
        let before = found.len();
        let there = consumer.len();
        let most = if size % 2 == 0 { usize::MAX } else { 4 };
        assert_eq!(consumer.drain_into(&mut found, most), there.min(most));
        assert_eq!(
            (found.len() - before, consumer.len()),
            (there.min(most), there - there.min(most))
        );
    }
    consumer.drain_into(&mut found, usize::MAX);
    assert!(
        consumer.is_empty()
            && consumer.drain_into(&mut found, 0) == 0
            && consumer.drain_into(&mut found, 5) == 0
    );
    assert_eq!(found, (0..next).collect::<Vec<_>>());
}

#[test]
fn indices_may_wrap_around() {
    let (mut producer, mut consumer) = ring(4);
    let start = usize::MAX - 2;
    producer.start_at(start);
    consumer.start_at(start);
    let mut found = Vec::new();
    for n in 0..10 {
        producer.prefetch();
        producer.prefetch_tail();
        assert_eq!(producer.push_some(&[n, n, n, n, n]), 4);
        consumer.prefetch();
        assert_eq!((consumer.len(), consumer.drain_into(&mut found, 9)), (4, 4));
    }
    assert!(found.chunks(4).zip(0..10).all(|(chunk, n)| chunk == [n; 4]));
}

#[test]
fn order_is_kept_between_two_threads() {
    let count = if cfg!(miri) { 100 } else { 200_000u64 };
    let (mut producer, mut consumer) = ring(32);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut next = 0;
            while next < count {
                let batch: Vec<u64> = (next..count.min(next + 1 + next % 40)).collect();
                match producer.push_some(&batch) {
                    0 => std::thread::yield_now(),
                    pushed => next += pushed as u64,
                }
            }
        });
        let mut found = Vec::new();
        let mut next = 0;
        while next < count {
            if consumer.drain_into(&mut found, 20) == 0 {
                std::thread::yield_now();
            }
            for value in found.drain(..) {
                assert_eq!(value, next);
                next += 1;
            }
        }
        assert!(consumer.is_empty());
    });
}

#[test]
fn written_values_wait_until_they_are_published() {
    let (mut producer, mut consumer) = ring(4);
    for round in 0..10 {
        for value in 0..4 {
            producer.write(format!("{round}.{value}")).unwrap();
        }
        assert!(consumer.drain().is_none() && consumer.is_empty());
        assert_eq!(producer.write("too much".into()), Err("too much".to_owned()));
        producer.publish();
        assert_eq!(consumer.drain().unwrap().size_hint(), (4, Some(4)));
        assert_eq!(consumer.drain().unwrap().take(3).last(), Some(format!("{round}.2")));
        assert_eq!(consumer.drain().unwrap().collect::<Vec<_>>(), [format!("{round}.3")]);
    }
}

#[test]
fn what_is_left_in_a_ring_is_dropped_with_it() {
    let value = std::sync::Arc::new(());
    let (mut producer, mut consumer) = ring(8);
    for published in [true, false] {
        (0..3).for_each(|_| producer.write(value.clone()).unwrap());
        if published {
            producer.publish();
        }
    }
    assert_eq!(std::sync::Arc::strong_count(&value), 7);
    drop(consumer.drain().unwrap().next());
    drop((producer, consumer));
    assert_eq!(std::sync::Arc::strong_count(&value), 1);
}

/// Unless they were caught one by one, a second panic would abort the process.
#[test]
fn many_panics_in_drop_at_the_end_do_no_harm() {
    let (dropped, bombs) = crate::drop_each::tests::bombs(3);
    let (mut producer, consumer) = ring(4);
    bombs.into_iter().for_each(|bomb| assert!(producer.write(bomb).is_ok()));
    drop((producer, consumer));
    assert_eq!(dropped(), 3);
}
