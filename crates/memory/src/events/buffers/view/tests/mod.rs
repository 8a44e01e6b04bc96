//! One message after another through the views of two or three PEs.

mod drops;
mod growth;
mod mistakes;
mod status;
mod surplus;

use std::rc::Rc;

use super::*;
use crate::events::buffers::pools::RUN;

pub(super) fn pair<T>() -> [Buffers<T>; 2] {
    buffers(2).try_into().unwrap()
}

pub(super) fn sum<'a, T: 'a>(views: impl IntoIterator<Item = &'a Buffers<T>>) -> Books {
    let mut all = Books::default();
    views.into_iter().for_each(|view| all.merge(&view.books()));
    all
}

#[test]
fn views_may_move_to_threads_but_not_be_shared() {
    fn sendable<T: Send>() {}
    sendable::<Buffers<Cell<u8>>>();
    // Compiles only as long as exactly one of the two holds.
    trait Ambiguous<A> {
        fn check() {}
    }
    struct IfSync;
    struct IfSend;
    impl<T> Ambiguous<()> for T {}
    impl<T: Sync> Ambiguous<IfSync> for (T, IfSync) {}
    impl<T: Send> Ambiguous<IfSend> for (T, IfSend) {}
    <(Buffers<u8>, IfSync) as Ambiguous<_>>::check();
    <(Buffers<Rc<u8>>, IfSend) as Ambiguous<_>>::check();
}

#[test]
fn freed_buffers_are_reused_last_first() {
    let [mut a, _b] = pair();
    let handles: Vec<Handle> = (0..4).map(|n| a.insert(0, n)).collect();
    a.release(handles[1]);
    a.release(handles[3]);
    assert_eq!((a.insert(0, 10), a.insert(0, 11)), (handles[3], handles[1]));
    assert_eq!(handles.iter().map(|&handle| *a.get(handle)).collect::<Vec<_>>(), [0, 11, 2, 10]);
    let run = u64::from(RUN.max(4));
    assert_eq!(
        a.books(),
        Books { inserted: 6, released: 2, live: 4, places: run, free: run - 4, ..Books::default() }
    );
}

#[test]
fn a_buffer_goes_back_the_way_it_came() {
    let mut views = buffers(3);
    let handle = views[0].insert(2, 'x');
    views[2].accept(handle);
    assert_eq!((views[2].me(), views[2].partner(handle), *views[2].get(handle)), (2, 0, 'x'));
    views[2].release(handle);
    assert_ne!(views[2].insert(1, 'y'), handle);
    assert_ne!(views[2].insert(2, 'y'), handle);
    assert_eq!(views[2].insert(0, 'y'), handle);
    assert_eq!(
        format!("{:?}", views[1]),
        format!("Buffers {{ me: 1, books: {:?}, .. }}", Books::default())
    );
}

#[test]
fn links_outlast_the_handover() {
    let [mut a, mut b] = pair();
    let second = a.insert(0, 2);
    let first = a.insert_with(1, 7, Some(second), || 1);
    assert_eq!(*b.accept(first), 1);
    assert_eq!((a.next(first), a.next(second)), (Some(second), None));
    assert_eq!(b.begin_if(first, |mark| mark == 7), Some(&1));
    b.release(first);
    let again = b.insert(0, 3);
    assert_eq!((again, b.next(again)), (first, None));
    b.prefetch(again);
    b.prefetch(Handle::from_bits(u32::MAX));
}

/// A message of PE 0 that PE 1 has begun as certain.
fn certain(a: &mut Buffers<u64>, b: &mut Buffers<u64>) -> Handle {
    let handle = given(a);
    b.accept(handle);
    assert_eq!(b.begin_if(handle, |_| true), Some(&1));
    handle
}

/// A buffer in flight to the other PE.
fn given(a: &mut Buffers<u64>) -> Handle {
    a.insert(1, 1)
}
