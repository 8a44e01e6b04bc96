//! Whether a message was begun, undone or cancelled, and whether it is certain.

use super::*;
use crate::CancelOutcome;

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
