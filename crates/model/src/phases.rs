use warpline_base::LpId;
use warpline_base::random::Random;

use crate::statistics::Notes;
use crate::{Context, Model, Observe, Saved};

macro_rules! phase {
    ($name:ident, $what:literal, $(#[$meta:meta])*) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<'a, M: Model> {
            pub(crate) context: &'a mut Context<M>,
        }

        impl<M: Model> $name<'_, M> {
            #[doc = concat!("The time ", $what, ", in model units.")]
            #[inline]
            pub fn now(&self) -> f64 {
                self.context.now
            }

            /// The LP at hand.
            #[inline]
            pub fn id(&self) -> LpId {
                self.context.id
            }

            /// How many LPs the model has.
            #[inline]
            pub fn lps(&self) -> u32 {
                self.context.limits.lps
            }
        }
    };
}

macro_rules! observing_phase {
    ($name:ident) => {
        impl<M: Model> Observe for $name<'_, M> {
            #[inline]
            fn notes(&mut self) -> &mut Notes {
                &mut self.context.notes
            }
        }
    };
}

macro_rules! random_phase {
    ($name:ident) => {
        impl<M: Model> $name<'_, M> {
            /// The LP's random numbers; see [`Context::random`].
            #[inline]
            pub fn random(&mut self) -> &mut Random {
                &mut self.context.streams.main
            }

            /// A further stream of the LP; see [`Context::stream`].
            #[inline]
            pub fn stream(&mut self, number: u8) -> &mut Random {
                self.context.streams.get(number)
            }
        }
    };
}

phase! {
    Init, "of the start, 0",
    /// What [`Model::init`] sees: it may draw, send and observe, at time 0.
}
observing_phase!(Init);
random_phase!(Init);

impl<M: Model> Init<'_, M> {
    /// Sends a first event; see [`Context::send`].
    #[inline]
    pub fn send(&mut self, to: impl Into<LpId>, delay: f64, event: M::Event) {
        self.context.send(to, delay, event);
    }

    /// Sends a first event with a priority; see [`Context::send_with_priority`].
    #[inline]
    pub fn send_with_priority(&mut self, to: impl Into<LpId>, delay: f64, priority: i8, event: M::Event) {
        self.context.send_with_priority(to, delay, priority, event);
    }

    /// Ends the run with an error that names this LP.
    #[cold]
    pub fn fail(&mut self, why: impl Into<String>) {
        self.context.fail(why);
    }
}

phase! {
    Reverse, "of the event that is undone",
    /// What [`Model::reverse`] sees: the event's random draws again from the first, and what it saved.
    ///
    /// Nothing can be sent or observed here; that does not compile:
    /// ```compile_fail
    /// # use warpline_model::prelude::*;
    /// # struct Bad;
    /// # impl Model for Bad {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn reverse(&self, _: &mut (), _: &(), lp: &mut Reverse<Self>) {
    ///     lp.send(0, 1.0, ()); // error: no method named `send`
    /// }
    /// # }
    /// ```
}
random_phase!(Reverse);

impl<M: Model> Reverse<'_, M> {
    /// Returns what [`Context::save`] kept, last first. More than was saved reads as zero, which `warpline verify` reports.
    #[inline]
    pub fn restore<T: Saved>(&mut self) -> T {
        T::from_word(self.context.saved.pop().unwrap_or_else(|| {
            self.context.fail("reverse code restored more values than the event had saved");
            0
        }))
    }
}

phase! {
    Commit, "of the event that commits",
    /// What [`Model::commit`] sees: it may observe, and neither send nor draw.
    ///
    /// ```compile_fail
    /// # use warpline_model::prelude::*;
    /// # struct Bad;
    /// # impl Model for Bad {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn commit(&self, _: &(), lp: &mut Commit<Self>) {
    ///     let luck = lp.random().uniform(); // error: no method named `random`
    /// }
    /// # }
    /// ```
}
observing_phase!(Commit);

phase! {
    Finish, "of the end of the run",
    /// What [`Model::finish`] sees: it may observe, and cannot change a state any more.
    ///
    /// ```compile_fail
    /// # use warpline_model::prelude::*;
    /// # struct Bad;
    /// # impl Model for Bad {
    /// #     type State = u64; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u64 { 0 }
    /// #     fn handle(&self, _: &mut u64, _: &(), _: &mut Context<Self>) {}
    /// fn finish(&self, state: &u64, _: &mut Finish<Self>) {
    ///     *state += 1; // error: cannot assign to `*state`, which is behind a `&` reference
    /// }
    /// # }
    /// ```
}
observing_phase!(Finish);
