//! The parts of a state that the journal finds again, and those that change as a whole.

use std::fmt;

use super::changing::address;

/// A state, or a part of one, in which the journal finds changed parts again to undo an event.
///
/// Derive it for structs and enums. All fields must be `Journaled` themselves: numbers, `bool`,
/// [`LpId`](crate::LpId), options, arrays and tuples of them, [`Level`](crate::Level),
/// [`Queue`](crate::Queue), and types that derive it.
/// ```
/// use warpline_model::prelude::*;
///
/// #[derive(Clone, Debug, Journaled)]
/// struct Till {
///     takings: f64,
///     served: [u32; 2],
///     clerk: Clerk,
///     waiting: Queue<f64>,
///     #[journal(fixed)] // no event changes it
///     name: String,
/// }
///
/// #[derive(Clone, Copy, Debug, Journaled)]
/// enum Clerk { Awake, Asleep }
/// ```
///
/// An event changes a part by [`Context::change`](crate::Context::change), which takes [`Plain`]
/// values: numbers, enums without fields, and structs and enums marked `#[journal(whole)]`. The
/// fields of a struct without that mark are changed one by one.
///
/// A type with pointers cannot be journaled, because the journal would not find what they point to.
/// For a list that events change, use a [`Queue`](crate::Queue). Other collections need copies of
/// the state or reverse code, unless they are `fixed`:
/// ```compile_fail,E0277
/// # use warpline_model::prelude::*;
/// #[derive(Clone, Debug, Journaled)]
/// struct Till {
///     waiting: Vec<f64>, // error: the trait bound `Vec<f64>: Journaled` is not satisfied
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the journal of a state cannot find what changes in `{Self}`",
    note = "derive `Journaled` for a type of your own; make a list that events change a `Queue`; \
            mark a field that no event changes with `#[journal(fixed)]`"
)]
pub trait Journaled {
    /// Restores the old value if this, or a part of it, is what was changed. Returns whether it
    /// was.
    fn restore(&mut self, change: &mut Change<'_>) -> bool;
}

/// The change that is being undone.
#[derive(Debug)]
pub struct Change<'l> {
    /// The address of the changed value.
    pub(super) at: usize,
    /// The number of words of its old value, which are at the end of the log.
    pub(super) words: usize,
    pub(super) log: &'l mut Vec<u64>,
}

impl Change<'_> {
    /// Whether the changed value lies in `part`.
    #[inline]
    pub fn is_in<T>(&self, part: &T) -> bool {
        self.at.wrapping_sub(address(part)) < size_of::<T>()
    }

    /// Restores the old value of `place` if `place` as a whole was changed. Returns whether it was.
    #[inline]
    pub fn gives_back<T: Plain>(&mut self, place: &mut T) -> bool {
        // A field at the same address has fewer words, or is all there is.
        let found = self.at == address(place) && self.words == T::WORDS;
        if found {
            *place = T::take(self.log);
        }
        found
    }

    /// The index of the item that contains the changed value, if any does.
    #[inline]
    pub(super) fn item_in<T, const N: usize>(&self, items: &[T; N]) -> Option<usize> {
        self.is_in(items).then(|| (self.at - address(items)) / size_of::<T>())
    }

    /// Like [`gives_back`](Self::gives_back), for an array whose items take an unknown number of
    /// words.
    #[inline]
    pub(super) fn gives_back_each<T: Journaled, const N: usize>(
        &mut self,
        items: &mut [T; N],
    ) -> bool {
        let words = self.words / N.max(1);
        let mut part =
            |item: &mut T| item.restore(&mut Change { at: address(item), words, log: self.log });
        self.at == address(items)
            && self.words == words * N
            && items.iter_mut().rev().all(&mut part)
    }
}

/// Undoes changes of a state: every change is logged with its old value, and an event is undone by
/// restoring the old values, the last one first.
pub struct Journal<S> {
    pub(super) restore: fn(&mut S, &mut Change<'_>) -> bool,
}

impl<S> Clone for Journal<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Journal<S> {}

impl<S: Journaled> Journal<S> {
    /// The journal of a state whose fields are journaled.
    #[expect(clippy::new_without_default, reason = "it is the one way to make it")]
    pub const fn new() -> Self {
        Journal { restore: S::restore }
    }
}

impl<S> fmt::Debug for Journal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

/// A value that an event may change as a whole by [`Context::change`](crate::Context::change), and
/// that can be restored from its words.
///
/// Every [`Saved`](crate::Saved) type is plain: numbers, `bool`, [`LpId`](crate::LpId), and enums
/// without fields that derive [`Journaled`]. So are options, arrays and tuples of plain values, and
/// structs and enums of them marked `whole`:
/// ```
/// use warpline_model::prelude::*;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Journaled)]
/// #[journal(whole)]
/// enum Machine { Idle, Busy { since: f64, part: u32 } }
/// # use warpline_model::engine::*;
/// # struct Shop;
/// # #[model(journal)]
/// # impl Model for Shop {
/// #     type State = Machine; type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn init(&self, _: &mut Init<Self>) -> Machine { Machine::Idle }
///
/// fn handle(&self, machine: &mut Machine, _: &(), lp: &mut Context<Self>) {
///     *lp.change(machine) = Machine::Busy { since: lp.now(), part: 7 };
///     if let Machine::Busy { part, .. } = machine { *lp.change(part) += 1; } // a field alone may change, too
/// }
/// # }
/// # let mut executor = Executor::new(&Shop, 1, 9, false);
/// # let mut machine = Machine::Idle;
/// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
/// # executor.begin_log(&machine);
/// # Shop.handle(&mut machine, &(), executor.lp());
/// # assert_eq!(machine, Machine::Busy { since: 2.5, part: 8 });
/// # assert!(executor.undo_logged(&mut machine) && machine == Machine::Idle);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be changed as a whole",
    note = "change its fields one by one; for a plain type of your own, derive `Journaled` and \
            mark it `#[journal(whole)]`; change a list by the methods of `Queue`"
)]
pub trait Plain: Journaled + Copy {
    /// The number of words of a value.
    const WORDS: usize;

    /// Writes the value at the end of `log`, in [`WORDS`](Self::WORDS) words.
    fn keep(&self, log: &mut Vec<u64>);

    /// Removes what [`keep`](Self::keep) wrote from the end of `log`, and returns the value.
    fn take(log: &mut Vec<u64>) -> Self;
}
