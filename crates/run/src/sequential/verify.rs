//! Verification: a sequential run whose events are tried out before they are executed, and a second
//! run that must equal it.

use std::time::Instant;

use warpline_base::{StateDigest, VirtualTime};
use warpline_kernel::Step;
use warpline_model::Model;
use warpline_record::StateDigestRecord;

use super::Engine;
use super::dry_run::{DryRuns, Sampling};
use crate::conclude::state_digests::state_digest_record;
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::outcome::error::within_memory;
use crate::outcome::rows::Acts;
use crate::outcome::verify::{UnequalRuns, VerifyLimits, unequal};
use crate::watch::Control;
use crate::watch::drive::{Log, Pace};
use crate::{Error, Records, Undo, Verification, VerifyError};

/// How many events are executed between two looks at the clock.
const LOOK_EVERY: u64 = 64;

/// What a run ends with.
struct End {
    committed: u64,
    digest: String,
    states: StateDigestRecord,
}

/// Compiled once for all models.
fn in_another_thread(
    stack: usize,
    run: Box<dyn FnOnce() -> Result<End, Error> + Send + '_>,
) -> Result<End, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("warpline-again".to_owned());
        let again = thread.stack_size(stack).spawn_scoped(scope, || within_memory(run));
        let again = again.map_err(|cause| Error::no_thread(0, 1, cause))?;
        again.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl<M: Model> Job<M> {
    /// Tries events out, and if it `repeats`, runs the model again in another thread.
    pub(crate) fn verify(
        self,
        limits: VerifyLimits,
        repeats: bool,
        control: &Control,
    ) -> Result<Verification, VerifyError> {
        let mut spec = self.check()?;
        let mut verified = self.try_events(&spec, limits, control)?;
        if repeats {
            spec.end = VirtualTime::new(verified.virtual_time).unwrap_or(spec.end);
            let End { digest, states, .. } = self.repeat(&spec, control)?;
            let (what, texts_differ) =
                unequal((&verified.digest, &verified.state_digest), (&digest, &states), true);
            if !what.is_empty() {
                let digests = [verified.digest, digest];
                let unequal =
                    UnequalRuns { model: self.name, second: "in another thread", what, digests };
                return Err(VerifyError::Unequal(Box::new(unequal)));
            }
            verified.order_varies |= texts_differ;
        }
        Ok(verified)
    }

    fn try_events(
        &self,
        spec: &RunSpec,
        limits: VerifyLimits,
        control: &Control,
    ) -> Result<Verification, VerifyError> {
        let undo = self.settings.undo();
        let until = spec.end.get();
        // Files of an earlier run are left alone.
        let state = self.begin(spec, Acts::Ignore, &Records::Drop)?;
        let mut run = self.engine(spec, undo == Undo::Reverse, state);
        control.watch(None, run.engine.executor().beat());
        let mut dry_runs = DryRuns::new(undo, Sampling::new(limits));
        run.verify_init(&mut dry_runs)?;
        run.initialise(|_| control.go_on())?;
        dry_runs.sampling.begin();
        let mut log = Log::new(Instant::now(), until, control.listener());
        let most = limits.most.unwrap_or(u64::MAX);
        let mut cut_short = None;
        loop {
            let committed = run.engine.committed();
            // Most events take microseconds, so it is enough to read the clock now and then.
            let mut over = committed >= most;
            if committed.is_multiple_of(LOOK_EVERY) || dry_runs.sampling.is_slow() {
                log.note(Instant::now(), run.engine.now(), committed);
                control.go_on()?;
                over |= dry_runs.sampling.time_is_up();
            }
            if over && cut_short.is_none() {
                cut_short = Some(run.engine.end_soon()).filter(|earlier| *earlier < spec.end);
            }
            let come = (run.engine.now() / until)
                .max(limits.most.map_or(0.0, |most| committed as f64 / most as f64));
            if run.verify_step(&mut dry_runs, come, cut_short.is_none())? == Step::Finished {
                break;
            }
        }
        run.engine.balance();
        let end = cut_short.unwrap_or(spec.end);
        let End { committed, digest, states } = self.end_of(run, end, cut_short)?;
        let DryRuns { sampling, findings, .. } = dry_runs;
        Ok(Verification {
            model: self.name.clone(),
            undo,
            never_undone: spec.is_never_undone::<M>(),
            events: committed,
            tried: sampling.tried(),
            idle: sampling.idle(),
            is_short_of_time: sampling.is_short_of_time(),
            kinds: sampling.into_kinds(),
            virtual_time: end.get(),
            is_whole: cut_short.is_none(),
            digest,
            state_digest: states,
            order_varies: findings.order_varies,
        })
    }

    /// Runs the model again in another thread, where hash maps have another order, without trying
    /// events.
    fn repeat(&self, spec: &RunSpec, control: &Control) -> Result<End, Error> {
        let stack = self.thread_limits()?.stack;
        in_another_thread(stack, Box::new(|| self.run_again(spec, control)))
    }

    fn run_again(&self, spec: &RunSpec, control: &Control) -> Result<End, Error> {
        // Files of an earlier run are left alone.
        let state = self.begin(spec, Acts::Ignore, &Records::Drop)?;
        let mut run = self.engine(spec, false, state);
        control.watch(None, run.engine.executor().beat());
        run.initialise(|_| control.go_on())?;
        let mut pace = Pace::new(Instant::now());
        while run.step(pace.events())? == Step::Worked {
            pace.stepped(Instant::now(), None);
            control.go_on()?;
        }
        let planned = VirtualTime::new(self.end_time());
        self.end_of(run, spec.end, Some(spec.end).filter(|end| Some(*end) != planned))
    }

    /// Has the LPs of a run finish, which may have been `cut_short`.
    fn end_of(
        &self,
        run: Engine<'_, M>,
        end: VirtualTime,
        cut_short: Option<VirtualTime>,
    ) -> Result<End, Error> {
        let mut done = run.engine.into_parts();
        let digest = done.digest().to_string();
        cut_short.iter().for_each(|end| done.statistics.cut_short(end.get()));
        let mut states = StateDigest::default();
        self.finish(&mut done, end, Some(&mut states))?;
        Ok(End {
            committed: done.committed,
            digest,
            states: state_digest_record(states, &done.statistics),
        })
    }
}
