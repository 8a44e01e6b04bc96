//! What events do to be undone later: they save values for reverse code, and log changes for the
//! journal.

use warpline_memory::Exhausted;

use super::{Context, HasEvent};
use crate::fault::Fault;
use crate::journal::changing::{Changing, Sealed, address};
use crate::journal::journaled::Plain;
use crate::journal::saved::Saved;

impl<M: HasEvent> Context<M> {
    /// Keeps a value for [`Reverse::restore`](crate::Reverse::restore): one that the event is about
    /// to overwrite and that reverse code cannot compute. It costs nothing in runs without reverse
    /// code.
    ///
    /// Only single-word values can be saved; see [`Saved`]. Reverse code restores them last first,
    /// as the same types.
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
    /// # let mut executor = Executor::new(&Shop, 1, 9, true);
    /// # let mut state = (1.0, false);
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
            if self.saved.len() < self.saved.capacity() || self.grow_saved() {
                self.saved.push(value.to_word());
            } else {
                self.no_memory("what an event saves", size_of::<u64>() * (self.saved.len() + 1));
            }
        }
    }

    /// Returns `place`, a part of the LP's state, for the event to change. In runs with a
    /// [journal](macro@crate::model), its old value is logged first; otherwise it does nothing.
    ///
    /// A model with a journal changes its states only by this method, and by
    /// [`Queue`](crate::Queue) and [`Level`](crate::Level), which log changes too. It may change
    /// anything [`Plain`], such as a field that is a number, or an item of an array.
    /// `warpline verify --undo journal` finds changes made without it.
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
    /// # let mut executor = Executor::new(&Shop, 1, 9, false);
    /// # let mut till = Till::default();
    /// # executor.begin(LpId(2), 1, 2.5f64.try_into().unwrap(), 0);
    /// # executor.begin_log(&till);
    /// # Shop.handle(&mut till, &0.5, executor.lp());
    /// # assert_eq!(till, Till { takings: 0.5, served: [1, 0] });
    /// # assert!(executor.undo_logged(&mut till) && till == Till::default());
    /// ```
    ///
    /// # Faults
    /// In runs with a journal: if `place` is not part of the LP's state, but a copy of it, or
    /// something that it points to.
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

    /// Logs a change of the value at this address.
    #[inline]
    pub(crate) fn log_change(&mut self, at: usize, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        if words == 0 {
            return;
        }
        let Some(offset) = self.log.offset(at) else { return self.changes_outside() };
        if !self.log.has_room(words) {
            self.stop_for_memory(words);
        }
        self.log.note(offset, words, keep);
    }

    #[cold]
    fn changes_outside(&mut self) {
        self.fail(
            "it changed a value outside of the LP's state by Context::change, which --undo journal \
             could not undo; change the state itself, and neither a copy of it nor what it points \
             to: a list in a state is a Queue",
        );
    }

    /// Ends the event, because a change that is not logged must not happen.
    #[cold]
    fn stop_for_memory(&mut self, words: usize) -> ! {
        self.no_memory("what an event changes", size_of::<u64>() * words);
        std::panic::resume_unwind(Box::new("no memory for what an event changes"))
    }

    /// Makes room for one more saved word. Returns `false` if there is no memory, or if the event
    /// has already failed.
    #[cold]
    fn grow_saved(&mut self) -> bool {
        self.fault.is_none() && self.saved.try_reserve(1).is_ok()
    }

    #[cold]
    fn no_memory(&mut self, what: &'static str, bytes: usize) {
        self.set_fault(Fault::Memory(Exhausted::Memory { what, bytes }));
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
