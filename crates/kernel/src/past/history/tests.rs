use proptest::prelude::*;

use super::*;

fn record(fate: Fate) -> Record<()> {
    Record {
        event: Handle::from_bits(0),
        sent: OptionalHandle::default(),
        before: None,
        digest: HistoryDigest::default(),
        side_record: SideRecordId::NONE,
        fate,
        state: StateBefore::WorkedOut,
    }
}

/// An operation on a history.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Push(u16),
    Pop,
    /// Closes this many records, and reclaims them but for some.
    Close(u8, u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => any::<u16>().prop_map(Operation::Push),
        3 => Just(Operation::Pop),
        1 => any::<(u8, u8)>().prop_map(|(close, lag)| Operation::Close(close, lag)),
    ]
}

proptest! {
    /// Only whole blocks of later records are skipped.
    #[test]
    fn only_blocks_of_later_records_are_skipped(operations in prop::collection::vec(operation(), 0..600), until: u16) {
        let time = |time: u16| VirtualTime::new(time.into()).expect("a time");
        let mut history = History::<()>::default();
        let mut times = std::collections::BTreeMap::new();
        for operation in operations {
            match operation {
                Operation::Push(at) => {
                    times.insert(history.end(), at);
                    history.push(record(Fate::Open), time(at));
                }
                Operation::Pop if history.open_len() > 0 => {
                    history.pop();
                    times.remove(&history.end());
                }
                Operation::Pop => {}
                Operation::Close(close, lag) => {
                    history.close((history.open() + u64::from(close)).min(history.end()));
                    if lag < 128 { history.reclaim_closed() } else { while history.reclaim(lag.into()).is_some() {} }
                }
            }
        }
        let mut place = history.open();
        let mut seen = 0;
        while place < history.end() {
            if place == history.open() || place.is_multiple_of(BLOCK) {
                let next = history.skip_later_than(place, time(until));
                prop_assert!(times.range(place..next).all(|(_, at)| *at > until), "{place}..{next}");
                place = next;
            }
            seen += u64::from(place < history.end());
            place += 1;
        }
        let after = times.range(history.open()..).filter(|(_, at)| **at <= until).count() as u64;
        prop_assert!(seen >= after);
    }
}

#[test]
fn blocks_that_come_later_are_skipped() {
    let mut history = History::<()>::default();
    let at = |time: u64| VirtualTime::new(time as f64).expect("a time");
    (0..10 * BLOCK).for_each(|place| _ = history.push(record(Fate::Open), at(place)));
    assert_eq!(history.skip_later_than(1, at(5)), 1);
    // The first record is at place 1.
    assert_eq!(history.skip_later_than(2 * BLOCK, at(2 * BLOCK)), 2 * BLOCK);
    assert_eq!(history.skip_later_than(2 * BLOCK, at(2 * BLOCK - 2)), history.end());
}

/// Records removed from the end leave their times behind, which say nothing of those that take
/// their places.
#[test]
fn a_block_that_is_begun_again_forgets_its_times() {
    let mut history = History::<()>::default();
    let at = |time: u64| VirtualTime::new(time as f64).expect("a time");
    (1..=BLOCK).for_each(|place| _ = history.push(record(Fate::Open), at(place)));
    assert_eq!(history.skip_later_than(BLOCK, at(BLOCK)), BLOCK);
    assert!(history.pop().is_some());
    history.push(record(Fate::Open), at(1000));
    assert_eq!(history.skip_later_than(BLOCK, at(BLOCK)), history.end());
}

/// Each change is a word, and each event makes one more change than the one before.
#[test]
fn records_find_what_their_events_have_changed() {
    let mut history = History::<()>::default();
    let push = |history: &mut History<()>, changes: &mut Vec<u64>| {
        history.push(record(Fate::Open), VirtualTime::ZERO);
        history.begin_changes();
        history.log_changes(changes);
    };
    let changes = |history: &History<()>, place| {
        let mut changes = Vec::new();
        history.read_changes(place, &mut changes);
        changes
    };
    (0..4).for_each(|event| push(&mut history, &mut vec![event; event as usize]));
    assert_eq!(
        (1..5).map(|place| changes(&history, place).len()).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    // An event in the middle is undone, and then the last.
    history.get_mut(3).fate = Fate::Undone;
    history.trim();
    assert_eq!((changes(&history, 3), changes(&history, 4)), (vec![2, 2], vec![3, 3, 3]));
    history.get_mut(4).fate = Fate::Undone;
    history.trim();
    assert_eq!(history.end(), 3);
    push(&mut history, &mut vec![7, 8]);
    assert_eq!((changes(&history, 2), changes(&history, 3)), (vec![1], vec![7, 8]));
    history.close(3);
    history.reclaim_closed();
    assert_eq!(changes(&history, 3), [7, 8]);
    history.close(4);
    history.reclaim_closed();
    push(&mut history, &mut vec![9]);
    assert_eq!(changes(&history, 4), [9]);
}

#[test]
fn a_place_in_the_log_hardly_needs_room() {
    assert_eq!((size_of::<Record<[u64; 2]>>(), size_of::<Record<u64>>()), (56, 48));
    assert!(size_of::<Record<String>>() <= size_of::<Option<String>>() + 40);
}
