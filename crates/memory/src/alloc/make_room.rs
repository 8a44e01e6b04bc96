//! Lists that make room before anything is added to them, and unwind if there is none.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use super::Exhausted;
use super::mapping::can_map;
use super::reserve::{SMALL, may_try};

/// Lists and tables that grow.
pub trait MakeRoom {
    /// Makes room for this many more values of `what`. If memory is short, by as little as is
    /// sensible.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    fn make_room(&mut self, more: usize, what: &'static str);

    /// Makes room for this many more values of `what` by as little as is sensible, however much
    /// memory there is.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    fn make_little_room(&mut self, more: usize, what: &'static str) {
        self.make_room(more, what);
    }
}

#[cold]
#[inline(never)]
fn no_room<T>(more: usize, what: &'static str) -> ! {
    Exhausted::Memory { what, bytes: more.saturating_mul(size_of::<T>()) }.unwind()
}

/// Whether memory for so many values may be asked for.
fn may_have<T>(count: usize) -> bool {
    may_try(count.saturating_mul(size_of::<T>()))
}

/// Lists grow in leaps, so that adding to them one by one is cheap.
macro_rules! grow_in_leaps {
    ($List:ident) => {
        impl<T> MakeRoom for $List<T> {
            #[inline(always)]
            fn make_room(&mut self, more: usize, what: &'static str) {
                #[cold]
                #[inline(never)]
                fn grow<T>(list: &mut $List<T>, more: usize, what: &'static str) {
                    let count = list.len().saturating_add(more.max(list.len()));
                    if !may_have::<T>(count) || list.try_reserve(more).is_err() {
                        list.make_little_room(more, what);
                    }
                }
                if self.capacity() - self.len() < more {
                    grow(self, more, what);
                }
            }

            #[inline(always)]
            fn make_little_room(&mut self, more: usize, what: &'static str) {
                #[cold]
                #[inline(never)]
                fn grow<T>(list: &mut $List<T>, more: usize, what: &'static str) {
                    // Exactly this many, as the list would double otherwise.
                    let more = more.max(list.len() / 8);
                    let count = list.len().saturating_add(more);
                    if !may_have::<T>(count) || list.try_reserve_exact(more).is_err() {
                        no_room::<T>(more, what);
                    }
                }
                if self.capacity() - self.len() < more {
                    grow(self, more, what);
                }
            }
        }
    };
}

grow_in_leaps!(Vec);
grow_in_leaps!(VecDeque);

impl<K: Eq + Hash, V, S: BuildHasher> MakeRoom for HashMap<K, V, S> {
    fn make_room(&mut self, more: usize, what: &'static str) {
        let count = self.len().saturating_add(more);
        let may_grow = count <= self.capacity() || may_have::<(K, V)>(count);
        if !may_grow || self.try_reserve(more).is_err() {
            no_room::<(K, V)>(count, what);
        }
    }
}

impl<K: Eq + Hash, S: BuildHasher> MakeRoom for HashSet<K, S> {
    fn make_room(&mut self, more: usize, what: &'static str) {
        let count = self.len().saturating_add(more);
        let may_grow = count <= self.capacity() || may_have::<K>(count);
        if !may_grow || self.try_reserve(more).is_err() {
            no_room::<K>(count, what);
        }
    }
}

/// A list with exactly this much room for values of `what`.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub fn list_for<T>(count: usize, what: &'static str) -> Vec<T> {
    let mut list = Vec::new();
    if !may_have::<T>(count) || list.try_reserve_exact(count).is_err() {
        no_room::<T>(count, what);
    }
    list
}

/// A list of this many equal values of `what`.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub fn list_of<T: Clone>(value: T, count: usize, what: &'static str) -> Vec<T> {
    let mut list = list_for(count, what);
    list.resize(count, value);
    list
}

/// Checks that there is memory for this many values of `what`, for code that is about to allocate
/// them by itself and would abort the program if there were none. The system is asked only for
/// large ones; small ones come from the [reserve](super::keep_reserve) at worst.
///
/// # Panics
/// If there is none, it [unwinds](Exhausted::unwind).
pub fn check_room<T>(count: usize, what: &'static str) {
    let bytes = count.saturating_mul(size_of::<T>());
    if bytes > SMALL && !can_map(bytes) {
        // The allocator may have room even so.
        drop(list_for::<T>(count, what));
    }
}

// Miri does not run out of memory, and finds nothing unsafe here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::catch_exhausted;

    const FAR_TOO_MANY: usize = 1 << 48;

    #[test]
    fn whatever_cannot_grow_says_how_much_it_needed() {
        let all: [(&str, &mut dyn MakeRoom, usize); 4] = [
            ("a", &mut vec![1u32, 2], 4),
            ("b", &mut VecDeque::from([1u64]), 8),
            ("c", &mut HashMap::<u32, u32>::new(), 8),
            ("d", &mut HashSet::<u64>::new(), 8),
        ];
        for (what, list, bytes) in all {
            list.make_room(10, what);
            let outcome = catch_exhausted(|| list.make_room(FAR_TOO_MANY, what));
            assert_eq!(outcome, Err(Exhausted::Memory { what, bytes: FAR_TOO_MANY * bytes }));
        }
        for outcome in [
            catch_exhausted(|| check_room::<u16>(FAR_TOO_MANY, "e")),
            catch_exhausted(|| drop(list_of(0u16, FAR_TOO_MANY, "e"))),
        ] {
            assert_eq!(outcome, Err(Exhausted::Memory { what: "e", bytes: 2 * FAR_TOO_MANY }));
        }
        assert_eq!(list_of(7u8, 3, "f"), [7, 7, 7]);
    }

    #[test]
    fn lists_grow_in_leaps() {
        let mut list = Vec::new();
        let mut queue = VecDeque::new();
        let mut grown = [0, 0];
        for n in 0..1000 {
            let before = [list.capacity(), queue.capacity()];
            list.make_room(1, "a");
            queue.make_room(1, "b");
            list.push(n);
            queue.push_back(n);
            grown[0] += u32::from(list.capacity() != before[0]);
            grown[1] += u32::from(queue.capacity() != before[1]);
        }
        assert!(grown.iter().all(|&times| times < 12), "{grown:?}");
        let mut list = Vec::new();
        let mut queue = VecDeque::new();
        for n in 0..1000 {
            list.make_little_room(1, "a");
            queue.make_little_room(1, "b");
            list.push(n);
            queue.push_back(n);
            let most = list.len() + list.len() / 8;
            assert!(list.capacity() <= most && queue.capacity() <= most, "{n}");
        }
        list.make_little_room(900, "a");
        assert_eq!(list.capacity(), 1900);
    }
}
