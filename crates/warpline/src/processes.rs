//! Runs of several processes: which of them this one is, and how they come together.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use warpline_model::Model;
use warpline_transport::{Group, Invitation, Voice};

use crate::check::RunSpec;
use crate::job::Job;
use crate::optimistic::processes::Processes;
use crate::{Error, Records};

/// How many runs of several processes this program has begun.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// How this process speaks to the first, if it is another one of a run.
static VOICE: Mutex<Option<Voice>> = Mutex::new(None);

/// Tells the first process, if this is another one, why its part of the run has failed.
pub(crate) fn tell_first(error: &Error) {
    let voice = VOICE.lock().unwrap_or_else(PoisonError::into_inner);
    voice.iter().for_each(|voice| voice.say(&error.to_string()));
}

/// What this process is to a run of several.
pub(crate) enum Part {
    /// There is only one.
    Alone,
    /// It starts the others, for this run of the program.
    First(u32),
    /// It has been started by the first.
    Other(Invitation),
}

impl<M: Model> Job<M> {
    /// Finds out what this process is to the run. One that was started for a later run of the program does this one alone, to the same answer.
    pub(crate) fn part(&mut self) -> Result<Part, Error> {
        if self.settings.processes() == 1 {
            return Ok(Part::Alone);
        }
        self.check_processes()?;
        let run = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
        match Invitation::of_this_process() {
            None => Ok(Part::First(run)),
            Some(invitation) if invitation.run() == run => {
                // The first process writes rows.
                self.records = Records::Drop;
                Ok(Part::Other(invitation))
            }
            Some(_) => {
                self.settings.processes = None;
                Ok(Part::Alone)
            }
        }
    }

    /// Whether the run can be one of several processes.
    fn check_processes(&self) -> Result<(), Error> {
        let (name, processes) = (&self.name, self.settings.processes());
        let refuse = |why: String| Err(Error::Setting(format!("model `{name}` cannot run in {processes} processes: {why}")));
        let event = std::any::type_name::<M::Event>();
        let Some(wire) = M::wire() else {
            return refuse(format!(
                "events of type `{event}` do not leave their process; write Model::wire, with `WireFormat::portable()` if they are plain \
                 data, for which Portable is derived, or else with `WireFormat::serde()`, for which serde's Serialize and Deserialize are; \
                 or use threads"
            ));
        };
        if wire.proof().is_none() {
            return refuse(format!(
                "events of type `{event}` are copied, as serde writes them, which works only between machines so far; make them plain \
                 data, with Portable and `WireFormat::portable()`, or use threads"
            ));
        }
        if self.settings.trace.is_some() {
            return refuse("a trace shows the threads of one process; leave out `trace`, or use threads".to_owned());
        }
        Ok(())
    }

    /// Starts the other processes, or joins them.
    pub(crate) fn processes(&self, part: Part, spec: &RunSpec) -> Result<Option<Processes>, Error> {
        let (processes, lps) = (self.settings.processes(), spec.limits.lps);
        if processes > lps {
            let name = &self.name;
            return Err(Error::Setting(format!(
                "model `{name}` has {lps} LPs, too few for {processes} processes: each needs one at least"
            )));
        }
        let group = match part {
            Part::Alone => return Ok(None),
            Part::First(run) => Group::start(processes, run),
            Part::Other(invitation) => Group::join(&invitation),
        };
        let group = group.map_err(|cause| Error::Processes { processes, cause })?;
        if !group.is_first() {
            *VOICE.lock().unwrap_or_else(PoisonError::into_inner) = Some(group.voice());
        }
        Ok(Some(Processes::new(group, self.description(spec, &self.settings.recorded(true)))))
    }

    /// What the processes of a run have to agree on.
    fn description(&self, spec: &RunSpec, settings: &serde_json::Map<String, Value>) -> Vec<(String, String)> {
        let entries = [
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("model", json!(self.name)),
            ("type", json!(std::any::type_name::<M>())),
            ("bytes of an event", json!(size_of::<M::Event>())),
            ("end", json!(self.end_time())),
            ("number of LPs", json!(spec.limits.lps)),
            ("lookahead", json!(spec.limits.lookahead.least())),
        ];
        let own = entries.into_iter().map(|(name, value)| (name.to_owned(), value.to_string()));
        let parameters = self.parameters.iter().map(|(name, value)| (format!("parameter `{name}`"), value.to_string()));
        let settings = settings.iter().map(|(name, value)| (format!("setting `{name}`"), value.to_string()));
        own.chain(parameters).chain(settings).collect()
    }
}
