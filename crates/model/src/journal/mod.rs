//! The journal of a state: for each change, the old value of what was changed, and where in the
//! state it lies. Events are undone from it, the last change first; parts of the state that no
//! event changes are never copied.
//!
//! A value is found again by its address: `#[derive(Journaled)]` compares the addresses of fields,
//! as numbers, and so finds its way through structs, arrays and variants in safe code. The entries
//! of a list that grows do not lie in the state, so a [`Queue`] logs what would undo each of its
//! changes.

mod plain;
mod queue;

use std::fmt;

use crate::{Context, Init, Model, Reverse};

pub use plain::Plain;
pub use queue::Queue;

/// A state, or a part of one, whose parts the engine finds again when an event is undone by its journal.
///
/// Derive it for structs and enums. All fields must be `Journaled` themselves: numbers, `bool`, [`LpId`](crate::LpId), options, arrays and
/// tuples of them, [`Level`](crate::Level), [`Queue`], and types that derive it.
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
/// An event says what it is about to change by [`Context::change`], which takes what is [`Plain`]: numbers, enums without fields, and
/// structs and enums marked `#[journal(whole)]`. The fields of a struct without that mark are changed one by one.
///
/// A type that holds pointers cannot be journaled, as the journal would not find what they point to. For a list that events change, use a
/// [`Queue`]. Other collections need copies of the state or reverse code, unless they are `fixed`:
/// ```compile_fail,E0277
/// # use warpline_model::prelude::*;
/// #[derive(Clone, Debug, Journaled)]
/// struct Till {
///     waiting: Vec<f64>, // error: the trait bound `Vec<f64>: Journaled` is not satisfied
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the journal of a state cannot find what changes in `{Self}`",
    note = "derive `Journaled` for a type of your own; make a list that events change a `Queue`; mark a field that no event changes \
            with `#[journal(fixed)]`"
)]
pub trait Journaled {
    /// Restores the old value of what was changed, if that is this or a part of it. Returns whether it was.
    fn restore(&mut self, change: &mut Change<'_>) -> bool;
}

/// The change that is being undone.
#[derive(Debug)]
pub struct Change<'l> {
    /// The address of what was changed.
    at: usize,
    /// How many words its old value takes, which lie at the end of the log.
    words: usize,
    log: &'l mut Vec<u64>,
}

impl Change<'_> {
    /// Whether what was changed lies in this.
    #[inline]
    pub fn is_in<T>(&self, part: &T) -> bool {
        self.at.wrapping_sub(address(part)) < size_of::<T>()
    }

    /// Restores the old value of this as a whole, if that is what was changed. Returns whether it was.
    #[inline]
    pub fn gives_back<T: Plain>(&mut self, place: &mut T) -> bool {
        // A field at the same place has fewer words, or is all there is.
        let found = self.at == address(place) && self.words == T::WORDS;
        if found {
            *place = T::take(self.log);
        }
        found
    }

    /// In which of these items what was changed lies, if in any.
    #[inline]
    fn item_in<T, const N: usize>(&self, items: &[T; N]) -> Option<usize> {
        self.is_in(items).then(|| (self.at - address(items)) / size_of::<T>())
    }

    /// The same as [`gives_back`](Self::gives_back) for an array whose items take an unknown number of words.
    #[inline]
    fn gives_back_each<T: Journaled, const N: usize>(&mut self, items: &mut [T; N]) -> bool {
        let words = self.words / N.max(1);
        let mut part = |item: &mut T| item.restore(&mut Change { at: address(item), words, log: self.log });
        self.at == address(items) && self.words == words * N && items.iter_mut().rev().all(&mut part)
    }
}

/// Where something lies, as a number: it is only compared, and nothing is accessed through it.
#[inline(always)]
fn address<T>(place: &T) -> usize {
    std::ptr::from_ref(place).addr()
}

/// How a journal undoes changes of a state: every change is logged with the old value, and an event is undone by restoring those, the last
/// one first.
pub struct Journal<S> {
    restore: fn(&mut S, &mut Change<'_>) -> bool,
}

impl<S> Clone for Journal<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Journal<S> {}

impl<S: Journaled> Journal<S> {
    /// By the journal of their fields.
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

/// What changes states, and may have to log it: [`Context`], and for code that sets states up or undoes them, [`Init`] and [`Reverse`].
pub trait Changing: sealed::Sealed {
    /// Logs that `place` is about to change, if changes are logged. `keep` writes its old value, in this many words.
    #[doc(hidden)]
    fn note_change<T>(&mut self, place: &T, words: usize, keep: impl FnOnce(&mut Vec<u64>));
}

mod sealed {
    pub trait Sealed {}
}

impl<M: Model> sealed::Sealed for Context<M> {}
impl<M: Model> sealed::Sealed for Init<'_, M> {}
impl<M: Model> sealed::Sealed for Reverse<'_, M> {}

impl<M: Model> Changing for Context<M> {
    #[inline(always)]
    fn note_change<T>(&mut self, place: &T, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        if self.log.is_on() {
            self.log_change(address(place), words, keep);
        }
    }
}

impl<M: Model> Changing for Init<'_, M> {
    fn note_change<T>(&mut self, _: &T, _: usize, _: impl FnOnce(&mut Vec<u64>)) {}
}

impl<M: Model> Changing for Reverse<'_, M> {
    fn note_change<T>(&mut self, _: &T, _: usize, _: impl FnOnce(&mut Vec<u64>)) {}
}

/// What the event at hand has changed: for each change the words of the old value, and then one that says where it lies in the state and
/// how many words there are.
#[derive(Debug, Default)]
pub(crate) struct Log {
    words: Vec<u64>,
    /// The address of the LP's state.
    start: usize,
    /// The size of the state in bytes; 0 if nothing is logged.
    bytes: usize,
}

impl Log {
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.bytes > 0
    }

    /// From now on, changes of this state are logged.
    #[inline]
    pub(crate) fn begin<S>(&mut self, state: &S) {
        (self.start, self.bytes) = (address(state), size_of::<S>());
    }

    /// From now on, nothing is logged.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.bytes = 0;
    }

    pub(crate) fn words_mut(&mut self) -> &mut Vec<u64> {
        &mut self.words
    }

    /// Stops logging, and drops what was logged.
    pub(crate) fn clear(&mut self) {
        self.end();
        self.words.clear();
    }

    /// Whether this address lies in the state, and its offset there has room in half a word.
    pub(crate) fn covers(&self, at: usize) -> bool {
        at.wrapping_sub(self.start) < self.bytes.min(1 << 32)
    }

    /// Whether there is memory for a change of this many words.
    pub(crate) fn has_room(&mut self, words: usize) -> bool {
        self.words.try_reserve(words + 1).is_ok()
    }

    /// Notes a change of what lies at an address in the state. There must be room.
    pub(crate) fn note(&mut self, at: usize, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        keep(&mut self.words);
        self.words.push(((at - self.start) as u64) << 32 | words as u64);
    }

    /// Undoes all changes that are in the log, the last one first, on the state that they left behind. Returns whether all of them were
    /// found again. Nothing is logged any more.
    pub(crate) fn undo<S>(&mut self, state: &mut S, journal: &Journal<S>) -> bool {
        self.end();
        let (start, mut all_found) = (address(state), true);
        while let Some(head) = self.words.pop() {
            let (offset, words) = ((head >> 32) as usize, head as u32 as usize);
            let rest = self.words.len().saturating_sub(words);
            all_found &= (journal.restore)(state, &mut Change { at: start + offset, words, log: &mut self.words });
            self.words.truncate(rest);
        }
        all_found
    }
}

#[cfg(test)]
mod tests;
