//! Lends a mutable reference to code that is called further down, without passing it on.
//!
//! A coroutine cannot hold a reference to what its engine lends it only while it is polled. So the
//! engine puts the reference into a thread-local place for the time of the poll, and the coroutine
//! borrows it from there. What is lent is always exclusive: a second borrow within a borrow finds
//! nothing.

use std::any::TypeId;
use std::cell::Cell;
use std::ptr::NonNull;

/// A type that is lent: one with a lifetime, which is known only while it is lent.
///
/// ```
/// use warpline_memory::{Lend, borrow, lend};
///
/// struct Names;
/// impl Lend for Names { type At<'a> = &'a mut Vec<String>; }
///
/// let mut names = Vec::new();
/// lend::<Names, _>(&mut &mut names, || {
///     borrow::<Names, _>(|names| names.push("till".to_owned())).unwrap();
/// });
/// assert_eq!(names, ["till"]);
/// assert!(borrow::<Names, _>(|_| ()).is_none());
/// ```
///
/// What is borrowed cannot leave the borrow:
/// ```compile_fail
/// # use warpline_memory::{Lend, borrow, lend};
/// # struct Names;
/// # impl Lend for Names { type At<'a> = &'a mut Vec<String>; }
/// let kept = borrow::<Names, _>(|names| names); // error: lifetime may not live long enough
/// ```
///
/// Nor can anything shorter-lived be put into it:
/// ```compile_fail
/// # use warpline_memory::{Lend, borrow, lend};
/// struct Words;
/// impl Lend for Words { type At<'a> = Vec<&'a str>; }
/// let word = String::from("till");
/// borrow::<Words, _>(|words| words.push(&word)); // error: borrowed data escapes
/// ```
pub trait Lend: 'static {
    /// The type while it is lent for `'a`.
    type At<'a>;
}

/// What is lent: the type of its family, and where it is.
type Lent = Option<(TypeId, NonNull<()>)>;

thread_local! {
    static LENT: Cell<Lent> = const { Cell::new(None) };
}

/// Puts back what was lent before, even if the code in between panics.
struct PutBack(Lent);

impl Drop for PutBack {
    #[inline]
    fn drop(&mut self) {
        // A thread that ends has nothing lent any more.
        let _ = LENT.try_with(|lent| lent.set(self.0));
    }
}

/// Lends `value` to [`borrow`]s that `body` makes in this thread. What was lent before is lent
/// again afterwards.
#[inline]
pub fn lend<F: Lend, R>(value: &mut F::At<'_>, body: impl FnOnce() -> R) -> R {
    let at = NonNull::from(value).cast::<()>();
    let before = LENT.replace(Some((TypeId::of::<F>(), at)));
    let _put_back = PutBack(before);
    body()
}

/// Borrows what the innermost [`lend`] of this thread lends, for the time of `body`; `None` if
/// nothing is lent, if it is of another family, or if it is borrowed already.
#[inline]
pub fn borrow<F: Lend, R>(body: impl FnOnce(&mut F::At<'_>) -> R) -> Option<R> {
    let lent = LENT.try_with(Cell::take).ok()?;
    let _put_back = PutBack(lent);
    let (family, at) = lent?;
    if family != TypeId::of::<F>() {
        return None;
    }
    // SAFETY: `at` was made by `lend` from `&mut F::At<'x>` of the same family, as its `TypeId`
    // says. It is valid: `lend` has not returned, or `PutBack` had taken it out of `LENT`; and
    // `lend`'s caller cannot touch the value meanwhile, since `lend` holds the reference. It is
    // unique: it was taken out of `LENT` for the time of this borrow, so no other borrow finds it.
    // `body` works for any lifetime in place of `'x`, so it can neither keep what it borrows nor
    // put in what lives shorter.
    let value = unsafe { at.cast::<F::At<'_>>().as_mut() };
    Some(body(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number;
    impl Lend for Number {
        type At<'a> = &'a mut u64;
    }

    struct Text;
    impl Lend for Text {
        type At<'a> = (&'a str, usize);
    }

    fn add(by: u64) -> Option<u64> {
        borrow::<Number, _>(|number| {
            **number += by;
            **number
        })
    }

    #[test]
    fn what_is_lent_is_borrowed_and_changed() {
        let mut number = 1;
        let seen = lend::<Number, _>(&mut &mut number, || (add(2), add(3)));
        assert_eq!((seen, number), ((Some(3), Some(6)), 6));
        assert_eq!(add(1), None, "nothing is lent any more");
    }

    #[test]
    fn a_borrow_within_a_borrow_is_refused() {
        let mut number = 1;
        lend::<Number, _>(&mut &mut number, || {
            let inner = borrow::<Number, _>(|_| add(1));
            assert_eq!((inner, add(1)), (Some(None), Some(2)));
        });
    }

    #[test]
    fn loans_nest_and_the_outer_one_returns() {
        let mut outer = 1;
        let mut inner = 10;
        lend::<Number, _>(&mut &mut outer, || {
            lend::<Number, _>(&mut &mut inner, || add(1));
            add(1);
            // A part of what is borrowed may be lent on.
            borrow::<Number, _>(|number| lend::<Number, _>(number, || add(5)));
            add(1);
        });
        assert_eq!((outer, inner), (8, 11));
    }

    #[test]
    fn another_family_is_not_mistaken_for_it() {
        let words = String::from("till");
        lend::<Text, _>(&mut (words.as_str(), 4), || {
            assert_eq!(add(1), None);
            assert_eq!(borrow::<Text, _>(|(text, len)| text.len() == *len), Some(true));
        });
    }

    #[test]
    fn a_panic_ends_a_loan_and_a_borrow() {
        let mut number = 1;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lend::<Number, _>(&mut &mut number, || {
                let broken = std::panic::catch_unwind(|| {
                    borrow::<Number, _>(|_| std::panic::resume_unwind(Box::new(())))
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
        lend::<Number, _>(&mut &mut number, || {
            std::thread::scope(|scope| assert_eq!(scope.spawn(|| add(1)).join().unwrap(), None));
        });
    }
}
