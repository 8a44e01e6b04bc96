pub(crate) mod acting;
pub(crate) mod event_timers;
mod few_timers;
pub(crate) mod followed;
pub(crate) mod forwards;
pub(crate) mod limits;
mod many_timers;
pub(crate) mod phases;
pub(crate) mod sending;
pub(crate) mod streams;
mod telling;
pub(crate) mod timer;
pub(crate) mod timer_table;
pub(crate) mod timer_tables;
mod timers;
mod undoing;

use std::fmt::Debug;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_memory::{Beat, DropEach};

use self::event_timers::Timers;
use self::forwards::Forwards;
use self::limits::{Limits, Outgoing};
use self::streams::Streams;
use crate::Fault;
use crate::journal::log::Log;
use crate::statistics::{Observations, Observe};

/// The part of a model that its contexts know: the type of its events. Every
/// [`Model`](crate::Model) implements it.
///
/// `Model` refers to contexts, so contexts must not refer to `Model`.
pub trait HasEvent {
    /// What LPs send each other.
    type Event: Debug + Send;
}

/// What an event can see and do: the last argument of [`Model::handle`](crate::Model::handle).
///
/// Nothing takes effect before the event commits: an engine may execute an event that turns out not
/// to happen, and undo it. Statistics and rows are written by the methods of [`Observe`].
///
/// ```
/// # use warpline_model::{engine::*, prelude::*};
/// const PASSES: Counter = Counter::slot(0);
/// # struct Ring;
/// # impl Model for Ring {
/// #     type State = f64; type Event = ();
/// #     fn lps(&self) -> u32 { 4 }
/// #     fn init(&self, _: &mut Init<Self>) -> f64 { 0.0 }
/// fn handle(&self, last: &mut f64, _: &(), lp: &mut Context<Self>) {
///     *last = lp.now();
///     lp.count(PASSES, 1);
///     let rest = lp.random().exponential(2.0);
///     lp.send((lp.id().0 + 1) % lp.lps(), rest, ());
/// }
/// # }
/// # let mut executor = Executor::new(&Ring, 1, 9, false);
/// # let mut last = 0.0;
/// # executor.begin(LpId(3), 1, 2.5f64.try_into().unwrap(), 0);
/// # Ring.handle(&mut last, &(), executor.lp());
/// # assert_eq!((last, executor.outbox_mut()[0].to, executor.observations_mut().list.len()), (2.5, LpId(0), 1));
/// ```
///
/// An event can neither see nor take back what it has sent, nor do anything else that is up to the
/// engine. None of this compiles:
/// ```compile_fail,E0599
/// # use warpline_model::prelude::*;
/// # fn handle<M: Model>(lp: &mut Context<M>) {
/// lp.outbox_mut().clear(); // error: no method named `outbox_mut`
/// # }
/// ```
/// ```compile_fail,E0599
/// # use warpline_model::prelude::*;
/// # fn handle<M: Model>(lp: &mut Context<M>) {
/// lp.take_fault(); // error: no method named `take_fault`
/// # }
/// ```
/// ```compile_fail,E0599
/// # use warpline_model::prelude::*;
/// # fn handle<M: Model>(lp: &mut Context<M>, other: LpId) {
/// lp.begin(other, 1, 2.5f64.try_into().unwrap(), 0); // error: no method named `begin`
/// # }
/// ```
/// ```compile_fail,E0599
/// # use warpline_model::prelude::*;
/// # fn handle<M: Model>(model: &M, lp: &mut Context<M>) {
/// std::mem::swap(lp, &mut Context::new(model, 1, 9, false)); // error: no function named `new`
/// # }
/// ```
#[derive(Debug)]
pub struct Context<M: HasEvent> {
    /// What the thread is doing, for a thread that watches it.
    pub(crate) beat: Arc<Beat>,
    /// The time of the current event, in model units.
    pub(crate) now: f64,
    /// The current LP.
    pub(crate) id: LpId,
    /// The step of the current event.
    pub(crate) step: u32,
    /// The number of the current event of this LP, from 1; 0 is `init`.
    pub(crate) event: u64,
    pub(crate) limits: Limits,
    pub(crate) streams: Streams,
    /// The sends of the current event, but for those in `forwards`.
    pub(crate) outbox: DropEach<Outgoing<M::Event>>,
    pub(crate) forwards: Forwards<M::Event>,
    pub(crate) timers: Timers,
    /// The observations of the current event.
    pub(crate) observations: Observations,
    /// The values saved for reverse code.
    pub(crate) saved: Vec<u64>,
    /// Whether there is reverse code to save values for.
    pub(crate) saving: bool,
    /// The changes logged for the journal.
    pub(crate) log: Log,
    /// The first fault of the current event.
    pub(crate) fault: Option<Box<Fault>>,
}

impl<M: HasEvent> Context<M> {
    /// The time of the event, in model units.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = f64; type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> f64 { Default::default() }
    /// fn handle(&self, last: &mut f64, _: &(), lp: &mut Context<Self>) {
    ///     let idle = lp.now() - *last; // since the last event
    ///     *last = lp.now();
    /// #   assert_eq!(idle, 1.5);
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = 1.0;
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(state, 2.5);
    /// ```
    #[inline]
    pub fn now(&self) -> f64 {
        self.now
    }

    /// The LP that the event reached.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, _: &mut u32, _: &(), lp: &mut Context<Self>) {
    ///     lp.send(lp.id(), 1.0, ()); // to itself, as an alarm clock
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(executor.outbox_mut()[0].to, LpId(2));
    /// ```
    #[inline]
    pub fn id(&self) -> LpId {
        self.id
    }

    /// The number of LPs of the model: what [`Model::lps`](crate::Model::lps) returned when the run
    /// began.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     let somebody = lp.lps() - 1 - lp.id().0; // the LP opposite
    ///     lp.send(somebody, 1.0, ());
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(executor.outbox_mut()[0].to, LpId(1)); // of 0, 1, 2, 3, seen from 2
    /// ```
    #[inline]
    pub fn lps(&self) -> u32 {
        self.limits.lps
    }

    /// The end of the run, in model units. Events at this time or later do not happen. Use it only
    /// for observations: if sends or states depend on it, a longer run has another history. In a
    /// run that is stopped early, it is still the requested end.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     let done = lp.now() + lp.random().exponential(5.0);
    ///     if done < lp.end() { lp.count(SERVED, 1); } else { lp.count(STILL_THERE, 1); }
    /// }
    /// # }
    /// # const SERVED: Counter = Counter::slot(0);
    /// # const STILL_THERE: Counter = Counter::slot(1);
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut (), &(), executor.lp());
    /// # assert_eq!((executor.lp().end(), executor.observations_mut().list.len()), (f64::INFINITY, 1));
    /// ```
    #[inline]
    pub fn end(&self) -> f64 {
        self.limits.end
    }

    /// The LP's random numbers. The numbers that an event draws depend only on the seed, the LP and
    /// the number of events that the LP has executed.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     let to = lp.random().below(4);
    ///     let delay = lp.random().exponential(1.5);
    ///     lp.send(to, delay, ());
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(executor.outbox_mut().len(), 1);
    /// ```
    ///
    /// Draw before sending, because both borrow the context:
    /// ```compile_fail,E0499
    /// # use warpline_model::prelude::*;
    /// # fn handle<M: Model<Event = ()>>(lp: &mut Context<M>) {
    /// lp.send(lp.random().below(4), 1.0, ()); // error: cannot borrow `*lp` as mutable more than once at a time
    /// # }
    /// ```
    #[inline]
    pub fn random(&mut self) -> &mut Random {
        self.streams.main()
    }

    /// Another stream of the LP, independent of [`random`](Self::random) (which is stream 0) and of
    /// all others. To compare scenarios under the same random numbers, give each source of
    /// randomness its own stream.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = f64; type Event = bool;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> f64 { Default::default() }
    /// fn handle(&self, next: &mut f64, slow: &bool, lp: &mut Context<Self>) {
    ///     const ARRIVALS: u8 = 1;
    ///     const SERVICE: u8 = 2;
    ///     *next = lp.now() + lp.stream(ARRIVALS).exponential(1.0);
    ///     if *slow { // however much is drawn for service, arrivals stay the same
    ///         lp.stream(SERVICE).normal(5.0, 1.0);
    ///     }
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &false, executor.lp());
    /// # let arrival = state;
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &true, executor.lp());
    /// # assert_eq!(state, arrival);
    /// ```
    #[inline]
    pub fn stream(&mut self, number: u8) -> &mut Random {
        self.streams.get(number)
    }

    /// Ends the run with an error that names this LP, event and time, if this event commits.
    ///
    /// `handle` goes on after the call, so return. Prefer this to a panic: the message is for
    /// whoever runs the model. Only the first fault of an event is reported.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { Default::default() }
    /// fn handle(&self, stock: &mut u32, _: &(), lp: &mut Context<Self>) {
    ///     let Some(left) = stock.checked_sub(1) else {
    ///         return lp.fail("sold out: start with a larger stock");
    ///     };
    ///     *stock = left;
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut state = Default::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # let fault = executor.take_fault().unwrap();
    /// # assert_eq!(fault.to_string(), "failed: sold out: start with a larger stock");
    /// ```
    #[cold]
    pub fn fail(&mut self, why: impl Into<String>) {
        self.set_fault(Fault::Failed(why.into()));
    }

    /// Records a fault, unless the event already has one.
    pub(crate) fn set_fault(&mut self, fault: Fault) {
        self.fault.get_or_insert_with(|| Box::new(fault));
    }
}

impl<M: HasEvent> Observe for Context<M> {
    #[inline]
    fn observations(&mut self) -> &mut Observations {
        &mut self.observations
    }
}
