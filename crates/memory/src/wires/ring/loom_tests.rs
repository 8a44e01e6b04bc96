use loom::thread;

use super::*;

#[test]
fn loom_values_arrive_in_order() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring(2);
        let sender = thread::spawn(move || {
            let values = [1, 2, 3];
            let mut sent = 0;
            while sent < values.len() {
                match producer.push_some(&values[sent..]) {
                    0 => thread::yield_now(),
                    count => sent += count,
                }
            }
        });
        let mut found = Vec::new();
        while found.len() < 3 {
            if consumer.drain_into(&mut found, usize::MAX) == 0 {
                thread::yield_now();
            }
        }
        assert_eq!(found, [1, 2, 3]);
        assert!(consumer.is_empty());
        sender.join().unwrap();
    });
}

#[test]
fn loom_values_are_seen_once_published() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring(2);
        let sender = thread::spawn(move || {
            for value in 1..=3 {
                while producer.write(Box::new(value)).is_err() {
                    producer.publish();
                    thread::yield_now();
                }
            }
            // The last value is not published yet, and the producer outlives the thread: to drop it
            // would publish.
            producer.publish();
            producer
        });
        let mut found = Vec::new();
        while found.len() < 3 {
            match consumer.drain() {
                Some(values) => found.extend(values),
                None => thread::yield_now(),
            }
        }
        assert_eq!(found, [1, 2, 3].map(Box::new));
        sender.join().unwrap();
    });
}
