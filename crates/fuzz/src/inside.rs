//! Runs cases in this process.

use std::time::Duration;

use warpline::command::{Catalogue, Visitor};
use warpline::{Configured, Error, Model, Records, Share, Simulation, StopSwitch};
use warpline_cases::{Answer, Case};
use warpline_fuzz::case::{Sorted, sorted};
use warpline_fuzz::models::Attacked;

/// Runs a case.
///
/// # Errors
/// Its share, if this process did only a share of the run: the first process has the answer.
pub(crate) fn run(case: &Case) -> Result<Answer, Share> {
    let sorted = match sorted(case) {
        Ok(sorted) => sorted,
        Err(why) => return Ok(Answer::Refused(why)),
    };
    match Attacked.with_model(&case.model, &sorted.parameters, Execute(&sorted)) {
        Ok(answer) => answer,
        Err(why) => Ok(Answer::Refused(why.to_string())),
    }
}

/// Runs a case, once its model's type is known.
struct Execute<'a>(&'a Sorted);

impl Visitor for Execute<'_> {
    type Output = Result<Answer, Share>;

    fn visit<M: Model>(self, model: Configured<M>) -> Self::Output {
        let Sorted { settings, hooks, .. } = self.0;
        let mut simulation = match Simulation::of(&model) {
            Ok(simulation) => simulation.settings(settings.clone()).records(Records::Keep),
            Err(why) => return Ok(Answer::Refused(why.to_string())),
        };
        if hooks.one_thread_per_pe() {
            simulation = simulation.one_thread_per_pe();
        }
        if hooks.least_room() {
            simulation = simulation.least_room();
        }
        if let Some(seed) = hooks.migrate_at_random {
            simulation = simulation.migrate_at_random(seed);
        }
        if let Some(seed) = hooks.changes {
            simulation = simulation.change_engines(seed);
        }
        if let Some(wait) = hooks.stop_after {
            let switch = StopSwitch::default();
            simulation = simulation.stop_with(&switch);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs_f64(wait / 1000.0));
                switch.stop();
            });
        }
        match simulation.state_digest(true).run() {
            Err(Error::Share(share)) => Err(share),
            outcome => Ok(Answer::of(outcome)),
        }
    }
}

/// Runs the cases on standard input, one a line, and prints the answer to each. It ends early if
/// this process did only a share of a run.
///
/// # Errors
/// If the answers cannot be written.
pub(crate) fn serve() -> std::io::Result<()> {
    warpline_cases::serve(|case| run(case).ok())
}
