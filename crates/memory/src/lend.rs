//! Lends a mutable reference to code that is called further down, without passing it on.
//!
//! A coroutine cannot hold a reference to what its engine lends it only while it is polled. So the
//! engine puts the reference into a thread-local place for the time of the poll, and the coroutine
//! borrows it from there. What is lent is always exclusive: a second borrow within a borrow finds
//! nothing.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A type that is lent: one with a lifetime, which is known only while it is lent.
pub trait Lend: 'static {
    /// The type while it is lent for `'a`.
    type At<'a>;
}

/// A place through which a thread lends values of one family. It takes one word.
///
/// ```
/// use warpline_memory::{Lend, Loan};
///
/// struct Names;
/// impl Lend for Names { type At<'a> = &'a mut Vec<String>; }
///
/// thread_local! {
///     static NAMES: Loan<Names> = const { Loan::new() };
/// }
///
/// let mut names = Vec::new();
/// NAMES.with(|loan| {
///     loan.lend(&mut &mut names, || {
///         NAMES.with(|loan| loan.borrow(|names| names.push("till".to_owned())).unwrap());
///     });
///     assert!(loan.borrow(|_| ()).is_none());
/// });
/// assert_eq!(names, ["till"]);
/// ```
///
/// What is borrowed cannot leave the borrow:
/// ```compile_fail
/// # use warpline_memory::{Lend, Loan};
/// # struct Names;
/// # impl Lend for Names { type At<'a> = &'a mut Vec<String>; }
/// # let loan: Loan<Names> = Loan::new();
/// let kept = loan.borrow(|names| names); // error: lifetime may not live long enough
/// ```
///
/// Nor can anything shorter-lived be put into it:
/// ```compile_fail
/// # use warpline_memory::{Lend, Loan};
/// struct Words;
/// impl Lend for Words { type At<'a> = Vec<&'a str>; }
/// let word = String::from("till");
/// let loan: Loan<Words> = Loan::new();
/// loan.borrow(|words| words.push(&word)); // error: borrowed data escapes
/// ```
///
/// Nor can another thread borrow it:
/// ```compile_fail,E0277
/// # use warpline_memory::{Lend, Loan};
/// # struct Number;
/// # impl Lend for Number { type At<'a> = u64; }
/// let loan: Loan<Number> = Loan::new();
/// std::thread::scope(|scope| _ = scope.spawn(|| loan.borrow(|_| ()))); // error: cannot be shared
/// ```
pub struct Loan<F> {
    /// Where what is lent is, unless it is borrowed just now. As it is a raw pointer, no other
    /// thread gets hold of it.
    at: Cell<Option<NonNull<()>>>,
    /// Invariant: a family that is a subtype of another may lend other things.
    family: PhantomData<fn(F) -> F>,
}

/// Puts back what was lent before, even if the code in between panics.
struct PutBack<'a> {
    at: &'a Cell<Option<NonNull<()>>>,
    before: Option<NonNull<()>>,
}

impl Drop for PutBack<'_> {
    #[inline]
    fn drop(&mut self) {
        self.at.set(self.before);
    }
}

impl<F: Lend> Loan<F> {
    /// A place in which nothing is lent.
    pub const fn new() -> Self {
        Loan { at: Cell::new(None), family: PhantomData }
    }

    /// Lends `value` to the [`borrow`](Self::borrow)s that `body` makes. What was lent before is
    /// lent again afterwards.
    #[inline]
    pub fn lend<R>(&self, value: &mut F::At<'_>, body: impl FnOnce() -> R) -> R {
        let before = self.at.replace(Some(NonNull::from(value).cast::<()>()));
        let _put_back = PutBack { at: &self.at, before };
        body()
    }

    /// Borrows what the innermost [`lend`](Self::lend) lends, for the time of `body`; `None` if
    /// nothing is lent, or if it is borrowed already.
    #[inline]
    pub fn borrow<R>(&self, body: impl FnOnce(&mut F::At<'_>) -> R) -> Option<R> {
        let at = self.at.take()?;
        let _put_back = PutBack { at: &self.at, before: Some(at) };
        // SAFETY: `at` was made by `lend` of this place from `&mut F::At<'x>`. It is valid: `lend`
        // has not returned, or `PutBack` had taken it out of the place; and `lend`'s caller cannot
        // touch the value meanwhile, since `lend` holds the reference. It is unique: it was taken
        // out of the place for the time of this borrow, so no other borrow finds it. It is used by
        // the thread that lends it, as a place is not `Sync`, and is not moved while `lend` holds a
        // reference to it. `body` works for any lifetime in place of `'x`, so it can neither keep
        // what it borrows nor put in what lives shorter.
        let value = unsafe { at.cast::<F::At<'_>>().as_mut() };
        Some(body(value))
    }
}

impl<F: Lend> Default for Loan<F> {
    fn default() -> Self {
        Loan::new()
    }
}

impl<F> fmt::Debug for Loan<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("is_lent", &self.at.get().is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number;
    impl Lend for Number {
        type At<'a> = &'a mut u64;
    }

    thread_local! {
        static NUMBER: Loan<Number> = const { Loan::new() };
    }

    fn lend<R>(number: &mut u64, body: impl FnOnce() -> R) -> R {
        let mut number = number;
        NUMBER.with(|loan| loan.lend(&mut number, body))
    }

    fn borrow<R>(body: impl FnOnce(&mut &mut u64) -> R) -> Option<R> {
        NUMBER.with(|loan| loan.borrow(body))
    }

    fn add(by: u64) -> Option<u64> {
        borrow(|number| {
            **number += by;
            **number
        })
    }

    #[test]
    fn what_is_lent_is_borrowed_and_changed() {
        let mut number = 1;
        let seen = lend(&mut number, || (add(2), add(3)));
        assert_eq!((seen, number), ((Some(3), Some(6)), 6));
        assert_eq!(add(1), None, "nothing is lent any more");
    }

    #[test]
    fn a_borrow_within_a_borrow_is_refused() {
        let mut number = 1;
        lend(&mut number, || {
            let inner = borrow(|_| add(1));
            assert_eq!((inner, add(1)), (Some(None), Some(2)));
        });
    }

    #[test]
    fn loans_nest_and_the_outer_one_returns() {
        let mut outer = 1;
        let mut inner = 10;
        lend(&mut outer, || {
            lend(&mut inner, || add(1));
            add(1);
            // A part of what is borrowed may be lent on.
            borrow(|number| lend(number, || add(5)));
            add(1);
        });
        assert_eq!((outer, inner), (8, 11));
    }

    #[test]
    fn each_place_lends_for_itself() {
        let other = Loan::<Number>::new();
        let mut number = 1;
        lend(&mut number, || {
            assert_eq!(other.borrow(|number| **number), None);
            let seen = other.lend(&mut &mut 7, || (other.borrow(|number| **number), add(1)));
            assert_eq!(seen, (Some(7), Some(2)));
        });
    }

    #[test]
    fn a_panic_ends_a_loan_and_a_borrow() {
        let mut number = 1;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lend(&mut number, || {
                let broken = std::panic::catch_unwind(|| {
                    borrow(|_| std::panic::resume_unwind(Box::new(())))
                });
                assert!(broken.is_err());
                add(1);
                std::panic::resume_unwind(Box::new(()))
            })
        }));
        assert!(result.is_err());
        assert_eq!((add(1), number), (None, 2));
    }

    #[test]
    fn threads_lend_for_themselves() {
        let mut number = 1;
        lend(&mut number, || {
            std::thread::scope(|scope| assert_eq!(scope.spawn(|| add(1)).join().unwrap(), None));
        });
    }
}
