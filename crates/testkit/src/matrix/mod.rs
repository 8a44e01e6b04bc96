//! One answer: every configuration of every engine against the reference.

mod compare;
mod configuration;
mod simulation;

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline::{Error, Fault, Model};

pub(crate) use self::compare::compare;
pub use self::compare::compare_first;
pub use self::configuration::{
    ALGORITHMS, BufferUse, Configuration, Copies, Parallel, SEQUENTIAL, configurations,
};
pub use self::simulation::{is_conservative, simulation};
use crate::panics::panic_text;
use crate::random_model::Inline;
use crate::reference::{self, Outcome, Settings, Stop};
use crate::{RandomModel, Recipe, time_limit};

/// How many virtual clusters are tried with each model.
const CLUSTERS: usize = 4;

/// Runs `model` under one configuration; the inner error is a mistake of the model.
///
/// # Errors
/// Mistakes of the engine: any error that is not the model's.
pub fn run<M: Model>(
    model: M,
    settings: &Settings,
    configuration: Configuration,
) -> Result<Result<Outcome, Stop>, Error> {
    match simulation(model, settings, configuration).run() {
        Ok(run) => Ok(Ok(Outcome {
            digest: run.record.digest,
            committed: run.record.committed_events,
            states: run.states.iter().map(|state| format!("{state:?}")).collect(),
            results: (*run.record.results).clone(),
            series: run.record.series,
            tables: run.tables.into_iter().map(|table| table.rows).collect(),
        })),
        Err(Error::Fault(failure)) => Ok(Err(Stop {
            place: Box::new(failure.place),
            time: failure.time,
            fault: without_place(failure.fault),
            committed: failure.committed,
        })),
        Err(error) => Err(error),
    }
}

/// The fault without the file and line where the model panicked, which the reference simulator does
/// not know.
fn without_place(fault: Fault) -> Fault {
    match fault {
        Fault::Panic(text) => {
            let message = text
                .rsplit_once(" (")
                .filter(|(_, place)| place.contains(".rs:"))
                .map(|(message, _)| message.to_owned());
            Fault::Panic(message.unwrap_or(text))
        }
        fault => fault,
    }
}

/// Calls `run`, and turns a panic into a text, so that it can be reported with its circumstances.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|panic| panic_text(&*panic).unwrap_or("a panic").to_owned())
}

/// Runs the reference and every configuration on models from `make`, and compares everything:
/// digest, committed events, final states, results and rows, or the mistake that ended the run.
///
/// # Errors
/// The first difference, with the configuration.
pub fn check<M: Model>(
    make: impl Fn() -> M,
    settings: &Settings,
) -> Result<Result<Outcome, Stop>, String> {
    check_under(make, settings, &configurations(settings.seed, CLUSTERS))
}

/// [`check`] under chosen configurations.
///
/// # Errors
/// The first difference, with the configuration.
pub fn check_under<M: Model>(
    make: impl Fn() -> M,
    settings: &Settings,
    configurations: &[Configuration],
) -> Result<Result<Outcome, Stop>, String> {
    check_all(make, settings, configurations, std::any::type_name::<M>())
}

/// [`check_under`]; `about` describes the model if a run hangs.
fn check_all<M: Model>(
    make: impl Fn() -> M,
    settings: &Settings,
    configurations: &[Configuration],
    about: impl Clone + Debug + Send + 'static,
) -> Result<Result<Outcome, Stop>, String> {
    let expected = reference::run_with(&make(), settings);
    for &configuration in configurations {
        let _limit = time_limit((configuration, *settings, about.clone()));
        let found = caught(|| run(make(), settings, configuration))
            .map_err(|bug| format!("{configuration:?}: {bug}"))?;
        let found = found.map_err(|error| format!("{configuration:?} failed: {error}"))?;
        compare(&expected, &found)
            .map_err(|why| format!("{configuration:?} differs from the reference: {why}"))?;
    }
    Ok(expected)
}

/// [`check`]s the model of a recipe.
///
/// # Errors
/// The first difference, with everything needed to reproduce it.
pub fn check_recipe(recipe: &Recipe, settings: &Settings) -> Result<Result<Outcome, Stop>, String> {
    check_recipe_under(recipe, settings, &configurations(settings.seed, CLUSTERS))
}

/// [`check_under`] with the model of a recipe.
///
/// # Errors
/// The first difference, with everything needed to reproduce it.
pub fn check_recipe_under(
    recipe: &Recipe,
    settings: &Settings,
    configurations: &[Configuration],
) -> Result<Result<Outcome, Stop>, String> {
    // The parcels of one kind leave their process as plain data, those of the others by serde.
    let checked = match recipe.words() {
        0 => check_all(|| RandomModel::<0>::new(recipe), settings, configurations, recipe.clone()),
        1 => check_all(
            || RandomModel::<1, Inline>::new(recipe),
            settings,
            configurations,
            recipe.clone(),
        ),
        _ => check_all(|| RandomModel::<13>::new(recipe), settings, configurations, recipe.clone()),
    };
    checked.map_err(|why| {
        format!(
            "{why}\n  to reproduce: matrix::check_recipe(&recipe, &settings) with\n  \
             settings = {settings:?}\n  recipe = {recipe:?}"
        )
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
