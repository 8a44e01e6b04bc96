use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{LpId, VirtualTime};
use warpline_model::{Context, Fault, Model, Statistics};

use crate::error::{Failure, panic_message};
use crate::rows::Rows;
use crate::{Error, Place};

/// What every engine needs to let LPs finish.
pub(crate) struct Finisher<'a, M: Model> {
    pub(crate) model: &'a M,
    pub(crate) name: &'a str,
    pub(crate) context: &'a mut Context<M>,
    pub(crate) statistics: &'a mut Statistics,
    pub(crate) rows: &'a mut Rows,
    pub(crate) end: VirtualTime,
    pub(crate) committed: u64,
}

impl<M: Model> Finisher<'_, M> {
    /// Calls `finish` for all LPs, in the order of their ids, with these states.
    pub(crate) fn finish<'s>(self, states: impl Iterator<Item = &'s M::State>) -> Result<(), Error>
    where
        M: 's,
    {
        let Finisher { model, name, context, statistics, rows, end, committed } = self;
        let fail = |lp, fault| {
            let (model, place, time) = (name.to_owned(), Place::Finish(lp), end.get());
            Err(Error::Fault(Box::new(Failure { model, place, time, fault, committed })))
        };
        let beat = context.beat().clone();
        for (id, state) in (0..).map(LpId).zip(states) {
            beat.begin_step();
            // The context is not used again after a panic.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| context.finish(model, id, state, end))) {
                // A fault before the panic takes precedence.
                return fail(id, context.take_fault().unwrap_or_else(|| Fault::Panic(panic_message(panic))));
            }
            let notes = context.notes_mut();
            let outcome = statistics.apply(notes, end.get(), id, rows);
            notes.clear();
            outcome.or_else(|fault| fail(id, fault))?;
        }
        beat.end_step();
        statistics.close_levels(end.get());
        Ok(())
    }
}
