//! Drops values whose code may panic: a second panic while the first unwinds would abort the
//! process.

use std::any::Any;
use std::mem::needs_drop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops a value.
///
/// # Errors
/// If that panics: the message of the panic.
#[inline]
pub fn try_drop<T>(value: T) -> Result<(), Box<dyn Any + Send>> {
    if needs_drop::<T>() { catch_unwind(AssertUnwindSafe(|| drop(value))) } else { Ok(()) }
}

/// Drops values one by one. Panics are swallowed.
///
/// ```
/// struct Angry;
/// impl Drop for Angry {
///     fn drop(&mut self) {
///         panic!("not now");
///     }
/// }
/// warpline_memory::drop_each([Angry, Angry]); // by itself, the array would abort the process
/// ```
pub fn drop_each<T>(values: impl IntoIterator<Item = T>) {
    let mut values = values.into_iter();
    if !needs_drop::<T>() {
        return;
    }
    // A panic takes one value with it; the rest is dropped in the next round.
    let mut rest = || {
        for value in values.by_ref() {
            drop(value);
        }
    };
    while catch_unwind(AssertUnwindSafe(&mut rest)).is_err() {}
}

/// A vector that [drops its values one by one](drop_each).
///
/// ```
/// let mut values = warpline_memory::DropEach::from(vec!["a".to_owned()]);
/// values.push("b".to_owned());
/// assert_eq!(values.take(), ["a", "b"]);
/// assert!(values.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct DropEach<T>(Vec<T>);

impl<T> DropEach<T> {
    /// Takes the values out; the caller has to drop them.
    pub fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }

    /// Drops all values and keeps the memory.
    pub fn clear(&mut self) {
        drop_each(self.0.drain(..));
    }
}

impl<T> Drop for DropEach<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// As [`take`](DropEach::take).
impl<T> IntoIterator for DropEach<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.take().into_iter()
    }
}

impl<'a, T> IntoIterator for &'a DropEach<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Default for DropEach<T> {
    fn default() -> Self {
        DropEach(Vec::new())
    }
}

impl<T> From<Vec<T>> for DropEach<T> {
    fn from(values: Vec<T>) -> Self {
        DropEach(values)
    }
}

impl<T> Deref for DropEach<T> {
    type Target = Vec<T>;

    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for DropEach<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::panic::resume_unwind;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::Pool;

    /// Counts how often it was dropped, and panics without a word: what a panic during another one
    /// says includes a backtrace, whatever was asked for, and that takes long under Miri.
    pub(crate) struct Bomb(Arc<AtomicU32>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            resume_unwind(Box::new("a bomb"));
        }
    }

    /// This many bombs, and a way to ask how many of them have been dropped.
    pub(crate) fn bombs(count: usize) -> (impl Fn() -> u32, Vec<Bomb>) {
        let dropped = Arc::new(AtomicU32::new(0));
        let bombs = (0..count).map(|_| Bomb(dropped.clone())).collect();
        (move || dropped.load(Ordering::Relaxed), bombs)
    }

    #[test]
    fn every_value_is_dropped_however_many_panic() {
        let (dropped, values) = bombs(3);
        drop(DropEach::from(values));
        assert_eq!(dropped(), 3);
        let (dropped, values) = bombs(3);
        let mut values = DropEach::from(values);
        values.clear();
        assert_eq!((dropped(), values.len()), (3, 0));
    }

    #[test]
    fn values_are_gone_through_in_order() {
        let values = DropEach::from(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!((&values).into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(values.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_panic_on_its_way_stays_alone() {
        let (dropped, values) = bombs(2);
        let first = catch_unwind(AssertUnwindSafe(|| {
            let _values = DropEach::from(values);
            resume_unwind(Box::new("the first"));
        }));
        assert_eq!(first.unwrap_err().downcast_ref(), Some(&"the first"));
        assert_eq!(dropped(), 2);
    }

    #[test]
    fn one_value_tells_how_it_panicked() {
        let (_, mut values) = bombs(1);
        assert_eq!(try_drop(values.pop()).unwrap_err().downcast_ref(), Some(&"a bomb"));
        assert!(try_drop(values).is_ok() && try_drop(7).is_ok());
    }

    #[test]
    fn what_is_left_in_a_pool_is_dropped_with_it() {
        let (dropped, values) = bombs(3);
        let mut pool = Pool::default();
        values.into_iter().for_each(|value| _ = pool.insert(value));
        drop(pool);
        assert_eq!(dropped(), 3);
    }

    /// The replacement is there, and is not dropped as well.
    #[test]
    fn a_replaced_value_panics_alone() {
        let (dropped, mut values) = bombs(2);
        let mut pool = Pool::default();
        let handle = pool.insert(values.pop().unwrap());
        let replaced =
            catch_unwind(AssertUnwindSafe(|| pool.replace(handle, values.pop().unwrap())));
        assert!(replaced.is_err());
        assert_eq!((dropped(), pool.len()), (1, 1));
        pool.get(handle);
    }
}
