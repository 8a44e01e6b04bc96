use warpline_base::{LpId, Moment, StateDigest, VirtualTime};
use warpline_kernel::{MomentRow, RowContent};
use warpline_memory::catch_exhausted;
use warpline_model::engine::Executor;
use warpline_model::statistics::{Row, RowSink};
use warpline_model::{Act, Fault, Model, Statistics};
use warpline_record::Stuck;

use crate::outcome::error::{Failure, catch_message};
use crate::{Error, Place};

/// Has LPs finish.
pub(crate) struct Finisher<'a, M: Model> {
    pub(crate) model: &'a M,
    pub(crate) executor: &'a mut Executor<M>,
    pub(crate) statistics: &'a mut Statistics,
    pub(crate) end: VirtualTime,
    /// The digest of final states, if it is wanted.
    pub(crate) digest: Option<&'a mut StateDigest>,
    /// Who still waits.
    pub(crate) stuck: &'a mut Stuck,
}

/// The LP that failed, and how.
pub(crate) type FinishFault = (LpId, Fault);

impl<M: Model> Finisher<'_, M> {
    /// Calls `finish` for consecutive LPs from `first` on, in the order of their ids, with these
    /// states.
    pub(crate) fn finish<'s>(
        self,
        first: u32,
        states: impl Iterator<Item = &'s M::State>,
        rows: &mut impl RowSink,
    ) -> Result<(), FinishFault>
    where
        M: 's,
    {
        let Finisher { model, executor, statistics, end, mut digest, stuck } = self;
        let beat = executor.beat().clone();
        for (id, state) in (first..).map(LpId).zip(states) {
            beat.begin_step();
            // The executor is not used again after a panic.
            if let Err(panic) = catch_fault(|| executor.finish(model, id, state, end)) {
                // A fault before the panic takes precedence.
                return Err((id, executor.take_fault().unwrap_or(panic)));
            }
            let observations = executor.observations_mut();
            let outcome = statistics.apply(observations, end.get(), id, rows);
            observations.clear();
            outcome.map_err(|fault| (id, fault))?;
            let waits = catch_fault(|| model.stuck(id, state, stuck.room()));
            stuck.add(waits.map_err(|fault| (id, fault))?);
            if digest.is_some() {
                // The model's work on this LP is done; the text of a large state takes a while.
                beat.end_step();
            }
            digest
                .as_deref_mut()
                .map_or(Ok(()), |digest| add_state::<M>(digest, id, state))
                .map_err(|fault| (id, fault))?;
        }
        beat.end_step();
        statistics.close_levels(end.get());
        Ok(())
    }
}

/// Calls code of the model.
///
/// # Errors
/// If it panics, or memory runs out in it.
fn catch_fault<T>(call: impl FnOnce() -> T) -> Result<T, Fault> {
    match catch_exhausted(|| catch_message(call)) {
        Ok(outcome) => outcome.map_err(Fault::Panic),
        Err(why) => Err(Fault::Memory(why)),
    }
}

fn add_state<M: Model>(digest: &mut StateDigest, lp: LpId, state: &M::State) -> Result<(), Fault> {
    match catch_fault(|| digest.add(lp, state)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Fault::Failed(
            "the `Debug` of its state fails, so there is no digest of states; \
                               mend it, or run without one"
                .into(),
        )),
        Err(Fault::Panic(message)) => Err(Fault::Panic(format!(
            "the `Debug` of its state, for the \
            digest of states: {message}"
        ))),
        Err(fault) => Err(fault),
    }
}

/// The error of a run in which an LP fails when it finishes.
pub(crate) fn finish_failure(
    model: &str,
    (lp, fault): FinishFault,
    end: VirtualTime,
    committed: u64,
) -> Error {
    Error::Fault(Box::new(Failure {
        model: model.to_owned(),
        place: Place::Finish(lp),
        time: end.get(),
        fault,
        committed,
    }))
}

/// The rows that the LPs of a process write when they finish, for the first process.
#[derive(Default)]
pub(crate) struct FinishRows(pub(crate) Vec<MomentRow>);

impl FinishRows {
    fn add(&mut self, time: f64, lp: LpId, content: RowContent) {
        self.0.push(MomentRow { moment: Moment::Finish(lp), time, lp, content });
    }
}

impl RowSink for FinishRows {
    fn row(&mut self, Row { table, time, lp, cells }: Row<'_>) {
        self.add(time, lp, RowContent::Cells { table, cells: cells.to_vec() });
    }

    fn act(&mut self, act: &Act, time: f64, lp: LpId) {
        self.add(time, lp, RowContent::Act(act.clone()));
    }
}
