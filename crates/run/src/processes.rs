//! Runs of several processes: which of them this one is, and how they come together.
//!
//! Two things are known to the program as a whole. One is which runs of several processes it has
//! begun: by that, a process that was started for one of them recognises that run. The other is
//! whether processes of a launcher have had their run: they have only one, as MPI starts once.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

use serde_json::{Value, json};
use warpline_model::Model;
use warpline_mpi::Launch;
use warpline_transport::{FailureReporter, Group, Invitation, Ranks, RunId};

use crate::job::Job;
use crate::job::check::RunSpec;
use crate::outcome::error::catch_message;
use crate::parallel::processes::Processes;
use crate::plan::{Machines, ProcessPlan, RunPlan, choices};
use crate::{Barrier, Communication, Error, GvtAlgorithm};

/// The runs of several processes that this program has begun, by hash: the thread that has begun
/// those that look alike, and how many there are.
static BEGUN: Mutex<BTreeMap<u64, (ThreadId, u32)>> = Mutex::new(BTreeMap::new());

/// Whether this program has begun its run of processes that a launcher has started.
static LAUNCHED: AtomicBool = AtomicBool::new(false);

/// How this process reports a failure to the first of its run, if it is another one.
#[derive(Clone, Default)]
pub(crate) struct ToFirst(Arc<OnceLock<FailureReporter>>);

impl ToFirst {
    /// Tells the first process why the share of this one has failed.
    pub(crate) fn tell(&self, error: &Error) {
        let failed = self.0.get().filter(|_| !matches!(error, Error::Share(_)));
        failed.iter().for_each(|first| first.say(&error.to_string()));
    }
}

/// The part of this process in a run.
pub(crate) enum Part {
    /// There is only one process.
    Alone,
    /// It starts the others, for this run of the program.
    First(RunId),
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
    /// was started for another run of the program executes this one alone, with the same answer.
    ///
    /// # Errors
    /// If settings and processes do not go together, MPI does not start, or another thread than the
    /// `caller` has begun a run that looks like this one.
    pub(crate) fn part(&self, caller: ThreadId) -> Result<(Part, ProcessPlan), Error> {
        if let Some(launch) = launch() {
            return self.launched(launch);
        }
        self.check_all_reduce()?;
        let alone = ProcessPlan::alone(&self.settings);
        let asked = self.settings.processes();
        if asked == 1 {
            return Ok((Part::Alone, alone));
        }
        self.check_processes(asked)?;
        // A model that panics here does so again where that is told.
        let lps = catch_message(|| self.model.lps()).unwrap_or(asked);
        let processes = ProcessPlan::as_given(&self.settings, lps);
        if processes.count == 1 {
            return Ok((Part::Alone, alone));
        }
        let carrier = choices::carrier(&self.settings, false)?;
        let run = self.begin_run(caller)?;
        let part = match Invitation::of_this_process() {
            None => Part::First(run),
            Some(invitation) if invitation.is_for(run) => Part::Invited(invitation),
            Some(_) => return Ok((Part::Alone, alone)),
        };
        Ok((part, ProcessPlan { carrier, ..processes }))
    }

    /// Notes that the program begins this run of several processes, and says which it is. Runs that
    /// look alike may still be of models that differ, so only their order tells them apart, which
    /// is the same in all processes within a thread.
    fn begin_run(&self, caller: ThreadId) -> Result<RunId, Error> {
        let mut entries = self.identity();
        let settings = self.settings.recorded(true).into_iter();
        entries.extend(settings.map(|(name, value)| (name, value.to_string())));
        let mut hasher = DefaultHasher::new();
        entries.hash(&mut hasher);
        let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
        let (thread, alike) = begun.entry(hasher.clone().finish()).or_insert((caller, 0));
        if *thread != caller {
            return Err(Error::Setting(
                "another thread has begun a run of several processes that looks like this one, and \
                 the other processes could not tell the two apart: give one of them another seed \
                 or other parameters, or begin both in one thread"
                    .to_owned(),
            ));
        }
        *alike += 1;
        alike.hash(&mut hasher);
        let number = begun.values().map(|(_, alike)| alike).sum();
        Ok(RunId { number, hash: hasher.finish() })
    }

    /// Checks that a launcher has started the program if reductions are to go over ranks, which
    /// only MPI does. One rank alone has nothing to reduce.
    fn check_all_reduce(&self) -> Result<(), Error> {
        if self.settings.barrier() != Barrier::AllReduce || Launch::detect().is_some() {
            return Ok(());
        }
        Err(Error::Setting(
            "`barrier` is `all-reduce`, but no launcher of MPI programs has started this program: \
             start it by `mpirun -np N warpline …`, built with the feature `mpi`; or use --barrier \
             tree, or --barrier central for PEs that share memory"
                .into(),
        ))
    }

    /// The part of this process among those that a launcher has started, which may be this one
    /// alone.
    fn launched(&self, launch: Launch) -> Result<(Part, ProcessPlan), Error> {
        let refuse = |why: String| Err(Error::Setting(why));
        if LAUNCHED.swap(true, Ordering::Relaxed) {
            return refuse(
                "processes that a launcher has started have one run together, and this \
                           program has had it"
                    .to_owned(),
            );
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
                "`processes` is {given}, but the launcher has started {count} processes; leave it \
                 out"
            ));
        }
        if !ranks.may_thread()
            && (threads > 1
                || matches!(communication, Communication::Worker | Communication::Distributed))
        {
            return refuse(
                "this MPI library lets one thread of each process call it, and no more: use \
                 --communication dedicated with one thread"
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
                "events of type `{event}` do not leave their process; mark the model with \
                 #[model], and derive Portable for its events if they are plain data, or else \
                 serde's Serialize and Deserialize; or use threads"
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
                "model `{name}` has {lps} LPs, too few for {processes} processes: each needs one \
                 at least"
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
        let gvt = self.settings.gvt();
        let alike = matches!(self.settings.barrier(), Barrier::Central | Barrier::Condvar)
            || gvt.needs_shared_memory();
        if group.passes_on() && alike {
            return Err(Error::Setting(no_shared_memory()));
        }
        if !group.is_first() {
            let _ = first.0.set(group.failure_reporter());
        }
        Processes::new(group, &description).map(Some)
    }

    /// What the processes of a run have to agree on.
    fn description(
        &self,
        spec: &RunSpec,
        settings: &serde_json::Map<String, Value>,
    ) -> Vec<(String, String)> {
        let own = [
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("number of LPs", json!(spec.limits.lps)),
            ("lookahead", json!(spec.limits.lookahead.least())),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value.to_string()));
        let settings =
            settings.iter().map(|(name, value)| (format!("setting `{name}`"), value.to_string()));
        own.chain(self.identity()).chain(settings).collect()
    }

    /// Model, parameters and seed.
    fn identity(&self) -> Vec<(String, String)> {
        let entries = [
            ("model", json!(self.name)),
            ("type", json!(std::any::type_name::<M>())),
            ("bytes of an event", json!(size_of::<M::Event>())),
            ("end", json!(self.end_time())),
            ("seed", json!(self.settings.seed())),
        ];
        let own = entries.into_iter().map(|(name, value)| (name.to_owned(), value.to_string()));
        let parameters = self
            .parameters
            .iter()
            .map(|(name, value)| (format!("parameter `{name}`"), value.to_string()));
        own.chain(parameters).collect()
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

/// What is wrong with PEs that share no memory and are to find GVT in it.
fn no_shared_memory() -> String {
    let names = |shared| -> Vec<_> {
        let all = GvtAlgorithm::ALL.iter();
        all.filter(|gvt| gvt.needs_shared_memory() == shared).map(|gvt| gvt.name()).collect()
    };
    format!(
        "--gvt {} and the barriers `central` and `condvar` are for PEs that share memory, and \
         these processes do not: use --gvt {}, and --barrier tree or all-reduce",
        names(true).join(", "),
        names(false).join(" or "),
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
