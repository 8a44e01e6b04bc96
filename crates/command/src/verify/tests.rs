//! Verifications of a clock.

use warpline_run::Configured;
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

fn verified(mistake: Mistake, undo: Option<Undo>) -> Result<Verified, Failure> {
    let mut settings = Settings::default();
    settings.simulation.undo = undo;
    VerifyModel { settings: &settings, quiet: true }.visit(Configured::<Clock>::new(&mistake))
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
    let Err(failure) = (VerifyModel { settings: &settings, quiet: true })
        .visit(Configured::<Clock>::new(&Mistake::default()))
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
    let Ok(output) = (VerifyModel { settings: &settings, quiet: true })
        .visit(Configured::<Clock>::new(&Mistake::default()))
    else {
        panic!("copies are right")
    };
    assert_eq!((output.ways[0].events, output.end), (20, 20.5));
    let expected = "clock: all 20 events to time 20.5 s, with seed 1, were undone and repeated \
                    exactly\n  --undo copy  all 20 events";
    assert!(output.text().starts_with(expected), "{}", output.text());
}
