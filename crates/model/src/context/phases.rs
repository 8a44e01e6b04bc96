use warpline_base::LpId;
use warpline_base::random::Random;

use super::timer::Timer;
use super::{Context, HasEvent};
use crate::journal::changing::{Changing, Sealed};
use crate::journal::saved::Saved;
use crate::statistics::{Observations, Observe};

macro_rules! phase {
    ($name:ident, $what:literal, $(#[$meta:meta])*) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<'a, M: HasEvent> {
            pub(crate) context: &'a mut Context<M>,
        }

        impl<M: HasEvent> $name<'_, M> {
            #[doc = concat!("The time ", $what, ", in model units; see [`Context::now`].")]
            #[inline]
            pub fn now(&self) -> f64 {
                self.context.now
            }

            /// The current LP; see [`Context::id`].
            #[inline]
            pub fn id(&self) -> LpId {
                self.context.id
            }

            /// The number of LPs of the model; see [`Context::lps`].
            #[inline]
            pub fn lps(&self) -> u32 {
                self.context.limits.lps
            }
        }
    };
}

macro_rules! observing_phase {
    ($name:ident) => {
        impl<M: HasEvent> Observe for $name<'_, M> {
            #[inline]
            fn observations(&mut self) -> &mut Observations {
                &mut self.context.observations
            }
        }
    };
}

macro_rules! random_phase {
    ($name:ident) => {
        impl<M: HasEvent> $name<'_, M> {
            /// The LP's random numbers; see [`Context::random`].
            #[inline]
            pub fn random(&mut self) -> &mut Random {
                self.context.streams.main()
            }

            /// Another stream of the LP; see [`Context::stream`].
            #[inline]
            pub fn stream(&mut self, number: u8) -> &mut Random {
                self.context.streams.get(number)
            }
        }
    };
}

phase! {
    Init, "of the start, 0",
    /// What [`Model::init`](crate::Model::init) sees: it may draw, send and observe, at time 0.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = f64; type Event = &'static str;
    /// #     fn lps(&self) -> u32 { 3 }
    /// #     fn handle(&self, _: &mut f64, _: &&'static str, _: &mut Context<Self>) {}
    /// fn init(&self, lp: &mut Init<Self>) -> f64 {
    ///     let speed = lp.random().normal(1.0, 0.1); // no two clerks are alike
    ///     if lp.id().0 == lp.lps() - 1 { lp.send(0, 8.0, "the doors open"); }
    ///     speed
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let speeds = [0, 1, 2].map(|id| executor.init(&Shop, LpId(id)));
    /// # assert!(speeds[0] != speeds[1] && executor.outbox_mut().len() == 1);
    /// ```
}
observing_phase!(Init);
random_phase!(Init);

impl<M: HasEvent> Init<'_, M> {
    /// Sends a first event; see [`Context::send`].
    #[inline]
    pub fn send(&mut self, to: impl Into<LpId>, delay: f64, event: M::Event) {
        self.context.send(to, delay, event);
    }

    /// Sends a first event that happens at this time; see [`Context::send_at`].
    pub fn send_at(&mut self, to: impl Into<LpId>, time: f64, event: M::Event) {
        self.context.send_at(to, time, event);
    }

    /// Sends a first event with a priority; see [`Context::send_with_priority`].
    #[inline]
    pub fn send_with_priority(
        &mut self,
        to: impl Into<LpId>,
        delay: f64,
        priority: i8,
        event: M::Event,
    ) {
        self.context.send_with_priority(to, delay, priority, event);
    }

    /// Sets a first timer; see [`Context::send_later`].
    pub fn send_later(&mut self, delay: f64, event: M::Event) -> Timer {
        self.context.send_later(delay, event)
    }

    /// Cancels a timer; see [`Context::cancel`].
    pub fn cancel(&mut self, timer: Timer) -> bool {
        self.context.cancel(timer)
    }

    /// Cancels a timer and sets it anew; see [`Context::reschedule`].
    pub fn reschedule(&mut self, timer: Timer, delay: f64) -> Option<Timer>
    where
        M::Event: Clone,
    {
        self.context.reschedule(timer, delay)
    }

    /// Whether a timer is pending; see [`Context::is_pending`].
    pub fn is_pending(&self, timer: Timer) -> bool {
        self.context.is_pending(timer)
    }

    /// Ends the run with an error that names this LP; see [`Context::fail`].
    #[cold]
    pub fn fail(&mut self, why: impl Into<String>) {
        self.context.fail(why);
    }
}

phase! {
    Reverse, "of the event that is undone",
    /// What [`Model::reverse`](crate::Model::reverse) sees: the event's random draws, repeated from
    /// the first, and the values that it saved.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { 0 }
    /// fn handle(&self, stock: &mut u32, _: &(), lp: &mut Context<Self>) {
    ///     *stock += lp.random().below(6);
    /// }
    /// fn reverse(&self, stock: &mut u32, _: &(), lp: &mut Reverse<Self>) {
    ///     *stock -= lp.random().below(6); // the same number again
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, true);
    /// # let mut stock = 7;
    /// # (1..20).for_each(|event| {
    /// #     executor.begin(LpId(0), event, 2.5f64.try_into().unwrap(), 0);
    /// #     Shop.handle(&mut stock, &(), executor.lp());
    /// #     executor.reverse(&Shop, &mut stock, &());
    /// #     assert_eq!(stock, 7);
    /// # });
    /// ```
    ///
    /// Reverse code can neither send nor observe. This does not compile:
    /// ```compile_fail,E0599
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

impl<M: HasEvent> Reverse<'_, M> {
    /// Returns what [`Context::save`] kept, last first, as the type that was saved. The example is
    /// there.
    ///
    /// Restoring more values than were saved returns zeros. Restoring another type returns wrong
    /// values. `warpline verify` finds both, and values that were saved but not restored.
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
    /// What [`Model::commit`](crate::Model::commit) sees: it may observe, but neither send nor
    /// draw. [`Model::commit`](crate::Model::commit) has an example.
    ///
    /// ```compile_fail,E0599
    /// # use warpline_model::prelude::*;
    /// # struct Bad;
    /// # impl Model for Bad {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// fn commit(&self, _: &(), lp: &mut Commit<Self>) {
    ///     lp.send(0, 1.0, ()); // error: no method named `send`; send it in `handle`
    /// }
    /// # }
    /// ```
    ///
    /// ```compile_fail,E0599
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
    /// What [`Model::finish`](crate::Model::finish) sees: it may observe, but cannot change a state
    /// any more. [`Model::finish`](crate::Model::finish) has an example.
    ///
    /// ```compile_fail,E0594
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

impl<M: HasEvent> Sealed for Init<'_, M> {}
impl<M: HasEvent> Sealed for Reverse<'_, M> {}

impl<M: HasEvent> Changing for Init<'_, M> {
    fn note_change<T>(&mut self, _: &T, _: usize, _: impl FnOnce(&mut Vec<u64>)) {}
}

impl<M: HasEvent> Changing for Reverse<'_, M> {
    fn note_change<T>(&mut self, _: &T, _: usize, _: impl FnOnce(&mut Vec<u64>)) {}
}
