//! Trying an event out before it is executed: forward, undo, compare, forward, compare, undo.

mod differ;
mod outside;
mod sampling;
mod texts;

use warpline_base::{LpId, Sequence};
use warpline_kernel::{Attempt, Step};
use warpline_model::engine::Executor;
use warpline_model::engine::Outgoing;
use warpline_model::statistics::Observations;
use warpline_model::{Fault, Model};
use warpline_transport::thread_time;

use self::differ::Difference;
use self::outside::{Outside, Written};
pub(super) use self::sampling::Sampling;
use self::texts::{Compared, Text};
use super::Engine;
use crate::outcome::verify::OUTSIDE;
use crate::{Mismatch, Place, Undo, VerifyError};

/// What one execution of an event did, apart from changing the state.
#[derive(Debug)]
#[allow(dead_code, reason = "it is compared by its Debug text")]
struct Effects<'a, E> {
    sends: &'a [Outgoing<E>],
    cancelled_timers: Vec<Sequence>,
    observations: &'a Observations,
    random_positions: Vec<(u8, u32)>,
}

/// All dry runs of a verification, and what they have found.
pub(super) struct DryRuns {
    undo: Undo,
    pub(super) sampling: Sampling,
    pub(super) findings: Findings,
    outside: Outside,
}

/// What dry runs found that need not be a mistake.
#[derive(Default)]
pub(super) struct Findings {
    /// Texts that should be equal differ in the order of entries, or in addresses.
    pub(super) order_varies: bool,
}

impl Findings {
    fn take(&mut self, compared: Compared) -> Result<(), Difference> {
        match compared {
            Compared::Equal => Ok(()),
            Compared::OrderDiffers => {
                self.order_varies = true;
                Ok(())
            }
            Compared::Differ(difference) => Err(difference),
        }
    }
}

impl DryRuns {
    /// To be made by the thread that tries events out.
    pub(super) fn new(undo: Undo, sampling: Sampling) -> Self {
        DryRuns {
            undo,
            sampling,
            findings: Findings::default(),
            outside: Outside::of_this_thread(),
        }
    }
}

impl<M: Model> Engine<'_, M> {
    /// Tries out the initialisation of LPs: done twice, it must do the same.
    pub(super) fn verify_init(&mut self, dry_runs: &mut DryRuns) -> Result<(), VerifyError> {
        for id in (0..self.engine.executor().limits().lps).map(LpId) {
            let tries =
                self.engine.try_model(|model, _| dry_runs.sampling.count_lp(model.kind(id)));
            if !tries.map_err(|stop| self.error(stop, Place::Init(id)))? {
                continue;
            }
            let tried = self
                .engine
                .try_model(|model, executor| try_init(model, executor, id, &mut dry_runs.findings));
            let tried = tried.map_err(|stop| self.error(stop, Place::Init(id)))?;
            tried.map_err(|difference| self.mismatch(Place::Init(id), dry_runs, difference))?;
        }
        Ok(())
    }

    #[cold]
    fn mismatch(&self, place: Place, dry_runs: &DryRuns, difference: Difference) -> VerifyError {
        let Difference { when, field, expected, found } = difference;
        VerifyError::Mismatch(Box::new(Mismatch {
            model: self.name.to_owned(),
            undo: dry_runs.undo,
            place,
            // The last one, in which it was found, has not passed.
            events: dry_runs.sampling.tried().saturating_sub(1),
            field,
            when,
            expected,
            found,
        }))
    }

    /// Executes the next event, when the run has `come` so far, from 0 to 1. Tries it out first if
    /// `dry_runs` has drawn it, and it still `may_try`.
    pub(super) fn verify_step(
        &mut self,
        dry_runs: &mut DryRuns,
        come: f64,
        may_try: bool,
    ) -> Result<Step, VerifyError> {
        let tried = self.engine.step_after(|attempt| {
            let receiver = attempt.event.receiver;
            let lp = attempt.model.kind(receiver);
            if M::ABILITIES.is_never_undone() && attempt.model.is_conservative(receiver) {
                dry_runs.sampling.count_untried(&attempt.event.payload, lp);
                return Ok(());
            }
            let tries = dry_runs.sampling.count(&attempt.event.payload, lp, come, may_try);
            if !tries {
                return Ok(());
            }
            let began = thread_time();
            let tried = try_out(attempt, dry_runs);
            dry_runs.sampling.note_dry_run(thread_time().saturating_sub(began));
            tried
        });
        match tried.map_err(|stop| self.error(stop, self.current_place()))? {
            Some(Ok(())) => Ok(Step::Worked),
            Some(Err(difference)) => Err(self.mismatch(self.current_place(), dry_runs, difference)),
            None => Ok(Step::Finished),
        }
    }
}

fn try_init<M: Model>(
    model: &M,
    executor: &mut Executor<M>,
    id: LpId,
    findings: &mut Findings,
) -> Result<(), Difference> {
    // The beat shows only the model's work, to which comparing does not belong.
    let beat = executor.beat().clone();
    let make = |executor: &mut Executor<M>| {
        beat.begin_step();
        let state = executor.init(model, id);
        beat.end_step();
        state
    };
    let state = make(executor);
    let first = Text::of(&state);
    let sent = effects(executor, |effects| Text::of(effects));
    executor.forget();
    let again = make(executor);
    let repeated =
        effects(executor, |effects| sent.compare("made a second time", "", None, effects));
    executor.forget();
    findings.take(first.compare("made a second time", "state", Some(&state), &again))?;
    findings.take(repeated)
}

fn try_out<M: Model>(attempt: Attempt<'_, M>, dry_runs: &mut DryRuns) -> Result<(), Difference> {
    attempt.executor.forget();
    attempt.executor.beat().end_step();
    let mut dry_run = DryRun { undo: dry_runs.undo, attempt, findings: &mut dry_runs.findings };
    let before = dry_runs.outside.written();
    let outcome = dry_run.run();
    dry_run.forget();
    outcome?;
    let written = before.and_then(|before| Some(dry_runs.outside.written()?.since(before)));
    written.map_or(Ok(()), check_written)
}

/// What a dry run has written cannot be undone.
fn check_written(Written { bytes, calls }: Written) -> Result<(), Difference> {
    if calls == 0 {
        return Ok(());
    }
    let found = format!("{bytes} bytes in {calls} {}", if calls == 1 { "write" } else { "writes" });
    Err(Difference {
        when: OUTSIDE,
        field: "output to files, pipes or terminals".into(),
        expected: "nothing".into(),
        found,
    })
}

/// One event on one LP.
struct DryRun<'a, M: Model> {
    attempt: Attempt<'a, M>,
    undo: Undo,
    findings: &'a mut Findings,
}

const UNDONE: &str = "after undoing it";
const UNDONE_TWICE: &str = "after undoing it twice";
const AGAIN: &str = "executed a second time";

impl<M: Model> DryRun<'_, M> {
    fn run(&mut self) -> Result<(), Difference> {
        let before = self.text();
        let copy = self.attempt.lp.state.clone();
        self.forward();
        if self.attempt.executor.take_fault().is_some() {
            // The event fails as it would in a run, which reports that when it executes the event.
            // Of the ways to undo a failed event, only the journal depends on the model.
            let compared = match self.undo {
                Undo::Journal => {
                    self.backward(&copy).and_then(|()| self.compare(UNDONE, &before, Some(&copy)))
                }
                _ => Ok(()),
            };
            self.attempt.lp.state = copy;
            return compared;
        }
        let done = effects(self.attempt.executor, |effects| Text::of(effects));
        let after = self.text();
        let kept = after.is_long().then(|| self.attempt.lp.state.clone());
        self.backward(&copy)?;
        self.compare(UNDONE, &before, Some(&copy))?;
        self.forget();
        self.forward();
        self.compare(AGAIN, &after, kept.as_ref())?;
        let repeated =
            effects(self.attempt.executor, |effects| done.compare(AGAIN, "", None, effects));
        self.findings.take(repeated)?;
        self.backward(&copy)?;
        if before.is_long() {
            // Reading a long state again takes long, and hardly ever shows anything new.
            self.attempt.lp.state = copy;
        } else {
            self.compare(UNDONE_TWICE, &before, Some(&copy))?;
        }
        Ok(())
    }

    /// The text of the state.
    fn text(&self) -> Text {
        Text::of(&self.attempt.lp.state)
    }

    /// Compares the state with what it `was` when it had the text `expected`.
    fn compare(
        &mut self,
        when: &'static str,
        expected: &Text,
        was: Option<&M::State>,
    ) -> Result<(), Difference> {
        self.findings.take(expected.compare(when, "state", was, &self.attempt.lp.state))
    }

    /// Runs code of the model, and shows that by the beat of this thread.
    fn watched(&mut self, run: impl FnOnce(&mut Attempt<'_, M>)) {
        self.attempt.executor.beat().begin_step();
        run(&mut self.attempt);
        self.attempt.executor.beat().end_step();
    }

    fn forward(&mut self) {
        let logs = self.undo == Undo::Journal;
        self.watched(|Attempt { model, event, events, lp, executor }| {
            executor.begin(event.receiver, lp.events + 1, event.time, event.step);
            executor.lend_timers(executor.timers().of(event.receiver.index()), event.as_timer());
            if logs {
                executor.begin_log(&lp.state);
            }
            model.handle(&mut lp.state, &event.payload, executor.lp());
            executor.end_log();
            executor.copy_forwards(&event.payload, |timer| &events.get(timer).payload);
        });
    }

    /// Forgets what the event has done, apart from the state.
    fn forget(&mut self) {
        let Attempt { event, executor, .. } = &mut self.attempt;
        executor.put_back_timers(event.receiver.index());
        executor.forget();
    }

    fn backward(&mut self, copy: &M::State) -> Result<(), Difference> {
        match self.undo {
            Undo::Copy => {
                self.attempt.lp.state = copy.clone();
                Ok(())
            }
            Undo::Reverse => self.reverse(),
            Undo::Journal => self.undo_logged(),
        }
    }

    fn undo_logged(&mut self) -> Result<(), Difference> {
        let Attempt { lp, executor, .. } = &mut self.attempt;
        if executor.undo_logged(&mut lp.state) {
            return Ok(());
        }
        Err(Difference {
            when: UNDONE,
            field: "what the journal has to restore".into(),
            expected: "where the event changed it".into(),
            found: "somewhere else".into(),
        })
    }

    fn reverse(&mut self) -> Result<(), Difference> {
        self.watched(|Attempt { model, event, lp, executor, .. }| {
            executor.reverse(*model, &mut lp.state, &event.payload)
        });
        let executor = &mut self.attempt.executor;
        let left = executor.saved_mut().len();
        let found = match executor.take_fault() {
            Some(Fault::Failed(why)) => why,
            Some(fault) => fault.to_string(),
            None if left > 0 => format!("{left} more than reverse code restored"),
            None => return Ok(()),
        };
        let expected = "exactly those that the event saved".into();
        Err(Difference { when: UNDONE, field: "saved values".into(), expected, found })
    }
}

/// What an execution did, for `read`.
fn effects<M: Model, T>(
    executor: &mut Executor<M>,
    read: impl FnOnce(&Effects<'_, M::Event>) -> T,
) -> T {
    let random_positions = executor.streams().positions();
    let observations = executor.observations_mut().clone();
    let cancelled_timers = executor.cancelled_timers().iter().map(|(timer, _)| *timer).collect();
    let sends = executor.outbox_mut();
    read(&Effects { sends, cancelled_timers, observations: &observations, random_positions })
}
