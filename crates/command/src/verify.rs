//! `warpline verify`: events forward, undone, compared, and forward again; and a second run, in
//! another process, that must equal the first.

use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::models::catalogue::{Catalogue, Visitor, ways_to_undo};
use crate::models::program::Program;
use crate::options::notes::tell_notes;
use crate::options::request::{Request, with_model};
use crate::output::progress::{ProgressDisplay, RunCounter};
use crate::output::{self, format};
use crate::process::child;
use crate::settings::Settings;
use crate::verbs::RUN;
use warpline_record::{RunRecord, StateDigestRecord};
use warpline_run::verify::{UnequalRuns, VerifiedKind, VerifyLimits, unequal};
use warpline_run::{Configure, Records, Simulation, Verification, VerifyError};

/// The least number of events if no end is given.
const EVENTS_ENOUGH: u64 = 10_000;
/// Such a verification may run to this multiple of the default end.
const LATER: f64 = 1e12;
/// The most kinds of events that are named.
const KINDS_MOST: usize = 20;

/// Verifies a model and prints what was tried.
pub(crate) fn verify<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let notes = tell_notes(program, request, &settings.simulation)?;
    // From here on, the threads of the second process have other numbers than those of this one.
    let _ = std::thread::spawn(|| {}).join();
    let mut verified =
        with_model(program, request, Job { settings: &settings, quiet: request.json })??;
    verified.compare_with_another_process(request)?;
    if request.json {
        output::print_json(&verified.json(&notes))
    } else {
        output::print(&verified.text())
    }
}

/// What was verified.
struct VerifyOutput {
    unit: &'static str,
    /// The end that was asked for.
    end: f64,
    seed: u64,
    /// By way of undoing.
    verified: Vec<Verification>,
    /// The run to the model's own end, if it was so short that another one went further.
    short: Option<Verification>,
    /// Whether texts of equal states differ from run to run.
    order_varies: bool,
}

impl VerifyOutput {
    /// Repeats the run in another process, where addresses and the order of hash maps differ.
    ///
    /// # Errors
    /// If that run fails, or has another history, other final states or other statistics.
    fn compare_with_another_process(&mut self, request: &Request) -> Result<(), Failure> {
        let mut ends: Vec<f64> =
            self.short.iter().chain(&self.verified).map(|verified| verified.virtual_time).collect();
        ends.dedup();
        let mut counter = RunCounter::new(ends.len() as u64, request.json);
        for (number, end) in (0..).zip(ends) {
            let run = child::run(&mut command(request, end)?, || {
                counter.show(number, "the same in another process")
            });
            let run = run.map_err(|failure| Failure {
                message: format!("in a second process: {}", failure.message),
                ..failure
            })?;
            self.compare(&run, end)?;
        }
        counter.finish();
        Ok(())
    }

    /// Compares the verifications that ended at this time with another run to it.
    fn compare(&mut self, run: &RunRecord, end: f64) -> Result<(), Failure> {
        let none = StateDigestRecord::default();
        let other = (run.digest.as_str(), run.state_digest.as_ref().unwrap_or(&none));
        for verified in
            self.short.iter().chain(&self.verified).filter(|verified| verified.virtual_time == end)
        {
            let (what, texts_differ) =
                unequal((&verified.digest, &verified.state_digest), other, verified.is_whole);
            if !what.is_empty() {
                let model = verified.model.clone();
                let digests = [verified.digest.clone(), run.digest.clone()];
                return Err(VerifyError::Unequal(Box::new(UnequalRuns::new(
                    model,
                    "in another process",
                    what,
                    digests,
                )))
                .into());
            }
            self.order_varies |= texts_differ;
        }
        Ok(())
    }

    /// The kinds of events, with how many of them each way of undoing tried at least.
    fn kinds(&self) -> Vec<VerifiedKind> {
        let mut ways = self.verified.iter();
        let mut kinds = ways.next().map(|first| first.kinds.clone()).unwrap_or_default();
        for way in ways {
            for kind in &mut kinds {
                let same = way
                    .kinds
                    .iter()
                    .find(|same| (&same.event, &same.lp) == (&kind.event, &kind.lp));
                kind.tried = kind.tried.min(same.map_or(0, |same| same.tried));
            }
        }
        kinds
    }

    fn json(&self, notes: &[String]) -> Value {
        let kind = |kind: &VerifiedKind| json!({ "event": kind.event, "lp": kind.lp, "events": kind.events, "tried": kind.tried });
        let method = |v: &Verification| {
            json!({
                "undo": v.undo.name(),
                "events": v.events,
                "tried": v.tried,
                "end_time": v.virtual_time,
                "digest": v.digest,
                "state_digest": v.state_digest,
                "kinds": v.kinds.iter().map(kind).collect::<Vec<_>>(),
                "short_of_time": !v.is_whole || v.is_short_of_time,
            })
        };
        let first = self.verified.first();
        let mut all = json!({
            "model": first.map(|v| &v.model),
            "seed": self.seed,
            "end_time": first.map(|v| v.virtual_time),
            "methods": self.verified.iter().map(method).collect::<Vec<_>>(),
            "idle_kinds": first.map(|v| &v.idle),
            "second_process": { "same_answer": true, "order_of_text_varies": self.order_varies },
        });
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        all
    }

    fn text(&self) -> String {
        let count = |tried: u64, events: u64| {
            if tried == events { format!("all {events}") } else { format!("{tried} of {events}") }
        };
        let row = |v: &Verification| {
            [
                format!("--undo {}", v.undo.name()),
                format!("{} events", count(v.tried, v.events)),
                format!("digest {}", v.digest),
            ]
        };
        let rows: Vec<_> = self.verified.iter().map(row).collect();
        let Some(least) = self.verified.iter().min_by_key(|v| v.tried) else {
            return String::new();
        };
        let end = format::time(least.virtual_time, self.unit);
        let seed = self.seed;
        let mut text = format!(
            "{}: {} events to time {end}, with seed {seed}, were undone and repeated exactly\n",
            least.model,
            count(least.tried, least.events)
        );
        text += &format::columns(&rows, 2);
        text += "by kind of event\n";
        let kinds = self.kinds();
        let name = |kind: &VerifiedKind| {
            let event = if kind.event.is_empty() { "events" } else { &kind.event };
            if kind.lp.is_empty() { event.to_owned() } else { format!("{event} at {}", kind.lp) }
        };
        let rows: Vec<_> = kinds
            .iter()
            .take(KINDS_MOST)
            .map(|kind| [name(kind), count(kind.tried, kind.events)])
            .collect();
        text += &format::columns(&rows, 2);
        if let Some(more) = kinds.get(KINDS_MOST..).filter(|more| !more.is_empty()) {
            let (tried, events) = more
                .iter()
                .fold((0, 0), |(tried, events), kind| (tried + kind.tried, events + kind.events));
            let _ = writeln!(text, "  {} other kinds: {}", more.len(), count(tried, events));
        }
        if !least.idle.is_empty() {
            let _ = writeln!(
                text,
                "not reached: no event came to LPs of the kind {}",
                least.idle.join(", ")
            );
        }
        text += &self.shortcomings();
        text += "a second process came to the same history, final states and statistics\n";
        text
    }

    /// What was not tried for lack of time, and what is odd.
    fn shortcomings(&self) -> String {
        let mut text = String::new();
        if let Some(short) = self.verified.iter().find(|v| !v.is_whole && v.virtual_time < self.end)
        {
            let reached = format::time(short.virtual_time, self.unit);
            let end = format::time(self.end, self.unit);
            let way = short.undo.name();
            let _ = writeln!(
                text,
                "not reached: time was up for --undo {way} at time {reached} of {end}; a longer --time-limit goes on"
            );
        } else if self.verified.iter().any(|v| v.is_short_of_time) {
            text += "fewer events were tried than --tries-per-kind says, as trying them takes long; a longer --time-limit tries more\n";
        }
        if self.order_varies {
            text += "the texts of equal states differ from run to run, in the order of hash maps or in addresses; let no handler depend on it\n";
        }
        text
    }
}

/// The command that runs the model to this time.
fn command(request: &Request, end: f64) -> Result<Command, Failure> {
    let executable = std::env::current_exe();
    let executable = executable.map_err(|cause| {
        Failure::failed(format!("cannot find the executable of this command: {cause}"))
    })?;
    let mut command = Command::new(executable);
    command.args([RUN, request.model.as_str()]);
    let seed = request.settings.iter().filter(|given| given.name == "seed");
    command.args(
        seed.chain(&request.parameters).map(|given| format!("--{}={}", given.name, given.text)),
    );
    command.args([
        &format!("--end={end:?}"),
        "--sync=sequential",
        "--state-digest=yes",
        "--json",
        "--quiet",
    ]);
    Ok(command)
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
        let mut end = settings.end.unwrap_or(M::DEFAULT_END);
        let mut limits = self.limits()?;
        let ways = settings.undo.map_or_else(
            || ways_to_undo(M::ABILITIES.has_reverse(), M::ABILITIES.journal().is_some()),
            |undo| vec![undo],
        );
        let (mut verified, mut short): (Vec<Verification>, _) = (Vec::new(), None);
        for undo in ways {
            let verify = |end, limits| {
                let mut display = ProgressDisplay::new(M::TIME_UNIT, self.quiet);
                let mut show = |progress: &_| display.show(progress);
                let simulation = Simulation::<M>::configured(&parameters)?
                    .end(end)
                    .seed(settings.seed())
                    .undo(undo)
                    .records(Records::Drop);
                let outcome = simulation.on_progress(&mut show).verify_once(limits);
                display.finish();
                outcome.map_err(Failure::from)
            };
            let mut outcome = verify(end, limits)?;
            if settings.end.is_none()
                && outcome.is_whole
                && outcome.events < EVENTS_ENOUGH
                && verified.is_empty()
            {
                // In so short a run, what would happen after its end is tried as well.
                (end, limits.most) = (M::DEFAULT_END * LATER, Some(EVENTS_ENOUGH));
                short = Some(std::mem::replace(&mut outcome, verify(end, limits)?));
            }
            verified.push(outcome);
        }
        if verified.iter().any(|verified| verified.events == 0) {
            return Err(Failure::wrong_use(format!(
                "no event happens before time {end:?}, so nothing was tried; give a later --end"
            )));
        }
        let end = if limits.most.is_some() {
            verified.first().map_or(end, |first| first.virtual_time)
        } else {
            end
        };
        let order_varies = verified.iter().any(|verified| verified.order_varies);
        Ok(VerifyOutput {
            unit: M::TIME_UNIT,
            end,
            seed: settings.seed(),
            verified,
            short,
            order_varies,
        })
    }
}

impl Job<'_> {
    fn limits(&self) -> Result<VerifyLimits, Failure> {
        let command = &self.settings.command;
        command.check().map_err(|error| Failure::wrong_use(error.to_string()))?;
        let patience = Duration::try_from_secs_f64(command.time_limit()).unwrap_or(Duration::MAX);
        Ok(VerifyLimits {
            each: Some(command.tries_per_kind()),
            patience: Some(patience),
            most: None,
        })
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
    use warpline_run::prelude::*;

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

    #[model]
    impl Model for Clock {
        type State = u32;
        type Event = ();

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
        let Err(failure) = verified(Mistake::default(), None) else {
            panic!("the mistake was not found")
        };
        assert_eq!(failure.code, Failure::FAILED);
        assert!(
            failure.message.contains("--undo reverse") && failure.message.contains("at time 5"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn a_failing_run_is_a_failure() {
        let Err(failure) = verified(Mistake { fails: 3, ..Mistake::default() }, None) else {
            panic!("nothing failed")
        };
        assert!(
            failure.code == Failure::FAILED && failure.message.contains("out of order"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn a_verification_that_tries_nothing_fails() {
        let settings = Settings::typed(&[("undo", "copy"), ("end", "0.5")]);
        let Err(failure) =
            (Job { settings: &settings, quiet: true }).visit::<Clock>(Mistake::default())
        else {
            panic!("a success")
        };
        assert!(
            failure.code == Failure::USAGE_ERROR && failure.message.contains("nothing was tried"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn a_short_model_is_tried_to_its_end() {
        let settings = Settings::typed(&[("undo", "copy"), ("end", "20.5")]);
        let Ok(output) =
            (Job { settings: &settings, quiet: true }).visit::<Clock>(Mistake::default())
        else {
            panic!("copies are right")
        };
        assert_eq!((output.verified[0].events, output.end), (20, 20.5));
        let expected = "clock: all 20 events to time 20.5 s, with seed 1, were undone and repeated exactly\n  --undo copy  all 20 events";
        assert!(output.text().starts_with(expected), "{}", output.text());
    }
}
