//! What was verified, and a second process that must come to the same.

use std::process::Command;

use crate::failure::Failure;
use crate::options::request::Request;
use crate::output::progress::RunCounter;
use crate::process::child;
use crate::verbs::RUN;
use warpline_record::{RunRecord, StateDigestRecord};
use warpline_run::verify::{UnequalRuns, VerifiedKind, unequal};
use warpline_run::{Verification, VerifyError};

/// What was verified.
pub(super) struct Verified {
    pub(super) unit: &'static str,
    /// The end that was asked for.
    pub(super) end: f64,
    pub(super) seed: u64,
    /// One for each way of undoing.
    pub(super) ways: Vec<Verification>,
    /// The run to the model's own end, if it was so short that another one went further.
    pub(super) short: Option<Verification>,
    /// Whether texts of equal states differ from run to run.
    pub(super) order_varies: bool,
}

impl Verified {
    /// Repeats the run in another process, where addresses and the order of hash maps differ.
    ///
    /// # Errors
    /// If that run fails, or has another history, other final states or other statistics.
    pub(super) fn compare_with_another_process(
        &mut self,
        request: &Request,
    ) -> Result<(), Failure> {
        let all = self.short.iter().chain(&self.ways);
        let mut ends: Vec<f64> = all.map(|verified| verified.virtual_time).collect();
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
        let all = self.short.iter().chain(&self.ways);
        for verified in all.filter(|verified| verified.virtual_time == end) {
            let (what, texts_differ) =
                unequal((&verified.digest, &verified.state_digest), other, verified.is_whole);
            if !what.is_empty() {
                let model = verified.model.clone();
                let digests = [verified.digest.clone(), run.digest.clone()];
                let runs = UnequalRuns::new(model, "in another process", what, digests);
                return Err(VerifyError::Unequal(Box::new(runs)).into());
            }
            self.order_varies |= texts_differ;
        }
        Ok(())
    }

    /// The kinds of events, with how many of them each way of undoing tried at least.
    pub(super) fn kinds(&self) -> Vec<VerifiedKind> {
        let mut ways = self.ways.iter();
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
}

/// The command that runs the model to this time.
fn command(request: &Request, end: f64) -> Result<Command, Failure> {
    let mut command = Command::new(child::executable()?);
    command.args([RUN, request.model.as_str()]);
    let seed = request.settings.iter().filter(|given| given.name == "seed");
    command.args(
        seed.chain(&request.parameters).map(|given| format!("--{}={}", given.name, given.text)),
    );
    command.arg(format!("--end={end:?}"));
    command.args(["--sync=sequential", "--state-digest=yes", "--json", "--quiet"]);
    Ok(command)
}
