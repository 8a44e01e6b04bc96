//! `warpline verify`: every event forward, undone, compared, and forward again.

use serde_json::{Value, json};
use warpline::{Configure, Error, Records, Simulation, Undo, Verified, VerifyError};
use warpline_models::catalogue::Visitor;

use crate::arguments::Request;
use crate::failure::Failure;
use crate::run::with_model;
use crate::settings::Settings;
use crate::{format, output};

/// Where no end is given, one is sought with so many events: about a second's work.
const EVENTS_ENOUGH: u64 = 50_000;
/// The search begins at this share of a run's default end, and goes on in such steps.
const FIRST_SHARE: f64 = 1e-5;
const STEP: f64 = 4.0;

/// Verifies a model and prints what was tried.
pub(crate) fn verify(request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let trial = with_model(request, Job(&settings))??;
    if request.json { output::print_json(&trial.json()) } else { output::print(&trial.text()) }
}

/// What was verified.
struct Trial {
    unit: &'static str,
    end: f64,
    seed: u64,
    verified: Vec<Verified>,
}

impl Trial {
    fn json(&self) -> Value {
        let method = |v: &Verified| json!({ "undo": v.undo.name(), "events": v.events, "digest": v.digest });
        json!({
            "model": self.verified.first().map(|v| &v.model),
            "seed": self.seed,
            "end_time": self.end,
            "methods": self.verified.iter().map(method).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let row = |v: &Verified| [format!("--undo {}", v.undo.name()), format!("{} events", v.events), format!("digest {}", v.digest)];
        let rows: Vec<_> = self.verified.iter().map(row).collect();
        let model = self.verified.first().map_or("", |v| &v.model);
        let (end, unit, seed) = (format::number(self.end), self.unit, self.seed);
        format!("{model}: all events to time {end} {unit}, with seed {seed}, came back as they were\n{}", format::columns(&rows, 2))
    }
}

/// A verification to be, of a model that is not known yet.
struct Job<'a>(&'a Settings);

impl Visitor for Job<'_> {
    type Output = Result<Trial, Failure>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Self::Output {
        let seed = self.0.seed.unwrap_or(1);
        let end = self.0.end.map_or_else(|| some_end::<M>(&parameters, seed), Ok)?;
        let all: &[Undo] = if M::REVERSIBLE { &[Undo::Copy, Undo::Reverse] } else { &[Undo::Copy] };
        let chosen = self.0.undo.map(|undo| [undo]);
        let mut verified = Vec::new();
        for &undo in chosen.as_ref().map_or(all, |one| one) {
            let simulation = Simulation::<M>::configured(&parameters)?.end(end).seed(seed).undo(undo).records(Records::Drop);
            verified.push(simulation.verify()?);
        }
        Ok(Trial { unit: M::TIME_UNIT, end, seed, verified })
    }
}

/// An end by which there are enough events, but not many more; found by runs, which are much faster than verification.
fn some_end<M: Configure>(parameters: &M::Parameters, seed: u64) -> Result<f64, Error> {
    let mut end = M::DEFAULT_END * FIRST_SHARE;
    loop {
        let run = Simulation::<M>::configured(parameters)?.end(end).seed(seed).records(Records::Drop).run()?;
        if run.record.committed_events >= EVENTS_ENOUGH || end >= M::DEFAULT_END {
            return Ok(end);
        }
        end = (end * STEP).min(M::DEFAULT_END);
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
