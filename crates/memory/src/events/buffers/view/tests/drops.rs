//! Values are dropped once, even if that panics.

use super::*;

#[test]
fn values_are_dropped_once() {
    let value = Rc::new(());
    let [mut a, mut b] = pair();
    let mut handles: Vec<Handle> = (0..100).map(|n| a.insert(n % 2, value.clone())).collect();
    assert_eq!(Rc::strong_count(&value), 101);
    // Some released by either PE, some live with either PE, some in flight.
    for (number, handle) in handles.drain(..).enumerate() {
        match (number % 2, number / 2 % 5) {
            (0, 0 | 1) => assert_eq!(a.release(handle), 0),
            (1, 0 | 1) => _ = b.accept(handle),
            (1, 2) => {
                b.accept(handle);
                assert_eq!(b.release(handle), 0);
            }
            _ => {}
        }
    }
    let all = sum([&a, &b]);
    assert_eq!(Rc::strong_count(&value) as u64, 1 + all.live + all.in_flight());
    assert!(b.books().live > 0 && all.in_flight() > 0 && all.released > 20);
    drop(a);
    assert_eq!(Rc::strong_count(&value) as u64, 1 + all.live + all.in_flight());
    drop(b);
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn a_value_taken_out_is_dropped_by_whoever_took_it() {
    let [mut a, mut b] = pair();
    let value = Rc::new(7);
    let handle = a.insert(1, value.clone());
    b.accept(handle);
    let taken = b.take(handle);
    assert_eq!((Rc::strong_count(&value), b.books().free), (2, 1));
    drop((a, b));
    assert_eq!(Rc::strong_count(&value), 2, "nothing was dropped where it lay");
    drop(taken);
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn a_panic_in_drop_does_no_harm() {
    struct Bomb(Rc<Cell<u32>>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            assert!(self.0.get() > 1, "bang");
        }
    }
    let drops = Rc::new(Cell::new(0));
    let [mut a, _] = pair();
    let handle = a.insert(0, Bomb(drops.clone()));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| a.release(handle)));
    assert!(caught.is_err());
    assert_eq!(a.insert(0, Bomb(drops.clone())), handle);
    drop(a);
    assert_eq!(drops.get(), 2);
}

/// Unless they were caught one by one, a second panic would abort the process.
#[test]
fn many_panics_in_drop_at_the_end_do_no_harm() {
    let (dropped, bombs) = crate::drop_each::tests::bombs(5);
    let [mut a, b] = pair();
    // Some live, some in flight.
    (0..).zip(bombs).for_each(|(n, bomb)| _ = a.insert(n % 2, bomb));
    drop((a, b));
    assert_eq!(dropped(), 5);
}
