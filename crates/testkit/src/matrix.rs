//! One answer: every configuration of every engine against the reference.

use std::fmt::Debug;

use warpline::{Error, Model, Pending, Place, Simulation};

use crate::reference::{self, Outcome, Settings, Stop};
use crate::{RandomModel, Recipe};

/// One way to run a simulation that must not change its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The pending event set.
    pub pending: Pending,
}

/// All configurations.
pub const CONFIGURATIONS: [Configuration; 2] = [Configuration { pending: Pending::Heap }, Configuration { pending: Pending::Ladder }];

/// Runs `model` under one configuration; the inner result is the model's doing.
///
/// # Errors
/// What only an engine can do wrong: any error that is not the model's.
pub fn run<M: Model>(model: M, settings: &Settings, configuration: Configuration) -> Result<Result<Outcome, Stop>, Error> {
    let Settings { seed, end, warmup, zero_delay_hops } = *settings;
    let simulation = Simulation::new(model).seed(seed).end(end).warmup(warmup).zero_delay_hops(zero_delay_hops);
    match simulation.pending(configuration.pending).run() {
        Ok(run) => Ok(Ok(Outcome {
            digest: run.record.digest,
            committed: run.record.committed_events,
            states: run.states.iter().map(|state| format!("{state:?}")).collect(),
            results: run.record.results,
            tables: run.tables.into_iter().map(|table| table.rows).collect(),
        })),
        Err(Error::Fault(failure)) => {
            Ok(Err(Stop { place: failure.place, time: failure.time, fault: failure.fault, committed: failure.committed }))
        }
        Err(error) => Err(error),
    }
}

/// Runs the reference and every configuration on models that `make` makes, and compares all there is to compare: digest,
/// committed events, final states, results and rows, or the mistake that ended the run.
///
/// # Errors
/// The first difference, with the configuration.
pub fn check<M: Model>(make: impl Fn() -> M, settings: &Settings) -> Result<Result<Outcome, Stop>, String> {
    let expected = reference::run_with(&make(), settings);
    for configuration in CONFIGURATIONS {
        let found = run(make(), settings, configuration).map_err(|error| format!("{configuration:?} failed: {error}"))?;
        compare(&expected, &found).map_err(|why| format!("{configuration:?} differs from the reference: {why}"))?;
    }
    Ok(expected)
}

/// [`check`]s the model of a recipe.
///
/// # Errors
/// The first difference, with all that it takes to see it again.
pub fn check_recipe(recipe: &Recipe, settings: &Settings) -> Result<Result<Outcome, Stop>, String> {
    let checked = match recipe.words() {
        0 => check(|| RandomModel::<0>::new(recipe), settings),
        1 => check(|| RandomModel::<1>::new(recipe), settings),
        _ => check(|| RandomModel::<13>::new(recipe), settings),
    };
    checked.map_err(|why| {
        format!("{why}\n  to reproduce: matrix::check_recipe(&recipe, &settings) with\n  settings = {settings:?}\n  recipe = {recipe:?}")
    })
}

/// [`check`], for a test.
///
/// # Panics
/// If any answer differs.
pub fn assert_one_answer<M: Model>(make: impl Fn() -> M, seed: u64, end: f64) {
    if let Err(why) = check(make, &Settings::new(seed, end)) {
        panic!("{why}\n  model {} with seed {seed} to {end}", std::any::type_name::<M>());
    }
}

fn compare(expected: &Result<Outcome, Stop>, found: &Result<Outcome, Stop>) -> Result<(), String> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            compare_lists("the state of LP", &expected.states, &found.states)?;
            for (number, (expected, found)) in expected.tables.iter().zip(&found.tables).enumerate() {
                compare_lists(&format!("in table {number}, row"), expected, found)?;
            }
            same("the number of tables", &expected.tables.len(), &found.tables.len())?;
            same("the number of committed events", &expected.committed, &found.committed)?;
            same("the digest", &expected.digest, &found.digest)?;
            same("the results", &expected.results, &found.results)
        }
        (Err(expected), Err(found)) => {
            if !same_place(&expected.place, &found.place) {
                same("the place of the mistake", &expected.place, &found.place)?;
            }
            // As text, because a fault may hold a NaN.
            same("the mistake", &format!("{:?}", expected.fault), &format!("{:?}", found.fault))?;
            same("the time of the mistake", &expected.time, &found.time)?;
            same("the number of events before the mistake", &expected.committed, &found.committed)
        }
        (Ok(_), Err(found)) => Err(format!("it stopped although nothing is wrong: {found:?}")),
        (Err(expected), Ok(_)) => Err(format!("it did not stop, in spite of {expected:?}")),
    }
}

/// Whether two places are the same, when the event's text may have been cut in the second.
fn same_place(whole: &Place, cut: &Place) -> bool {
    let (Place::Event { lp, time, event }, Place::Event { lp: cut_lp, time: cut_time, event: cut_event }) = (whole, cut) else {
        return whole == cut;
    };
    let begins = cut_event.strip_suffix('…').is_some_and(|beginning| event.starts_with(beginning));
    (lp, time) == (cut_lp, cut_time) && (event == cut_event || begins)
}

fn same<T: PartialEq + Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what} should be {expected:?} and is {found:?}")) }
}

fn compare_lists<T: PartialEq + Debug>(what: &str, expected: &[T], found: &[T]) -> Result<(), String> {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        same(&format!("{what} {number}"), expected, found)?;
    }
    same(&format!("{what}: how many"), &expected.len(), &found.len())
}
