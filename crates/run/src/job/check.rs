//! Checks before a run: its settings and the model's declarations must make sense.

use warpline_base::{LpId, SEND_LIMIT, TieBreak, VirtualTime};
use warpline_kernel::Lp;
use warpline_model::engine::{Followed, Limits, Lookahead, tie_break};
use warpline_model::{Declarations, Model};
use warpline_mpi::Launch;

use crate::job::Job;
use crate::job::kinds::Kinds;
use crate::outcome::error::catch_message;
use crate::{Cancellation, Error, Undo};

/// What the user and the model ask for, checked.
pub(crate) struct RunSpec {
    pub(crate) end: VirtualTime,
    pub(crate) declared: Declarations,
    pub(crate) ties: TieBreak,
    /// Has the LPs, links and lookahead that the model declared, which is not asked again.
    pub(crate) limits: Limits,
    pub(crate) kinds: Kinds,
}

impl RunSpec {
    /// Whether nothing undoes any event of the model, which has this specification.
    pub(crate) fn is_never_undone<M: Model>(&self) -> bool {
        M::ABILITIES.is_never_undone() && self.kinds.conservative == self.limits.lps
    }
}

impl<M: Model> Job<M> {
    /// Checks settings and declarations before anything is simulated.
    pub(crate) fn check(&self) -> Result<RunSpec, Error> {
        self.settings.check()?;
        // One process that was asked for, or that a launcher has started, may be one of a series of
        // runs.
        if self.settings.processes.is_none() && Launch::detect().is_none() {
            self.settings.check_alone()?;
        }
        let end = self.checked_end()?;
        self.check_abilities()?;
        let Answers { declared, lps, lookahead, ties } = self.ask_model()?;
        let name = &self.name;
        if lps == 0 {
            return fail(format!("model `{name}` has no LPs: Model::lps must return at least 1"));
        }
        // Before all LPs are asked one by one.
        Error::check_states::<Lp<M::State>>(lps)?;
        let kinds = Kinds::of(&*self.model, name, lps, &self.settings.conservative_lps())?;
        let declared =
            declared.checked().map_err(|why| Error::Setting(format!("model `{name}`: {why}")))?;
        let limits = Limits {
            lps,
            lookahead,
            zero_delay_hops: self.settings.zero_delay_hops(),
            sends: SEND_LIMIT,
            end: end.get(),
            followed: self.followed(lps, &kinds)?,
        };
        Ok(RunSpec { end, declared, ties, limits, kinds })
    }

    /// The LPs that tell what their processes do.
    fn followed(&self, lps: u32, kinds: &Kinds) -> Result<Followed, Error> {
        let Some(choice) = &self.settings.follow else { return Ok(Followed::default()) };
        let model = &*self.model;
        let chosen = choice
            .among(lps, kinds.names())
            .map_err(|why| Error::Setting(format!("`follow` of model `{}`: {why}", self.name)))?;
        // The model has named all of them before.
        let chosen = |lp| chosen(lp, model.kind(lp), model.is_conservative(lp));
        Ok(Followed::new((0..lps).map(LpId).map(chosen), self.settings.follow_limit()))
    }

    /// The end of the run, which follows the warm-up.
    fn checked_end(&self) -> Result<VirtualTime, Error> {
        let name = &self.name;
        let end = self.end_time();
        let warmup = self.settings.warmup();
        let Some(time) = VirtualTime::new(end).filter(|_| end > 0.0) else {
            return fail(format!(
                "model `{name}` ends at {end} by default: that must be a finite number greater \
                 than 0"
            ));
        };
        if !(warmup >= 0.0 && warmup < end) {
            return fail(format!(
                "the warm-up is {warmup}: it must lie between 0 and the end time, {end}"
            ));
        }
        Ok(time)
    }

    /// Checks that the model can do what the settings ask for.
    fn check_abilities(&self) -> Result<(), Error> {
        let name = &self.name;
        let settings = &self.settings;
        if settings.trace_limit.is_some() && settings.trace.is_none() {
            return fail(
                "`trace-limit` limits a trace, and there is none: leave it out, or name a \
                         file with `trace`"
                    .to_owned(),
            );
        }
        if settings.undo() == Undo::Reverse && !M::ABILITIES.has_reverse() {
            return fail(format!(
                "model `{name}` has no reverse code: use --undo copy, or write Model::reverse and \
                 mark the model with #[model]"
            ));
        }
        if settings.undo() == Undo::Journal && M::ABILITIES.journal().is_none() {
            return fail(format!(
                "model `{name}` has no journal: use --undo copy; or derive Journaled for its \
                 state, change states by Context::change, and mark the model with \
                 #[model(journal)]"
            ));
        }
        let cancellation = settings.cancellation();
        if cancellation != Cancellation::Aggressive && M::ABILITIES.comparable().is_none() {
            return fail(format!(
                "model `{name}` cannot compare its events, which --cancellation {} needs: use \
                 --cancellation aggressive; or derive Eq and Clone for them and mark the model \
                 with #[model], or PartialEq and Clone and mark it with #[model(compare)]",
                cancellation.name()
            ));
        }
        Ok(())
    }

    /// Asks the model for what it declares of the run as a whole.
    fn ask_model(&self) -> Result<Answers, Error> {
        let name = &self.name;
        let mut declared = Declarations::default();
        let answers = catch_message(|| {
            self.model.declare(&mut declared);
            let lps = self.model.lps();
            (lps, Lookahead::of(&*self.model, lps), tie_break(&*self.model, self.settings.seed()))
        });
        let (lps, lookahead, ties) = answers.map_err(|why| {
            let what = "when it was asked for its LPs, links, lookahead, ties and statistics";
            Error::Setting(format!("model `{name}` panicked {what}: {why}"))
        })?;
        let lookahead = lookahead.map_err(|why| Error::Setting(format!("model `{name}` {why}")))?;
        Ok(Answers { declared, lps, lookahead, ties })
    }
}

/// What a model declares of the run as a whole.
struct Answers {
    declared: Declarations,
    lps: u32,
    lookahead: Lookahead,
    ties: TieBreak,
}

fn fail<T>(message: String) -> Result<T, Error> {
    Err(Error::Setting(message))
}
