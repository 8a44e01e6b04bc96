use loom::thread;

use super::*;

/// Whoever drops last frees the bytes, after the other has read them. Loom reports memory that is
/// freed twice or never.
#[test]
fn loom_the_last_of_two_threads_frees() {
    loom::model(|| {
        let payload = Payload::from(&[7, 8][..]);
        let clone = payload.clone();
        let other = thread::spawn(move || assert_eq!(*clone, [7, 8]));
        assert_eq!(*payload, [7, 8]);
        drop(payload);
        other.join().unwrap();
    });
}

/// One thread clones a payload and drops the original while the other drops its own.
#[test]
fn loom_clone_against_drop() {
    loom::model(|| {
        let payload = Payload::from(&[7][..]);
        let first = payload.clone();
        let other = thread::spawn(move || {
            let second = first.clone();
            drop(first);
            assert_eq!(*second, [7]);
        });
        drop(payload);
        other.join().unwrap();
    });
}

/// The bytes are changed in place only after the other thread has read them.
#[test]
fn loom_make_mut_against_drop() {
    loom::model(|| {
        let mut payload = Payload::from(&[7][..]);
        let clone = payload.clone();
        let other = thread::spawn(move || assert_eq!(*clone, [7]));
        payload.make_mut()[0] = 8;
        assert_eq!(*payload, [8]);
        other.join().unwrap();
    });
}

/// Whoever writes notes what is clean; whoever drops last, perhaps the other thread, reads it.
#[test]
fn loom_write_at_against_the_last_drop() {
    loom::model(|| {
        let mut payload = Payload::zeroed(3);
        payload.write_at(1, &[7]);
        let clone = payload.clone();
        let other = thread::spawn(move || assert_eq!(*clone, [0, 7, 0]));
        payload.write_at(2, &[8]);
        assert_eq!(*payload, [0, 7, 8]);
        drop(payload);
        other.join().unwrap();
    });
}
