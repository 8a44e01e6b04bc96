//! What happens when memory runs out: the engine unwinds to whoever called it, which gets an error.
//! So nothing that adds to a list has to return a result, and the hot paths pay nothing for it.
//!
//! Whatever adds to a list makes room for it first ([`MakeRoom`](crate::MakeRoom)). If there is
//! none, it unwinds with what was needed for what, past those who catch panics of models
//! ([`catch_panic`](crate::catch_panic)), to the caller of the step. What one event sends, saves or
//! observes is a different matter, as that event may never have happened: that is a fault of the
//! model, held like any other until it is certain.

use std::any::Any;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::Deserted;
use crate::mapping::can_map;
use crate::reserve::release_reserve;

/// What ran out.
///
/// ```
/// use warpline_memory::{Exhausted, catch_exhausted};
/// let outcome = catch_exhausted(|| Exhausted::Memory { what: "a list", bytes: 6_400_000 }.unwind());
/// let Err(why) = outcome;
/// assert_eq!(why.to_string(), "the system has no memory for a list, which needed 6.4 MB more");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Numbers: all that fit into 32 bits are taken.
    Numbers,
    /// Memory: the system gives no more.
    Memory {
        /// What it was needed for.
        what: &'static str,
        /// How much more was needed, in bytes.
        bytes: usize,
    },
    /// The budget of the run.
    Budget {
        /// How much it was, in bytes.
        limit: u64,
        /// How much the run needed, in bytes, when it had given back whatever it could do without.
        needed: u64,
    },
}

#[cfg(feature = "serde")]
mod serde {
    use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Exhausted;

    /// The same with a text that can be read.
    #[derive(Serialize, Deserialize)]
    enum Written {
        Numbers,
        Memory { what: String, bytes: usize },
        Budget { limit: u64, needed: u64 },
    }

    impl Serialize for Exhausted {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let written = match *self {
                Exhausted::Numbers => Written::Numbers,
                Exhausted::Memory { what, bytes } => Written::Memory { what: what.to_owned(), bytes },
                Exhausted::Budget { limit, needed } => Written::Budget { limit, needed },
            };
            written.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Exhausted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(match Written::deserialize(deserializer)? {
                Written::Numbers => Exhausted::Numbers,
                // Leaked: it is read once, at the end of a run that has failed.
                Written::Memory { what, bytes } => Exhausted::Memory { what: what.leak(), bytes },
                Written::Budget { limit, needed } => Exhausted::Budget { limit, needed },
            })
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exhausted::Numbers => write!(f, "no more than {} can be numbered", u32::MAX),
            Exhausted::Memory { what, bytes } => write!(f, "the system has no memory for {what}, which needed {} more", Size(bytes)),
            Exhausted::Budget { limit, needed } => {
                write!(f, "the run needs {} of memory, but its budget is {}", Size(needed as usize), Size(limit as usize))
            }
        }
    }
}

impl std::error::Error for Exhausted {}

/// A number of bytes in words.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 as f64 {
            bytes if bytes < 1e3 => write!(f, "{bytes} bytes"),
            bytes if bytes < 1e6 => write!(f, "{:.0} kB", bytes / 1e3),
            bytes if bytes < 1e9 => write!(f, "{:.1} MB", bytes / 1e6),
            bytes => write!(f, "{:.1} GB", bytes / 1e9),
        }
    }
}

impl Exhausted {
    /// Unwinds to [`catch_exhausted`].
    #[cold]
    #[inline(never)]
    pub fn unwind(self) -> ! {
        release_reserve();
        resume_unwind(Box::new(self))
    }

    /// What unwinds, if it is this.
    ///
    /// # Errors
    /// If it is anything else, it is given back.
    pub fn from_panic(panic: Box<dyn Any + Send>) -> Result<Self, Box<dyn Any + Send>> {
        panic.downcast().map(|exhausted| *exhausted)
    }
}

/// Calls `run`.
///
/// # Errors
/// If memory runs out in it. Whatever it was changing is in no state to be used again, but may be dropped.
///
/// # Panics
/// If `run` does.
pub fn catch_exhausted<T>(run: impl FnOnce() -> T) -> Result<T, Exhausted> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => Ok(value),
        Err(panic) => Err(Exhausted::from_panic(panic).unwrap_or_else(|panic| resume_unwind(panic))),
    }
}

/// Calls `run`, which may panic.
///
/// # Errors
/// If it panics: the message of the panic.
///
/// # Panics
/// Never by a panic of `run`; but if memory runs out in it, or another process is gone [with a lock](crate::Deserted), that goes on unwinding.
#[inline]
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Err(panic) if panic.is::<Exhausted>() || panic.is::<Deserted>() => resume_unwind(panic),
        outcome => outcome,
    }
}

/// Lists and tables that grow.
pub trait MakeRoom {
    /// Makes room for this many more values of `what`. If memory is short, by as little as is sensible.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    fn make_room(&mut self, more: usize, what: &'static str);

    /// Makes room for this many more values of `what` by as little as is sensible, however much memory there is.
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

/// Lists grow in leaps, so that adding to them one by one is cheap.
macro_rules! grow_in_leaps {
    ($List:ident) => {
        impl<T> MakeRoom for $List<T> {
            #[inline(always)]
            fn make_room(&mut self, more: usize, what: &'static str) {
                #[cold]
                #[inline(never)]
                fn grow<T>(list: &mut $List<T>, more: usize, what: &'static str) {
                    if list.try_reserve(more).is_err() {
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
                    // Exactly so many: otherwise, the list would double.
                    let more = more.max(list.len() / 8);
                    if list.try_reserve_exact(more).is_err() {
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
        if self.try_reserve(more).is_err() {
            no_room::<(K, V)>(self.len() + more, what);
        }
    }
}

impl<K: Eq + Hash, S: BuildHasher> MakeRoom for HashSet<K, S> {
    fn make_room(&mut self, more: usize, what: &'static str) {
        if self.try_reserve(more).is_err() {
            no_room::<K>(self.len() + more, what);
        }
    }
}

/// A list with exactly this much room for values of `what`.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub fn list_for<T>(count: usize, what: &'static str) -> Vec<T> {
    let mut list = Vec::new();
    if list.try_reserve_exact(count).is_err() {
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

/// Checks that there is memory for this many values of `what`, for code that is about to allocate them by itself and would abort the
/// program if there were none.
///
/// # Panics
/// If there is none, it [unwinds](Exhausted::unwind).
pub fn check_room<T>(count: usize, what: &'static str) {
    if !can_map(count.saturating_mul(size_of::<T>())) {
        // The allocator may have room even so.
        drop(list_for::<T>(count, what));
    }
}

// Miri does not run out of memory, and finds nothing unsafe here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

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
        for outcome in
            [catch_exhausted(|| check_room::<u16>(FAR_TOO_MANY, "e")), catch_exhausted(|| drop(list_of(0u16, FAR_TOO_MANY, "e")))]
        {
            assert_eq!(outcome, Err(Exhausted::Memory { what: "e", bytes: 2 * FAR_TOO_MANY }));
        }
        assert_eq!(list_of(7u8, 3, "f"), [7, 7, 7]);
    }

    #[test]
    fn lists_grow_in_leaps() {
        let (mut list, mut queue) = (Vec::new(), VecDeque::new());
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
        let (mut list, mut queue) = (Vec::new(), VecDeque::new());
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

    #[test]
    fn what_ran_out_passes_by_those_who_catch_panics() {
        let outcome = catch_exhausted(|| catch_panic(|| Exhausted::Numbers.unwind()));
        assert!(matches!(outcome, Err(Exhausted::Numbers)));
        let outcome = catch_unwind(|| catch_panic(|| resume_unwind(Box::new(Deserted))));
        assert!(outcome.is_err_and(|panic| panic.is::<Deserted>()), "no panic of a model");
        let panic = catch_panic(|| panic!("another")).expect_err("it panics");
        assert_eq!(panic.downcast_ref(), Some(&"another"));
        let outcome = catch_unwind(|| catch_exhausted(|| panic!("another")));
        assert_eq!(outcome.expect_err("it panics").downcast_ref(), Some(&"another"));
        assert_eq!(catch_exhausted(|| 7), Ok(7));
    }

    #[test]
    fn sizes_are_told_in_words() {
        let text = |bytes| Exhausted::Memory { what: "rows", bytes }.to_string();
        assert_eq!(text(640), "the system has no memory for rows, which needed 640 bytes more");
        let sizes = [6_400, 6_400_000, 6_440_000_000].map(|bytes| Size(bytes).to_string());
        assert_eq!(sizes, ["6 kB", "6.4 MB", "6.4 GB"]);
        assert_eq!(Exhausted::Numbers.to_string(), "no more than 4294967295 can be numbered");
    }
}
