//! Runs of several processes: which of them this one is, and how they come together.
//!
//! Two things are known to the program as a whole. One is the number of its runs of several
//! processes: by it, a process that was started for one of them recognises that run. The other is
//! whether processes of a launcher have had their run: they have only one, as MPI starts once.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use warpline_model::Model;
use warpline_mpi::Launch;
use warpline_transport::{FailureReport, Group, Invitation, Ranks};

use crate::job::Job;
use crate::job::check::RunSpec;
use crate::parallel::processes::Processes;
use crate::plan::{Machines, ProcessPlan, RunPlan, choices};
use crate::{Barrier, Communication, Error, GvtAlgorithm};

/// How many runs of several processes this program has begun.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// Whether this program has begun its run of processes that a launcher has started.
static LAUNCHED: AtomicBool = AtomicBool::new(false);

/// How this process reports a failure to the first of its run, if it is another one.
#[derive(Clone, Default)]
pub(crate) struct ToFirst(Arc<OnceLock<FailureReport>>);

impl ToFirst {
    /// Tells the first process why the share of this one has failed.
    pub(crate) fn tell(&self, error: &Error) {
        let failed = self.0.get().filter(|_| !matches!(error, Error::Share(_)));
        failed.iter().for_each(|first| first.say(&error.to_string()));
    }
}

/// Whether a run of several processes is under way in this program. There is one at a time:
/// payloads that processes share lie in the memory of one run, and a process that was started for
/// one of two simultaneous runs could not tell them apart.
static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// The right to be the one run of several processes in this program, held until it is dropped.
pub(crate) struct Turn(());

impl Turn {
    /// Takes the turn, if no other run has it.
    fn take() -> Option<Self> {
        // Acquire pairs with the Release of `drop`: the previous run is done with what processes
        // share.
        (!UNDER_WAY.swap(true, Ordering::Acquire)).then_some(Turn(()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        UNDER_WAY.store(false, Ordering::Release);
    }
}

/// The part of this process in a run.
pub(crate) enum Part {
    /// There is only one process.
    Alone,
    /// It starts the others, for the run of this number.
    First(u32),
    /// The first has started it.
    Invited(Invitation),
    /// A launcher has started all of them.
    Launched(Ranks),
}

impl Part {
    /// Whether this process reports progress and writes rows.
    pub(crate) fn reports(&self) -> bool {
        match self {
            Part::Alone | Part::First(_) => true,
            Part::Invited(_) => false,
            Part::Launched(ranks) => ranks.number() == 0,
        }
    }
}

/// How `mpirun`, or another launcher, has started this program together with others, if it has.
pub fn launch() -> Option<Launch> {
    Launch::detect().filter(|launch| launch.size() != Some(1))
}

/// Whether another process has started this one, for its run of several.
pub fn is_started_by_another() -> bool {
    Invitation::of_this_process().is_some()
}

impl<M: Model> Job<M> {
    /// Finds out the part of this process in the run, and which processes there are. A process that
    /// was started for a later run of the program executes this one alone, with the same answer.
    /// All of them hold the turn meanwhile.
    ///
    /// # Errors
    /// If settings and processes do not go together, or MPI does not start.
    pub(crate) fn part(&self) -> Result<(Part, ProcessPlan, Option<Turn>), Error> {
        if let Some(launch) = launch() {
            let (part, processes) = self.launched(launch)?;
            return Ok((part, processes, None));
        }
        self.check_all_reduce()?;
        let alone = ProcessPlan::alone(&self.settings);
        let processes = ProcessPlan::as_given(&self.settings);
        if processes.count == 1 {
            return Ok((Part::Alone, alone, None));
        }
        self.check_processes(processes.count)?;
        let carrier = choices::carrier(&self.settings, false)?;
        let Some(turn) = Turn::take() else {
            return Err(Error::Setting(format!(
                "`processes` is {}, and another run of several processes is under way in this program: begin this one when that has ended, \
                 or use threads",
                processes.count
            )));
        };
        let run = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
        let part = match Invitation::of_this_process() {
            None => Part::First(run),
            Some(invitation) if invitation.run() == run => Part::Invited(invitation),
            Some(_) => return Ok((Part::Alone, alone, Some(turn))),
        };
        Ok((part, ProcessPlan { carrier, ..processes }, Some(turn)))
    }

    /// Checks that a launcher has started the program if reductions are to go over ranks, which
    /// only MPI does. One rank alone has nothing to reduce.
    fn check_all_reduce(&self) -> Result<(), Error> {
        if self.settings.barrier() != Barrier::AllReduce || Launch::detect().is_some() {
            return Ok(());
        }
        Err(Error::Setting(
            "`barrier` is `all-reduce`, but no launcher of MPI programs has started this program: start it by `mpirun -np N warpline …`, built \
             with the feature `mpi`; or use --barrier tree, or --barrier central for PEs that share memory"
                .into(),
        ))
    }

    /// The part of this process among those that a launcher has started, which may be this one
    /// alone.
    fn launched(&self, launch: Launch) -> Result<(Part, ProcessPlan), Error> {
        let refuse = |why: String| Err(Error::Setting(why));
        if LAUNCHED.swap(true, Ordering::Relaxed) {
            return refuse("processes that a launcher has started have one run together, and this program has had it".to_owned());
        }
        let given = self.settings.processes;
        // Refused before MPI starts, where the launcher says how many there are.
        self.check_processes(given.or(launch.size()).unwrap_or(2))?;
        let carrier = choices::carrier(&self.settings, true)?;
        let communication = self.settings.communication();
        let threads = self.settings.communication_threads();
        let funneled = communication == Communication::Dedicated && threads == 1;
        let ranks = match Ranks::start(launch, funneled) {
            Ok(Some(ranks)) => ranks,
            Ok(None) => return Ok((Part::Alone, ProcessPlan::alone(&self.settings))),
            Err(why) => {
                return refuse(format!(
                    "a launcher has started this program, but MPI does not work: {why}"
                ));
            }
        };
        let count = ranks.count();
        if let Some(given) = given.filter(|given| *given != count) {
            return refuse(format!(
                "`processes` is {given}, but the launcher has started {count} processes; leave it out"
            ));
        }
        if !ranks.may_thread()
            && (threads > 1
                || matches!(communication, Communication::Worker | Communication::Distributed))
        {
            return refuse(
                "this MPI library lets one thread of each process call it, and no more: use --communication dedicated with one thread"
                    .to_owned(),
            );
        }
        let zero_copy = choices::zero_copy(&self.settings);
        let processes = if zero_copy.value { ranks.per_machine().unwrap_or(1) } else { 1 };
        let machines = Machines {
            count: count / processes,
            processes,
            cores: ranks.cores(),
            may_thread: ranks.may_thread(),
        };
        Ok((
            Part::Launched(ranks),
            ProcessPlan { count, zero_copy, carrier, machines: Some(machines) },
        ))
    }

    /// Checks that the run can be one of several processes.
    fn check_processes(&self, processes: u32) -> Result<(), Error> {
        let name = &self.name;
        let refuse = |why: String| {
            Err(Error::Setting(format!(
                "model `{name}` cannot run in {processes} processes: {why}"
            )))
        };
        let event = std::any::type_name::<M::Event>();
        if M::ABILITIES.wire().is_none() {
            return refuse(format!(
                "events of type `{event}` do not leave their process; mark the model with #[model], and derive Portable for its events if \
                 they are plain data, or else serde's Serialize and Deserialize; or use threads"
            ));
        }
        if self.settings.trace.is_some() {
            return refuse(
                "a trace shows the threads of one process; leave out `trace`, or use threads"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Starts the other processes, or joins them.
    pub(crate) fn processes(
        &self,
        part: Part,
        run: &RunPlan,
        spec: &RunSpec,
        first: &ToFirst,
    ) -> Result<Option<Processes>, Error> {
        let processes = run.processes.count;
        let lps = spec.limits.lps;
        if processes > lps {
            let name = &self.name;
            return Err(Error::Setting(format!(
                "model `{name}` has {lps} LPs, too few for {processes} processes: each needs one at least"
            )));
        }
        let mut description = self.description(spec, &run.agreed_settings(&self.settings));
        let group = match part {
            Part::Alone => return Ok(None),
            Part::First(run) => Group::start(processes, run),
            Part::Invited(invitation) => Group::join(&invitation),
            Part::Launched(ranks) => {
                description.push(("program".to_owned(), program()));
                launched(ranks, run.processes.zero_copy.value)
            }
        };
        let group = group.map_err(|cause| Error::Processes { processes, cause })?;
        let alike = matches!(self.settings.barrier(), Barrier::Central | Barrier::Condvar)
            || self.settings.gvt() == GvtAlgorithm::Gsu;
        if group.passes_on() && alike {
            return Err(Error::Setting(
                "GVT from registers (gsu), and barriers at one counter (central, condvar), are for PEs that share memory, and these processes do \
                 not: use --gvt asynchronous, one-sided or synchronous, and --barrier tree or all-reduce"
                    .into(),
            ));
        }
        if !group.is_first() {
            let _ = first.0.set(group.failure_report());
        }
        Processes::new(group, &description).map(Some)
    }

    /// What the processes of a run have to agree on.
    fn description(
        &self,
        spec: &RunSpec,
        settings: &serde_json::Map<String, Value>,
    ) -> Vec<(String, String)> {
        let entries = [
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("model", json!(self.name)),
            ("type", json!(std::any::type_name::<M>())),
            ("bytes of an event", json!(size_of::<M::Event>())),
            ("end", json!(self.end_time())),
            ("seed", json!(self.settings.seed())),
            ("number of LPs", json!(spec.limits.lps)),
            ("lookahead", json!(spec.limits.lookahead.least())),
        ];
        let own = entries.into_iter().map(|(name, value)| (name.to_owned(), value.to_string()));
        let parameters = self
            .parameters
            .iter()
            .map(|(name, value)| (format!("parameter `{name}`"), value.to_string()));
        let settings =
            settings.iter().map(|(name, value)| (format!("setting `{name}`"), value.to_string()));
        own.chain(parameters).chain(settings).collect()
    }
}

/// What tells this program from others, and from other versions of itself: a hash of its file.
fn program() -> String {
    let hash = || -> io::Result<u64> {
        let path = if cfg!(target_os = "linux") {
            "/proc/self/exe".into()
        } else {
            std::env::current_exe()?
        };
        let mut file = File::open(path)?;
        let mut hasher = DefaultHasher::new();
        let mut bytes = vec![0; 1 << 20];
        loop {
            match file.read(&mut bytes)? {
                0 => return Ok(hasher.finish()),
                length => hasher.write(&bytes[..length]),
            }
        }
    };
    hash().map_or_else(
        |why| format!("a file that cannot be read ({why})"),
        |hash| format!("{hash:016x}"),
    )
}

#[cfg(feature = "mpi")]
fn launched(ranks: Ranks, shares: bool) -> std::io::Result<Group> {
    Group::launched(ranks, shares)
}

#[cfg(not(feature = "mpi"))]
fn launched(ranks: Ranks, _: bool) -> std::io::Result<Group> {
    match ranks {}
}
