//! What a run may do with a model besides executing its events, and what a model's types say about
//! that.

pub(crate) mod comparable;
mod serial;
pub mod types;
pub(crate) mod wire;

use std::fmt;

use self::comparable::Comparable;
use self::wire::WireFormat;
use crate::Journal;

/// What a run may do with a model besides executing its events:
/// [`Model::ABILITIES`](crate::Model::ABILITIES).
///
/// [`#[model]`](macro@crate::model) generates it. Write it by hand only if it depends on a type
/// parameter of the model:
/// ```
/// # use std::marker::PhantomData;
/// use warpline_model::{Abilities, WireFormat, prelude::*};
///
/// /// A model whose letters leave their process if `T` can.
/// struct Post<T>(PhantomData<fn() -> T>);
///
/// # trait Text: std::fmt::Debug + Send + Sized + 'static { const WIRE: Option<WireFormat<Self>>; }
/// # impl Text for u8 { const WIRE: Option<WireFormat<u8>> = Some(WireFormat::portable()); }
/// impl<T: Text> Model for Post<T> {
///     type State = ();
///     type Event = T;
///     const ABILITIES: Abilities<(), T> = match T::WIRE {
///         Some(wire) => Abilities::NONE.with_wire(wire),
///         None => Abilities::NONE,
///     };
/// #   fn lps(&self) -> u32 { 2 }
/// #   fn init(&self, _: &mut Init<Self>) {}
/// #   fn handle(&self, _: &mut (), _: &T, _: &mut Context<Self>) {}
/// }
/// # assert!(Post::<u8>::ABILITIES.wire().is_some());
/// ```
pub struct Abilities<S, E> {
    wire: Option<WireFormat<E>>,
    comparable: Option<Comparable<E>>,
    journal: Option<Journal<S>>,
    has_reverse: bool,
    never_undone: bool,
}

impl<S, E> Clone for Abilities<S, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, E> Copy for Abilities<S, E> {}

impl<S, E> Abilities<S, E> {
    /// No abilities: a run may only execute events, and undo them by copies of states.
    pub const NONE: Self = Abilities {
        wire: None,
        comparable: None,
        journal: None,
        has_reverse: false,
        never_undone: false,
    };

    /// Adds the way in which events leave their process.
    #[must_use]
    pub const fn with_wire(self, wire: WireFormat<E>) -> Self {
        Abilities { wire: Some(wire), ..self }
    }

    /// Adds the comparison of events.
    #[must_use]
    pub const fn with_comparable(self, comparable: Comparable<E>) -> Self {
        Abilities { comparable: Some(comparable), ..self }
    }

    /// Adds a journal that undoes events.
    #[must_use]
    pub const fn with_journal(self, journal: Journal<S>) -> Self {
        Abilities { journal: Some(journal), ..self }
    }

    /// Declares that [`Model::reverse`](crate::Model::reverse) undoes events.
    #[must_use]
    pub const fn with_reverse(self) -> Self {
        Abilities { has_reverse: true, ..self }
    }

    /// Declares that nothing undoes events of the LPs that are
    /// [conservative](crate::Model::is_conservative), as their states cannot be copied: they are so
    /// whatever settings say.
    #[must_use]
    pub const fn never_undone(self) -> Self {
        Abilities { never_undone: true, ..self }
    }

    /// How events leave their process, for runs of several processes.
    #[inline]
    pub const fn wire(&self) -> Option<WireFormat<E>> {
        self.wire
    }

    /// How events are compared with what was sent before, for `--cancellation lazy` and `dynamic`.
    #[inline]
    pub const fn comparable(&self) -> Option<Comparable<E>> {
        self.comparable
    }

    /// How a journal undoes events, for `--undo journal`.
    #[inline]
    pub const fn journal(&self) -> Option<Journal<S>> {
        self.journal
    }

    /// Whether reverse code undoes events, for `--undo reverse`.
    #[inline]
    pub const fn has_reverse(&self) -> bool {
        self.has_reverse
    }

    /// Whether nothing undoes events of conservative LPs, so that they always are.
    #[inline]
    pub const fn is_never_undone(&self) -> bool {
        self.never_undone
    }
}

impl<S, E> fmt::Debug for Abilities<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Abilities { wire, comparable, journal, has_reverse, never_undone } = self;
        f.debug_struct("Abilities")
            .field("wire", &wire.is_some())
            .field("comparable", &comparable.is_some())
            .field("journal", &journal.is_some())
            .field("has_reverse", has_reverse)
            .field("never_undone", never_undone)
            .finish()
    }
}

impl<S, E> Abilities<S, E> {
    /// The abilities of a type of events. Of the two wire formats, plain data is preferred.
    #[doc(hidden)]
    pub const fn of_events(
        plain: Option<WireFormat<E>>,
        serde: Option<WireFormat<E>>,
        comparable: Option<Comparable<E>>,
    ) -> Self {
        let wire = match plain {
            Some(plain) => Some(plain),
            None => serde,
        };
        Abilities { wire, comparable, ..Abilities::NONE }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use crate::prelude::*;

    /// Declares a model of these types.
    macro_rules! of {
        ($name:ident, $state:ty, $event:ty $(, $word:ident)*) => {
            struct $name;
            #[model($($word),*)]
            impl Model for $name {
                type State = $state;
                type Event = $event;
                fn lps(&self) -> u32 {
                    1
                }
                fn init(&self, _: &mut Init<Self>) -> $state {
                    Default::default()
                }
                fn handle(&self, _: &mut $state, _: &$event, _: &mut Context<Self>) {}
            }
        };
    }

    #[derive(Debug, Portable)]
    struct Plain(f64);

    #[derive(Debug, Serialize, Deserialize)]
    struct Text(String);

    of!(Numbers, u64, u32);
    of!(Measures, u64, f64);
    of!(Compared, u64, f64, compare);
    of!(Journaling, u64, f64, journal);
    of!(Parcels, (), Plain);
    of!(Letters, (), Text);
    of!(Words, (), &'static str);

    fn can<M: Model>() -> (bool, bool, bool, bool) {
        let abilities = M::ABILITIES;
        (
            abilities.wire().is_some(),
            abilities.comparable().is_some(),
            abilities.journal().is_some(),
            abilities.has_reverse(),
        )
    }

    #[test]
    fn types_say_what_a_run_may_do() {
        assert_eq!(can::<Numbers>(), (true, true, false, false));
        assert_eq!(can::<Measures>(), (true, false, false, false));
        assert_eq!(can::<Parcels>(), (true, false, false, false));
        assert_eq!(can::<Letters>(), (true, false, false, false));
        assert_eq!(can::<Words>(), (false, true, false, false));
    }

    #[test]
    fn what_types_do_not_say_the_model_says() {
        assert_eq!(can::<Compared>(), (true, true, false, false));
        assert_eq!(can::<Journaling>(), (true, false, true, false));
    }

    #[test]
    fn plain_data_is_shared_and_the_rest_written() {
        assert!(Parcels::ABILITIES.wire().unwrap().proof().is_some());
        assert!(Letters::ABILITIES.wire().unwrap().proof().is_none());
    }

    #[test]
    fn reverse_code_counts_where_it_is_written() {
        struct Counts;
        #[model]
        impl Model for Counts {
            type State = u64;
            type Event = ();
            fn lps(&self) -> u32 {
                1
            }
            fn init(&self, _: &mut Init<Self>) -> u64 {
                0
            }
            fn handle(&self, seen: &mut u64, _: &(), _: &mut Context<Self>) {
                *seen += 1;
            }
            fn reverse(&self, seen: &mut u64, _: &(), _: &mut Reverse<Self>) {
                *seen -= 1;
            }
        }
        assert_eq!(can::<Counts>(), (true, true, false, true));
    }
}
