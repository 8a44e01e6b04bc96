//! Models with and without parameters.

use warpline::prelude::*;

/// A clock with the parameters `P`.
struct Clock<P>(P);

/// What a clock needs.
#[derive(Clone, Parameters)]
struct Period {
    /// Time between ticks.
    #[parameter(default = 2.0, range = 0.5..)]
    period: f64,
}

trait Ticks: Parameters + 'static {
    fn period(&self) -> f64;
}

impl Ticks for Period {
    fn period(&self) -> f64 {
        self.period
    }
}

impl Ticks for () {
    fn period(&self) -> f64 {
        1.0
    }
}

impl<P: Ticks> Model for Clock<P> {
    type State = u32;
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        lp.send(0, self.0.period(), ());
        0
    }

    fn handle(&self, ticks: &mut u32, (): &(), lp: &mut Context<Self>) {
        *ticks += 1;
        lp.send(0, self.0.period(), ());
    }
}

impl<P: Ticks> Configure for Clock<P> {
    type Parameters = P;

    const NAME: &'static str = "clock";
    const ABOUT: &'static str = "ticks";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 9.0;

    fn configure(parameters: &P) -> Result<Self, String> {
        Ok(Clock(parameters.clone()))
    }
}

fn run<P: Ticks>(parameters: &P) -> Result<Run<Clock<P>>, Error> {
    Simulation::configured(parameters)?.run()
}

#[test]
fn a_model_has_derived_parameters_or_none() {
    let derived = run(&Period::default()).expect("a run");
    assert_eq!(
        (derived.states, derived.record.parameters["period"].as_f64()),
        (vec![4], Some(2.0))
    );
    let error = run(&Period { period: 0.0 }).expect_err("no run");
    assert_eq!(error.to_string(), "model `clock`: `period` cannot be 0: it must lie in [0.5, ∞)");
    let none = run(&()).expect("a run");
    assert_eq!((none.states, none.record.parameters.len()), (vec![8], 0));
}
