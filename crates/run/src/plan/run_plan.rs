//! The plan of a whole run.

use std::sync::Arc;

use warpline_kernel::Delays;
use warpline_machine::Machine;
use warpline_model::Model;
use warpline_model::engine::Limits;

use super::reason::{Choices, Chosen, Reason};
use super::{Facts, Machines, choices, modelled};
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::{Carrier, Error, Settings, Synchronisation};

/// The processes of a run, and how messages get from one to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessPlan {
    /// How many there are.
    pub(crate) count: u32,
    /// Whether those of a machine share the memory of messages.
    pub(crate) zero_copy: Chosen<bool>,
    /// Who carries messages that are copied.
    pub(crate) carrier: Chosen<Carrier>,
    /// The machines, if a launcher has started the processes.
    pub(crate) machines: Option<Machines>,
}

impl ProcessPlan {
    /// One process.
    pub(crate) fn alone(settings: &Settings) -> Self {
        let carrier = Chosen { value: settings.carrier(), why: Reason::Default };
        ProcessPlan { count: 1, zero_copy: choices::zero_copy(settings), carrier, machines: None }
    }

    /// As many as were asked for, on this machine, but none without an LP.
    pub(crate) fn as_given(settings: &Settings, lps: u32) -> Self {
        let count = settings.processes().min(lps.max(1));
        ProcessPlan { count, ..ProcessPlan::alone(settings) }
    }

    /// How many processes the settings or the launcher ask for; `None` if neither does.
    pub(crate) fn asked(&self, settings: &Settings) -> Option<u32> {
        self.machines.map_or(settings.processes, |_| Some(self.count))
    }

    /// Whether all threads may send messages to other processes, and not only the watching one.
    pub(crate) fn may_thread(&self) -> bool {
        self.machines.is_none_or(|machines| machines.may_thread)
    }
}

/// What is settled about a run once, whichever engines execute it.
#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    /// How LPs are kept in step, or `auto` if the run is to find out.
    pub(crate) sync: Chosen<Synchronisation>,
    pub(crate) processes: ProcessPlan,
    pub(crate) facts: Facts,
    /// The most PEs that it may have.
    pub(crate) pes: u32,
    /// The modelled machine that they run on, if there is one.
    pub(crate) machine: Option<Arc<Machine>>,
}

impl RunPlan {
    fn new<M: Model>(
        settings: &Settings,
        sync: Chosen<Synchronisation>,
        processes: ProcessPlan,
        limits: &Limits,
        machine: Option<(Arc<Machine>, u32)>,
    ) -> Self {
        let facts = Facts::of::<M>(limits.lps, processes.machines);
        let threads = choices::threads_most(settings, facts.cores, processes.count);
        let (machine, pes) = machine.unzip();
        let pes = pes.unwrap_or_else(|| choices::pes(threads, processes.count, facts.lps));
        RunPlan { sync, processes, facts, pes, machine }
    }

    /// What it settles, for the record.
    pub(super) fn choices(&self, settings: &Settings) -> Choices {
        let ProcessPlan { count, zero_copy, carrier, .. } = self.processes;
        let mut choices = Choices::default();
        choices.note("sync", self.sync);
        let why = if settings.processes == Some(count) {
            Reason::Given
        } else if settings.processes > Some(count) {
            Reason::Rule("none without an LP")
        } else {
            Reason::Rule("those that there are")
        };
        choices.note("processes", Chosen { value: count, why });
        choices.note("zero_copy", zero_copy);
        choices.note("carrier", carrier);
        choices
    }
}

impl<M: Model> Job<M> {
    /// Plans a run with these processes, on the engine that was asked for or that the settings
    /// imply. An optimistic run is mixed if some LPs are conservative.
    ///
    /// # Errors
    /// If it was expressly to be optimistic, and some LPs are conservative.
    pub(crate) fn plan_run(
        &self,
        implied: Synchronisation,
        processes: ProcessPlan,
        spec: &RunSpec,
    ) -> Result<RunPlan, Error> {
        if M::ABILITIES.is_never_undone() {
            return self.plan_without_undo(implied, processes, spec);
        }
        let sync = spec.kinds.mixed(implied);
        if sync != implied && self.settings.sync.is_some() {
            let name = &self.name;
            let lps = spec.kinds.conservative;
            return Err(Error::Setting(format!(
                "in an optimistic run every LP goes ahead, but {lps} of model `{name}` are \
                 conservative: use --sync mixed, or --conservative-lps none if they can stand it"
            )));
        }
        let why = match (self.settings.sync, sync) {
            (Some(given), sync) if given == sync => Reason::Given,
            (_, Synchronisation::Auto) => Reason::Default,
            _ => Reason::Rule("the engine that all given settings suit"),
        };
        let machine = modelled::machine(&self.settings, &self.name, spec.limits.lps)?;
        let sync = Chosen { value: sync, why };
        Ok(RunPlan::new::<M>(&self.settings, sync, processes, &spec.limits, machine))
    }

    /// Plans a run of a model with LPs that cannot be undone: an optimistic one is mixed. If no LP
    /// can, one without lookahead between PEs is sequential.
    fn plan_without_undo(
        &self,
        implied: Synchronisation,
        processes: ProcessPlan,
        spec: &RunSpec,
    ) -> Result<RunPlan, Error> {
        let why = match self.settings.sync {
            Some(given) if given == implied => Reason::Given,
            _ if implied == Synchronisation::Auto => Reason::Default,
            _ => Reason::Rule("the engine that all given settings suit"),
        };
        let mut sync = Chosen { value: implied, why };
        if implied == Synchronisation::Optimistic {
            let why = "nothing undoes what processes do, so their LPs are conservative";
            sync = Chosen { value: Synchronisation::Mixed, why: Reason::Rule(why) };
        }
        let machine = modelled::machine(&self.settings, &self.name, spec.limits.lps)?;
        let run = RunPlan::new::<M>(&self.settings, sync, processes, &spec.limits, machine);
        let is_parallel = !matches!(implied, Synchronisation::Sequential | Synchronisation::Auto);
        let has_threads_only = run.processes.count == 1
            && run.machine.is_none()
            && self.settings.virtual_cluster.is_none();
        let may_wait = !is_parallel || !has_threads_only || !spec.is_never_undone::<M>();
        if may_wait || self.has_lookahead(run.pes, spec)? {
            return Ok(run);
        }
        let why = "nothing undoes what processes do, and without lookahead they would wait at \
                   every event";
        let sync = Chosen { value: Synchronisation::Sequential, why: Reason::Rule(why) };
        Ok(RunPlan { sync, ..run })
    }

    /// Whether so many PEs know anything of each other's future.
    fn has_lookahead(&self, pes: u32, spec: &RunSpec) -> Result<bool, Error> {
        let lookahead = &spec.limits.lookahead;
        if !self.settings.use_lookahead() || lookahead.is_uniform() || pes < 2 {
            return Ok(self.settings.use_lookahead() && lookahead.least() > 0.0);
        }
        Ok(Delays::of(lookahead, &self.partition(&spec.limits, pes)?).least() > 0.0)
    }

    /// See [`Simulation::least_delay`](crate::Simulation::least_delay).
    pub(crate) fn least_delay(&self) -> Result<f64, Error> {
        let limits = self.check()?.limits;
        let sync = Chosen { value: Synchronisation::Auto, why: Reason::Default };
        let machine = modelled::machine(&self.settings, &self.name, limits.lps)?;
        let processes = ProcessPlan::as_given(&self.settings, limits.lps);
        let RunPlan { pes, .. } =
            RunPlan::new::<M>(&self.settings, sync, processes, &limits, machine);
        let between = |partition| Delays::of(&limits.lookahead, &partition).least();
        if pes == 1 {
            Ok(limits.lookahead.least())
        } else {
            self.partition(&limits, pes).map(between)
        }
    }
}
