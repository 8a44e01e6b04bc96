pub(crate) mod acting;
pub(crate) mod forwards;
pub(crate) mod limits;
pub(crate) mod phases;
pub(crate) mod sending;
pub(crate) mod streams;

use std::fmt::Debug;
use std::sync::Arc;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_memory::{Beat, DropEach, Exhausted};

use self::forwards::Forwards;
use self::limits::{Limits, Outgoing};
use self::streams::Streams;
use crate::Fault;
use crate::journal::changing::{Changing, Sealed, address};
use crate::journal::journaled::Plain;
use crate::journal::log::Log;
use crate::journal::saved::Saved;
use crate::statistics::{Notes, Observe};

/// A model as far as its contexts know it: the type of its events. Every [`Model`](crate::Model) has one.
///
/// Models name contexts, so contexts do not name models.
pub trait HasEvent {
    /// What LPs send each other.
    type Event: Debug + Send;
}

/// What an event sees of the simulation, and what it may do: the last argument of [`Model::handle`](crate::Model::handle).
///
/// Nothing done here takes effect before the event commits: engines may execute an event that later turns out
/// not to happen, and undo it. Statistics and rows are written by the methods of [`Observe`].
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
/// # let (mut executor, mut last) = (Executor::new(&Ring, 1, 9, false), 0.0);
/// # executor.begin(LpId(3), 1, 2.5f64.try_into().unwrap(), 0);
/// # Ring.handle(&mut last, &(), executor.lp());
/// # assert_eq!((last, executor.outbox_mut()[0].to, executor.notes_mut().list.len()), (2.5, LpId(0), 1));
/// ```
///
/// An event cannot look at what it has sent, or take it back, nor do anything else that is the engine's; none of this compiles:
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
    pub(crate) beat: Arc<Beat>,
    pub(crate) now: f64,
    pub(crate) id: LpId,
    pub(crate) step: u32,
    pub(crate) limits: Limits,
    pub(crate) streams: Streams,
    pub(crate) outbox: DropEach<Outgoing<M::Event>>,
    pub(crate) forwards: Forwards<M::Event>,
    pub(crate) notes: Notes,
    pub(crate) saved: Vec<u64>,
    pub(crate) saving: bool,
    pub(crate) log: Log,
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
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, false), 1.0);
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
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, false), Default::default());
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(executor.outbox_mut()[0].to, LpId(2));
    /// ```
    #[inline]
    pub fn id(&self) -> LpId {
        self.id
    }

    /// How many LPs the model has: what [`Model::lps`](crate::Model::lps) returned when the run began.
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
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, false), Default::default());
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(executor.outbox_mut()[0].to, LpId(1)); // of 0, 1, 2, 3, seen from 2
    /// ```
    #[inline]
    pub fn lps(&self) -> u32 {
        self.limits.lps
    }

    /// The end of the run in model units: what is due then or later does not happen any more. For what is to be observed of it; a model
    /// whose sends or states depend on it has another history in a longer run. A run that is ended early is still told the end that was wanted.
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
    /// # assert_eq!((executor.lp().end(), executor.notes_mut().list.len()), (f64::INFINITY, 1));
    /// ```
    #[inline]
    pub fn end(&self) -> f64 {
        self.limits.end
    }

    /// The LP's random numbers. Which ones an event draws depends on the seed, the LP and how many events the LP
    /// has executed, and on nothing else.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     let (to, delay) = (lp.random().below(4), lp.random().exponential(1.5));
    ///     lp.send(to, delay, ());
    /// }
    /// # }
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, false), Default::default());
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(executor.outbox_mut().len(), 1);
    /// ```
    ///
    /// Draw before sending, as both borrow the context:
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

    /// Another stream of the LP, independent of [`random`](Self::random) (which is stream 0) and of the others: give each source of
    /// randomness its own to compare scenarios under equal luck.
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
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, false), Default::default());
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

    /// Keeps a value for [`Reverse::restore`](crate::Reverse::restore): one that the event is about to overwrite and that reverse code
    /// cannot compute. It costs nothing where no reverse code runs.
    ///
    /// Only values of a single word can be saved, see [`Saved`]. Reverse code restores them last first, as the same types.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (f64, bool); type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> (f64, bool) { Default::default() }
    /// fn handle(&self, state: &mut (f64, bool), _: &(), lp: &mut Context<Self>) {
    ///     lp.save(state.0);
    ///     lp.save(state.1);
    ///     *state = (lp.now(), true);
    /// }
    /// fn reverse(&self, state: &mut (f64, bool), _: &(), lp: &mut Reverse<Self>) {
    ///     state.1 = lp.restore(); // the last first
    ///     state.0 = lp.restore();
    /// }
    /// # }
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, true), (1.0, false));
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # assert_eq!(state, (2.5, true));
    /// # executor.reverse(&Shop, &mut state, &());
    /// # assert_eq!(state, (1.0, false));
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use warpline_model::prelude::*;
    /// # fn handle<M: Model>(queue: Vec<f64>, lp: &mut Context<M>) {
    /// lp.save(queue); // error: the trait `Saved` is not implemented for `Vec<f64>`; save what was pushed or popped
    /// # }
    /// ```
    #[inline]
    pub fn save(&mut self, value: impl Saved) {
        if self.saving {
            match self.saved.len() < self.saved.capacity() || self.grow_saved() {
                true => self.saved.push(value.to_word()),
                false => self.no_memory("what an event saves", size_of::<u64>() * (self.saved.len() + 1)),
            }
        }
    }

    /// Gives a part of the LP's state to the event to be changed: where events are undone by a [journal](macro@crate::model), its old value is
    /// logged first. Elsewhere it does nothing.
    ///
    /// A model that has a journal changes its states by this alone, and by [`Queue`](crate::Queue) and [`Level`](crate::Level), which do the
    /// same. It may change anything [`Plain`]: a field that is a number, say, or an item of an array. `warpline verify --undo journal` finds
    /// what changes without it.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// #[derive(Clone, Debug, Default, PartialEq, Journaled)]
    /// struct Till { takings: f64, served: [u32; 2] }
    ///
    /// # struct Shop;
    /// #[model(journal)]
    /// # impl Model for Shop {
    /// #     type State = Till; type Event = f64;
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, _: &mut Init<Self>) -> Till { Till::default() }
    /// fn handle(&self, till: &mut Till, price: &f64, lp: &mut Context<Self>) {
    ///     *lp.change(&mut till.takings) += price;
    ///     *lp.change(&mut till.served[usize::from(lp.now() > 12.0)]) += 1;
    /// }
    /// # }
    /// # let (mut executor, mut till) = (Executor::new(&Shop, 1, 9, false), Till::default());
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # executor.begin_log(&till);
    /// # Shop.handle(&mut till, &0.5, executor.lp());
    /// # assert_eq!(till, Till { takings: 0.5, served: [1, 0] });
    /// # assert!(executor.undo_logged(&mut till) && till == Till::default());
    /// ```
    ///
    /// # Faults
    /// Where changes are logged: what is no part of the LP's state, such as a copy of it, or what it points to.
    ///
    /// ```compile_fail,E0277
    /// # use warpline_model::prelude::*;
    /// # #[derive(Clone, Debug, Journaled)]
    /// struct Till { takings: f64, served: u32 }
    /// # fn handle<M: Model>(till: &mut Till, lp: &mut Context<M>) {
    /// lp.change(till).takings = 0.0; // error: `Till` cannot be changed as a whole; `*lp.change(&mut till.takings) = 0.0`
    /// # }
    /// ```
    #[inline(always)]
    pub fn change<'s, T: Plain>(&mut self, place: &'s mut T) -> &'s mut T {
        self.note_change(place, T::WORDS, |log| place.keep(log));
        place
    }

    /// Logs a change of what lies at this address.
    #[inline]
    pub(crate) fn log_change(&mut self, at: usize, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        if words == 0 {
            return;
        }
        if !self.log.covers(at) {
            return self.changes_outside();
        }
        if !self.log.has_room(words) {
            self.stop_for_memory(words);
        }
        self.log.note(at, words, keep);
    }

    #[cold]
    fn changes_outside(&mut self) {
        self.fail(
            "it changed a value outside of the LP's state by Context::change, which --undo journal could not undo; change the state itself, \
             and neither a copy of it nor what it points to: a list in a state is a Queue",
        );
    }

    /// The event ends here: a change that is not logged must not happen.
    #[cold]
    fn stop_for_memory(&mut self, words: usize) -> ! {
        self.no_memory("what an event changes", size_of::<u64>() * words);
        std::panic::resume_unwind(Box::new("no memory for what an event changes"))
    }

    /// Ends the run with an error that names this LP, event and time, if this event commits.
    ///
    /// `handle` goes on after it, so return. Prefer it to a panic: the message is for whoever runs the model. Only the first fault of an
    /// event is reported.
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
    /// # let (mut executor, mut state) = (Executor::new(&Shop, 1, 9, false), Default::default());
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Shop.handle(&mut state, &(), executor.lp());
    /// # let fault = executor.take_fault().unwrap();
    /// # assert_eq!(fault.to_string(), "failed: sold out: start with a larger stock");
    /// ```
    #[cold]
    pub fn fail(&mut self, why: impl Into<String>) {
        self.set_fault(Fault::Failed(why.into()));
    }

    /// The same for what the event saves.
    #[cold]
    fn grow_saved(&mut self) -> bool {
        self.fault.is_none() && self.saved.try_reserve(1).is_ok()
    }

    #[cold]
    fn no_memory(&mut self, what: &'static str, bytes: usize) {
        self.set_fault(Fault::Memory(Exhausted::Memory { what, bytes }));
    }

    /// Keeps the first fault of an event.
    pub(crate) fn set_fault(&mut self, fault: Fault) {
        self.fault.get_or_insert_with(|| Box::new(fault));
    }
}

impl<M: HasEvent> Observe for Context<M> {
    #[inline]
    fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }
}

impl<M: HasEvent> Sealed for Context<M> {}

impl<M: HasEvent> Changing for Context<M> {
    #[inline(always)]
    fn note_change<T>(&mut self, place: &T, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        if self.log.is_on() {
            self.log_change(address(place), words, keep);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Executor;
    use crate::{Init, Model};

    struct Flood;

    impl Model for Flood {
        type State = ();
        type Event = u32;
        fn lps(&self) -> u32 {
            2
        }
        fn init(&self, _: &mut Init<Self>) {}
        fn handle(&self, _: &mut (), _: &u32, _: &mut Context<Self>) {}
    }

    #[test]
    fn values_are_saved_only_for_reverse_code() {
        for saving in [false, true] {
            let mut executor = Executor::new(&Flood, 1, 10, saving);
            executor.lp().save(1.5);
            assert_eq!(executor.saved_mut().len(), usize::from(saving));
        }
    }
}
