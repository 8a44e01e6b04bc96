use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use super::*;

/// A counter of the table.
struct Counter {
    field: &'static str,
    kind: &'static str,
    merging: &'static str,
    /// Where it stands in the record: a part of it, and its name there.
    places: &'static [(&'static str, &'static str)],
}

macro_rules! list_counters {
    ($(
        [$meaning:expr] $field:ident: $type:ident, $merging:ident $(, $part:ident($name:ident $($more:tt)*))*;
    )*) => {
        const TABLE: &[Counter] = &[$(Counter {
            field: stringify!($field),
            kind: stringify!($type),
            merging: stringify!($merging),
            places: &[$((stringify!($part), stringify!($name))),*],
        }),*];
    };
}

warpline_record::counters!(list_counters);

/// Counts in which every counter has a number of its own.
fn numbered(number: impl Fn(usize) -> usize) -> (Value, Counts) {
    let mut counts = json!(Counts::default());
    for (index, counter) in TABLE.iter().enumerate() {
        let number = number(index);
        counts[counter.field] =
            if counter.kind == "bool" { json!(number % 2 == 1) } else { json!(number) };
    }
    let read = serde_json::from_value(counts.clone()).expect("all fields are given");
    (counts, read)
}

#[test]
fn every_counter_of_the_table_stands_in_the_record_under_its_name() {
    // Events executed ahead are all events executed less the certain ones.
    let (all, counts) = numbered(|index| 1000 - index);
    let record = json!({
        "pe": counts.of_pe(),
        "run": counts.of_run(),
        "rollbacks": counts.of_rollbacks(),
        "memory": counts.of_memory(),
        "throttle": counts.of_throttle(),
    });
    for counter in TABLE {
        for (part, name) in counter.places {
            assert_eq!(record[part][name], all[counter.field], "{name} of {part}");
        }
    }
    assert_eq!([&record["pe"]["ahead_events"], &record["run"]["ahead_events"]], [1, 1]);
}

#[test]
fn counters_of_pes_merge_as_the_table_says() {
    // In the first half of the table the first PE has more, and in the second half the other
    // one.
    let (one, mut all) = numbered(|index| 1000 + index);
    let (two, mut other) = numbered(|index| 901 + 5 * index);
    all.rollback(2);
    other.rollback(2);
    all.mailbox.full = 3;
    other.mailbox.full = 4;
    all.add(&other);
    let merged = json!(all);
    for Counter { field, merging, .. } in TABLE {
        let (one, two) = (&one[field], &two[field]);
        let wanted = match (*merging, one.as_u64().zip(two.as_u64())) {
            ("last", _) => two.clone(),
            ("sum", Some((one, two))) => json!(one + two),
            ("most" | "alike", Some((one, two))) => json!(one.max(two)),
            _ => panic!("`{field}` cannot be merged as `{merging}`"),
        };
        assert_eq!(merged[field], wanted, "{field}");
    }
    assert_eq!((all.lengths[1], all.mailbox.full), (2, 7));
}

/// What one PE leaves behind.
type Left = (Counts, Books, usize);

/// Something that went wrong on one PE.
type Slip = fn(&mut Left);

/// Two PEs that have sent each other messages, anti-messages and free buffers. Only together do
/// their books balance.
fn two_pes() -> [Left; 2] {
    let zero = Counts {
        processed: 10,
        committed: 7,
        rolled_back: 3,
        sent: 11,
        taken_over: 3,
        annihilated: 2,
        kept: 5,
        sent_again: 3,
        cancelled_late: 2,
        messages_sent: 6,
        messages_received: 4,
        anti_sent: 2,
        anti_received: 1,
        ..Counts::default()
    };
    let one = Counts {
        processed: 20,
        committed: 15,
        rolled_back: 5,
        sent: 20,
        handed_over: 4,
        annihilated: 1,
        messages_sent: 4,
        messages_received: 6,
        anti_sent: 1,
        anti_received: 2,
        ..Counts::default()
    };
    let books = |places, free, live, returned, taken_back| Books {
        places,
        free,
        live,
        returned,
        taken_back,
        ..Books::default()
    };
    [(zero, books(7, 5, 3, 8, 2), 3), (one, books(9, 6, 2, 2, 8), 2)]
}

fn close([zero, one]: &[Left; 2]) {
    balance([zero, one].into_iter().map(|(counts, books, pending)| (counts, *books, *pending)));
}

#[test]
fn books_balance_over_all_pes() {
    close(&two_pes());
}

/// One thing too many or too few of any kind shows, on any PE.
#[test]
fn books_that_are_out_by_one_do_not_balance() {
    let executed = "every event processed was committed or rolled back";
    let over = "every event sent was committed, annihilated or is pending";
    let arrived = "every message between PEs arrived";
    let kept = "every message that was kept was sent again or cancelled";
    let faults: [(Slip, &str); 20] = [
        (|pe| pe.0.processed += 1, executed),
        (|pe| pe.0.committed -= 1, executed),
        (|pe| pe.0.rolled_back += 1, executed),
        (|pe| pe.0.sent += 1, over),
        (|pe| pe.0.annihilated -= 1, over),
        (|pe| pe.0.taken_over += 1, over),
        (|pe| pe.0.handed_over += 1, over),
        (|pe| pe.0.messages_sent += 1, arrived),
        (|pe| pe.0.messages_received -= 1, arrived),
        (|pe| pe.0.anti_sent += 1, arrived),
        (|pe| pe.0.anti_received -= 1, arrived),
        (|pe| pe.1.returned += 1, arrived),
        (|pe| pe.1.taken_back -= 1, arrived),
        (|pe| pe.1.places += 1, "every buffer is in use or free"),
        (|pe| pe.1.free -= 1, "every buffer is in use or free"),
        (|pe| pe.1.live -= 1, "every buffer in use holds a pending event"),
        (|pe| pe.0.kept += 1, kept),
        (|pe| pe.0.sent_again += 1, kept),
        (|pe| pe.0.cancelled_late += 1, kept),
        (|pe| pe.0.side_records_kept = 1, "is kept until they commit or are undone"),
    ];
    for (number, (fault, expected)) in faults.into_iter().enumerate() {
        for pe in 0..2 {
            let mut pes = two_pes();
            fault(&mut pes[pe]);
            let panic = catch_unwind(AssertUnwindSafe(|| close(&pes)))
                .expect_err("the books do not balance");
            let text = panic.downcast_ref::<String>().expect("it is a text");
            assert!(text.contains(expected), "fault {number} on PE {pe}: {text}");
        }
    }
}

#[test]
fn rollbacks_are_counted_by_the_bits_of_their_lengths() {
    let mut counts = Counts::default();
    [0, 1, 2, 3, 4, 7, 8, u64::MAX].into_iter().for_each(|length| counts.rollback(length));
    assert_eq!(counts.lengths[..5], [1, 2, 2, 1, 0]);
    assert_eq!((counts.lengths[31], counts.lengths.iter().sum::<u64>()), (1, 7));
}

#[test]
fn events_ahead_and_the_depth_of_the_mailbox_are_worked_out() {
    let counts = Counts {
        processed: 10,
        certain: 4,
        messages_received: 5,
        anti_received: 1,
        receipts: 4,
        ..Counts::default()
    };
    assert_eq!((counts.ahead(), counts.mailbox_depth_mean()), (6, 1.5));
    assert_eq!(Counts::default().mailbox_depth_mean(), 0.0);
}
