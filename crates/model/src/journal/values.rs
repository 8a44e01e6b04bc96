//! Values that change as a whole.

use std::marker::PhantomData;

use super::journaled::{Change, Journaled, Plain};
use super::saved::Saved;

impl<T: Saved> Plain for T {
    const WORDS: usize = 1;

    #[inline]
    fn keep(&self, log: &mut Vec<u64>) {
        log.push(self.to_word());
    }

    #[inline]
    fn take(log: &mut Vec<u64>) -> Self {
        T::from_word(log.pop().unwrap_or_default())
    }
}

impl<T: Saved> Journaled for T {
    #[inline]
    fn restore(&mut self, change: &mut Change<'_>) -> bool {
        change.gives_back(self)
    }
}

/// Either the option as a whole changes, or the value in it.
impl<T: Plain> Journaled for Option<T> {
    #[inline]
    fn restore(&mut self, change: &mut Change<'_>) -> bool {
        change.gives_back(self) || self.as_mut().is_some_and(|value| value.restore(change))
    }
}

impl<T: Plain> Plain for Option<T> {
    const WORDS: usize = 1 + T::WORDS;

    fn keep(&self, log: &mut Vec<u64>) {
        match self {
            Some(value) => value.keep(log),
            None => log.resize(log.len() + T::WORDS, 0),
        }
        log.push(u64::from(self.is_some()));
    }

    fn take(log: &mut Vec<u64>) -> Self {
        if log.pop() == Some(1) {
            return Some(T::take(log));
        }
        log.truncate(log.len().saturating_sub(T::WORDS));
        None
    }
}

impl<T: Journaled, const N: usize> Journaled for [T; N] {
    #[inline]
    fn restore(&mut self, change: &mut Change<'_>) -> bool {
        change.item_in(self).is_some_and(|item| self[item].restore(change))
            || change.gives_back_each(self)
    }
}

impl<T: Plain, const N: usize> Plain for [T; N] {
    const WORDS: usize = N * T::WORDS;

    fn keep(&self, log: &mut Vec<u64>) {
        self.iter().for_each(|item| item.keep(log));
    }

    fn take(log: &mut Vec<u64>) -> Self {
        let mut items = std::array::from_fn(|_| T::take(log));
        items.reverse();
        items
    }
}

macro_rules! nothing {
    ($([$($parameter:ident)?] $type:ty: $value:expr;)*) => {$(
        impl$(<$parameter>)? Journaled for $type {
            fn restore(&mut self, _: &mut Change<'_>) -> bool {
                false
            }
        }

        impl$(<$parameter>)? Plain for $type {
            const WORDS: usize = 0;

            fn keep(&self, _: &mut Vec<u64>) {}

            fn take(_: &mut Vec<u64>) -> Self {
                $value
            }
        }
    )*};
}

nothing! {
    [] (): ();
    [T] PhantomData<T>: PhantomData;
}

/// Takes the names in reverse order too, because the last field is read first.
macro_rules! tuples {
    ($(($($name:ident $part:tt),*) reversed ($($last:ident),*);)*) => {$(
        impl<$($name: Plain),*> Journaled for ($($name,)*) {
            #[inline]
            fn restore(&mut self, change: &mut Change<'_>) -> bool {
                change.gives_back(self) $(|| change.is_in(&self.$part) && self.$part.restore(change))*
            }
        }

        impl<$($name: Plain),*> Plain for ($($name,)*) {
            const WORDS: usize = 0 $(+ $name::WORDS)*;

            fn keep(&self, log: &mut Vec<u64>) {
                $(self.$part.keep(log);)*
            }

            #[allow(non_snake_case, reason = "a value is called like its type")]
            fn take(log: &mut Vec<u64>) -> Self {
                $(let $last = $last::take(log);)*
                ($($name,)*)
            }
        }
    )*};
}

tuples! {
    (A 0) reversed (A);
    (A 0, B 1) reversed (B, A);
    (A 0, B 1, C 2) reversed (C, B, A);
    (A 0, B 1, C 2, D 3) reversed (D, C, B, A);
    (A 0, B 1, C 2, D 3, E 4) reversed (E, D, C, B, A);
    (A 0, B 1, C 2, D 3, E 4, F 5) reversed (F, E, D, C, B, A);
}
