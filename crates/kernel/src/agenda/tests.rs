use warpline_base::{EventKind, Priority};
use warpline_memory::buffers;

use super::*;

#[test]
fn going_through_what_is_pending_drops_what_is_cancelled_and_nothing_else() {
    let store = Store::new(buffers(1).remove(0), true);
    let mut agenda: Agenda<u32, Heap> =
        Agenda::new(Heap::default(), store, TieBreak::BySender, false);
    // Some of them say "never" by the last time that there is.
    let times = [0.0, 2.5, f64::MAX, f64::MAX, f64::MAX.next_down()];
    let insert = |agenda: &mut Agenda<u32, Heap>, (number, time)| {
        let time = VirtualTime::new(time).unwrap();
        let sequence = Sequence::first_of(1).nth(number);
        let event = Event {
            time,
            sequence,
            sender: LpId(0),
            receiver: LpId(0),
            step: 0,
            priority: Priority::NORMAL,
            kind: EventKind::Plain,
            payload: number,
        };
        agenda.insert(event, OptionalHandle::default())
    };
    let handles: Vec<Handle> = (0..).zip(times).map(|event| insert(&mut agenda, event)).collect();
    for cancelled in [1, 3] {
        agenda.cancel(handles[cancelled]);
    }
    let mut seen = Vec::new();
    let dropped = agenda.drop_cancelled(|event| seen.push(event.payload));
    assert_eq!((dropped, seen, agenda.len()), (2, vec![0, 4, 2], 3));
    let left = std::iter::from_fn(|| agenda.pop_before(VirtualTime::AFTER_ALL))
        .map(|entry| entry.time().get());
    assert!(left.eq([0.0, f64::MAX.next_down(), f64::MAX]));
}
