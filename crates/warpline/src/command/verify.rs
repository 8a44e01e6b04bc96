//! `warpline verify`: every event forward, undone, compared, and forward again.

use super::arguments::Request;
use super::catalogue::{Catalogue, Visitor, ways_to_undo};
use super::failure::Failure;
use super::program::Program;
use super::progress::ProgressDisplay;
use super::run::{tell_notes, with_model};
use super::settings::Settings;
use super::{format, output};
use crate::{Configure, Records, Simulation, Verification, VerifyError};
use serde_json::{Value, json};

/// The number of events to try if no end is given.
const EVENTS_ENOUGH: u64 = 10_000;
/// Such a verification may run to this multiple of the default end.
const LATER: f64 = 1e12;

/// Verifies a model and prints what was tried.
pub(crate) fn verify<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let notes = tell_notes(program, request)?;
    let trial = with_model(program, request, Job { settings: &settings, quiet: request.json })??;
    if request.json { output::print_json(&trial.json(&notes)) } else { output::print(&trial.text()) }
}

/// What was verified.
struct VerifyOutput {
    unit: &'static str,
    end: f64,
    seed: u64,
    verified: Vec<Verification>,
}

impl VerifyOutput {
    fn json(&self, notes: &[String]) -> Value {
        let method = |v: &Verification| json!({ "undo": v.undo.name(), "events": v.events, "digest": v.digest });
        let mut all = json!({
            "model": self.verified.first().map(|v| &v.model),
            "seed": self.seed,
            "end_time": self.end,
            "methods": self.verified.iter().map(method).collect::<Vec<_>>(),
        });
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        all
    }

    fn text(&self) -> String {
        let row = |v: &Verification| [format!("--undo {}", v.undo.name()), format!("{} events", v.events), format!("digest {}", v.digest)];
        let rows: Vec<_> = self.verified.iter().map(row).collect();
        let model = self.verified.first().map_or("", |v| &v.model);
        let (end, seed) = (format::time(self.end, self.unit), self.seed);
        format!("{model}: all events to time {end}, with seed {seed}, were undone and repeated exactly\n{}", format::columns(&rows, 2))
    }
}

/// A verification whose model is not known yet.
struct Job<'a> {
    settings: &'a Settings,
    quiet: bool,
}

impl Visitor for Job<'_> {
    type Output = Result<VerifyOutput, Failure>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Self::Output {
        let settings = &self.settings.simulation;
        let seed = settings.seed();
        let (end, events) = settings.end.map_or((M::DEFAULT_END * LATER, EVENTS_ENOUGH), |end| (end, u64::MAX));
        let ways = settings.undo.map_or_else(|| ways_to_undo(M::REVERSIBLE, M::journal().is_some()), |undo| vec![undo]);
        let mut verified = Vec::new();
        for undo in ways {
            let mut display = ProgressDisplay::new(M::TIME_UNIT, self.quiet);
            let mut show = |progress: &_| display.show(progress);
            let simulation = Simulation::<M>::configured(&parameters)?.end(end).seed(seed).undo(undo).records(Records::Drop);
            let outcome = simulation.on_progress(&mut show).verify_at_most(events);
            display.finish();
            verified.push(outcome?);
        }
        if verified.iter().any(|verified| verified.events == 0) {
            return Err(Failure::wrong_use(format!("no event happens before time {end:?}, so nothing was tried; give a later --end")));
        }
        let end = verified.first().map_or(end, |verified| verified.virtual_time);
        Ok(VerifyOutput { unit: M::TIME_UNIT, end, seed, verified })
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Run(error) => error.into(),
            mismatch => Failure::failed(mismatch.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    use super::*;

    /// The planned mistake.
    #[derive(Clone, Debug, PartialEq, Parameters)]
    struct Mistake {
        /// Undo is wrong from this event on.
        #[parameter(default = 5, range = 1..)]
        wrong: u32,
        /// The event that fails.
        #[parameter(range = 0..)]
        fails: u32,
    }

    /// A clock that cannot be turned back.
    struct Clock(Mistake);

    impl Model for Clock {
        type State = u32;
        type Event = ();

        const REVERSIBLE: bool = true;

        fn lps(&self) -> u32 {
            1
        }

        fn init(&self, lp: &mut Init<Self>) -> u32 {
            lp.send(0, 1.0, ());
            0
        }

        fn handle(&self, ticks: &mut u32, (): &(), lp: &mut Context<Self>) {
            *ticks += 1;
            if *ticks == self.0.fails {
                lp.fail("out of order");
            }
            lp.send(0, 1.0, ());
        }

        fn reverse(&self, ticks: &mut u32, (): &(), _: &mut Reverse<Self>) {
            if *ticks < self.0.wrong {
                *ticks -= 1;
            }
        }
    }

    impl Configure for Clock {
        type Parameters = Mistake;

        const NAME: &'static str = "clock";
        const ABOUT: &'static str = "a clock that cannot be turned back";
        const TIME_UNIT: &'static str = "s";
        const DEFAULT_END: f64 = 20.5;

        fn configure(mistake: &Mistake) -> Result<Self, String> {
            Ok(Clock(mistake.clone()))
        }
    }

    fn verified(mistake: Mistake, undo: Option<Undo>) -> Result<VerifyOutput, Failure> {
        let mut settings = Settings::default();
        settings.simulation.undo = undo;
        Job { settings: &settings, quiet: true }.visit::<Clock>(mistake)
    }

    #[test]
    fn a_mismatch_is_a_failure_and_names_the_event() {
        let Err(failure) = verified(Mistake::default(), None) else { panic!("the mistake was not found") };
        assert_eq!(failure.code, Failure::FAILED);
        assert!(failure.message.contains("--undo reverse") && failure.message.contains("at time 5"), "{}", failure.message);
    }

    #[test]
    fn a_failing_run_is_a_failure() {
        let Err(failure) = verified(Mistake { fails: 3, ..Mistake::default() }, None) else { panic!("nothing failed") };
        assert!(failure.code == Failure::FAILED && failure.message.contains("out of order"), "{}", failure.message);
    }

    #[test]
    fn nothing_tried_is_no_success() {
        let settings = Settings::typed(&[("undo", "copy"), ("end", "0.5")]);
        let Err(failure) = (Job { settings: &settings, quiet: true }).visit::<Clock>(Mistake::default()) else { panic!("a success") };
        assert!(failure.code == Failure::USAGE_ERROR && failure.message.contains("nothing was tried"), "{}", failure.message);
    }

    #[test]
    fn a_short_model_is_tried_to_its_end() {
        let settings = Settings::typed(&[("undo", "copy"), ("end", "20.5")]);
        let Ok(trial) = (Job { settings: &settings, quiet: true }).visit::<Clock>(Mistake::default()) else { panic!("copies are right") };
        assert_eq!((trial.verified[0].events, trial.end), (20, 20.5));
        assert!(
            trial
                .text()
                .starts_with("clock: all events to time 20.5 s, with seed 1, were undone and repeated exactly\n  --undo copy  20 events")
        );
    }
}
