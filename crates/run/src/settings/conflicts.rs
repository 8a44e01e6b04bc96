//! Settings that do not go together, and the engine that follows from those that were given.

use warpline_mpi::Launch;

use super::value::SettingValue;
use super::{
    Barrier, BufferPool, Communication, Conservative, GvtAlgorithm, Horizon, Mailbox, Messages,
    SettingError, Settings, Synchronisation, Undo,
};

/// A setting by name, and its value as it would be typed.
type Given = (&'static str, String);

/// The error of two settings that do not go together.
fn conflict((name, value): Given, (other, other_value): Given, remedy: &str) -> SettingError {
    SettingError::Conflict { name, value, other, other_value, remedy: remedy.to_owned() }
}

impl Settings {
    /// The engine of a run: the one that was asked for, or else one that all given settings suit.
    /// That is the sequential one with one thread, the conservative one if `conservative` is among
    /// them, the mixed one if `conservative_lps` is, the optimistic one with several threads or
    /// processes, or any other setting of parallel runs; and otherwise whichever turns out to be
    /// fastest.
    ///
    /// # Errors
    /// If the sequential engine is given several threads, or a setting that it has no use for; or
    /// if `conservative` is set for any other engine than the conservative one.
    ///
    /// ```
    /// use warpline::{Settings, Synchronisation};
    /// let mut settings = Settings::default();
    /// assert_eq!(settings.synchronisation()?, Synchronisation::Auto);
    /// settings.batch = Some(64);
    /// assert_eq!(settings.synchronisation()?, Synchronisation::Optimistic);
    /// settings.sync = Some(Synchronisation::Sequential);
    /// let refused = settings.synchronisation().unwrap_err().to_string();
    /// assert!(refused.starts_with("`batch` is `64`, but `sync` is `sequential`: a sequential run has no use for it"));
    /// # Ok::<(), warpline::SettingError>(())
    /// ```
    pub fn synchronisation(&self) -> Result<Synchronisation, SettingError> {
        self.synchronisation_in(self.processes)
    }

    /// The same for as many processes as the settings or a launcher ask for.
    pub(crate) fn synchronisation_in(
        &self,
        processes: Option<u32>,
    ) -> Result<Synchronisation, SettingError> {
        let processes = processes.filter(|processes| *processes > 1);
        let engine = self.implied_engine(processes.is_some());
        self.check_threads(engine)?;
        if let Some(processes) = processes {
            self.check_processes(engine, processes)?;
        }
        self.check_barrier()?;
        self.check_mailbox(processes)?;
        self.check_sub_pool()?;
        self.check_horizon()?;
        self.check_machine(engine, processes)?;
        self.check_served(engine)?;
        Ok(engine)
    }

    /// The engine that was asked for, or else one that the given settings suit.
    fn implied_engine(&self, in_processes: bool) -> Synchronisation {
        let is_for_parallel_runs = || {
            let several = self.threads.is_some_and(|threads| threads > 1) || in_processes;
            let serve_all =
                self.given().iter().all(|(setting, _)| setting.serves(Synchronisation::Sequential));
            several || !serve_all
        };
        match self.sync {
            // Engines change within a process only.
            Some(Synchronisation::Auto) if in_processes => Synchronisation::Optimistic,
            Some(chosen) => chosen,
            None if self.conservative.is_some() => Synchronisation::Conservative,
            None if self.conservative_lps.is_some() => Synchronisation::Mixed,
            None if is_for_parallel_runs() => Synchronisation::Optimistic,
            None if self.threads.is_some() => Synchronisation::Sequential,
            None => Synchronisation::Auto,
        }
    }

    fn check_threads(&self, engine: Synchronisation) -> Result<(), SettingError> {
        let Some(threads) = self.threads.filter(|threads| *threads > 1) else { return Ok(()) };
        if engine != Synchronisation::Sequential {
            return Ok(());
        }
        let remedy = "a sequential run has one thread; leave `threads` out or set it to 1, or \
                      leave `sync` out, as several threads mean a parallel run";
        Err(conflict(sync(engine), ("threads", threads.to_string()), remedy))
    }

    /// Checks that engines of one thread have one process.
    fn check_processes(&self, engine: Synchronisation, processes: u32) -> Result<(), SettingError> {
        let (alone, remedy) = match self.virtual_cluster {
            _ if engine == Synchronisation::Sequential => {
                (sync(engine), "a sequential run has one thread; leave one of the two out")
            }
            Some(seed) => (
                ("virtual-cluster", seed.to_string()),
                "a virtual cluster lives in one thread; leave one of the two out",
            ),
            None => return Ok(()),
        };
        Err(conflict(alone, ("processes", processes.to_string()), remedy))
    }

    fn check_barrier(&self) -> Result<(), SettingError> {
        match (self.barrier, self.gvt) {
            (Some(barrier), Some(gvt)) if gvt != GvtAlgorithm::Synchronous => Err(conflict(
                ("barrier", barrier.name().to_owned()),
                ("gvt", gvt.name().to_owned()),
                "PEs meet only where GVT is synchronous; leave `barrier` out, or set `gvt` to \
                 `synchronous`",
            )),
            _ => Ok(()),
        }
    }

    /// Mailboxes are those of threads of one process.
    fn check_mailbox(&self, processes: Option<u32>) -> Result<(), SettingError> {
        let Some(mailbox) = self.mailbox.filter(|mailbox| *mailbox != Mailbox::Auto) else {
            return Ok(());
        };
        let processes = processes.filter(|_| mailbox != Mailbox::PerSender);
        let (other, remedy) = match (self.virtual_cluster, processes) {
            (Some(seed), _) => (
                ("virtual-cluster", seed.to_string()),
                "a virtual cluster has a network of its own; leave one of the two out",
            ),
            (_, Some(processes)) => (
                ("processes", processes.to_string()),
                "such a mailbox lies in the memory of one process; leave `mailbox` out, set it to \
                 `per-sender`, or use threads",
            ),
            _ => return Ok(()),
        };
        Err(conflict(("mailbox", mailbox.name().to_owned()), other, remedy))
    }

    fn check_sub_pool(&self) -> Result<(), SettingError> {
        match (self.sub_pool, self.pool) {
            (Some(size), Some(pool)) if pool != BufferPool::Partitioned => Err(conflict(
                ("sub-pool", size.text()),
                ("pool", pool.name().to_owned()),
                "only partitioned pools have sub-pools; leave `sub-pool` out, or set `pool` to \
                 `partitioned`",
            )),
            _ => Ok(()),
        }
    }

    /// Windows end by bounds.
    fn check_horizon(&self) -> Result<(), SettingError> {
        let horizon = self.horizon();
        let by_bounds = matches!(horizon, Horizon::Auto | Horizon::Bounds);
        if by_bounds || self.conservative() != Conservative::Windows {
            return Ok(());
        }
        Err(conflict(
            ("horizon", horizon.name().to_owned()),
            ("conservative", Conservative::Windows.name().to_owned()),
            "PEs find the end of a window by their bounds; leave one of the two out",
        ))
    }

    /// A modelled machine has one process, and a network of its own.
    fn check_machine(
        &self,
        engine: Synchronisation,
        processes: Option<u32>,
    ) -> Result<(), SettingError> {
        let Some(machine) = &self.machine else { return Ok(()) };
        let copies = |messages: &Messages| matches!(messages, Messages::Auto | Messages::Copy);
        let no_engine = |engine: &Synchronisation| {
            matches!(engine, Synchronisation::Auto | Synchronisation::Sequential)
        };
        let others: [(Option<Given>, &str); 7] = [
            (
                processes.map(|processes| ("processes", processes.to_string())),
                "its PEs live in one process; leave one of the two out",
            ),
            (
                self.virtual_cluster.map(|seed| ("virtual-cluster", seed.to_string())),
                "its order follows from its time; leave one of the two out",
            ),
            (
                self.mailbox.map(|mailbox| ("mailbox", mailbox.name().to_owned())),
                "it has a network of its own; leave `mailbox` out",
            ),
            (
                self.messages
                    .filter(|messages| !copies(messages))
                    .map(|messages| ("messages", messages.name().to_owned())),
                "its nodes share no memory, so that messages are copied; leave `messages` out",
            ),
            (
                self.barrier
                    .filter(|barrier| *barrier == Barrier::AllReduce)
                    .map(|barrier| ("barrier", barrier.name().to_owned())),
                "it has no MPI; set `barrier` to `tree`",
            ),
            (
                self.trace.as_ref().map(|trace| ("trace", trace.text())),
                "a trace has wall time, of which its PEs have none; leave `trace` out",
            ),
            (
                Some(engine).filter(no_engine).map(sync),
                "its PEs are those of one parallel engine; leave `sync` out, or set it to \
                 `conservative`, `optimistic` or `mixed`",
            ),
        ];
        match others.into_iter().find_map(|(other, remedy)| Some((other?, remedy))) {
            None => Ok(()),
            Some((other, remedy)) => Err(conflict(("machine", machine.text()), other, remedy)),
        }
    }

    /// Checks that the engine has a use for all given settings.
    fn check_served(&self, engine: Synchronisation) -> Result<(), SettingError> {
        let Some((setting, value)) =
            self.given().into_iter().find(|(setting, _)| !setting.serves(engine))
        else {
            return Ok(());
        };
        let remedy = match engine {
            _ if setting.name == "conservative" => {
                "it tells PEs of a conservative run how to go on; leave it out, or set `sync` to \
                 `conservative`"
            }
            Synchronisation::Conservative => {
                "a conservative run undoes nothing and has no use for it; leave it out, or set \
                 `sync` to `optimistic`"
            }
            _ => {
                "a sequential run has no use for it; leave it out, or leave `sync` out, as it \
                 means a parallel run"
            }
        };
        Err(conflict((&setting.name, value), sync(engine), remedy))
    }

    /// Checks the settings of a run for which neither `processes` nor a launcher says how many
    /// processes it has.
    ///
    /// # Errors
    /// If a setting is about messages between processes.
    pub(crate) fn check_alone(&self) -> Result<(), SettingError> {
        let Some((setting, value)) =
            self.given().into_iter().find(|(setting, _)| setting.is_between_processes())
        else {
            return Ok(());
        };
        let remedy = "it is about messages between processes; set `processes`, have `mpirun` start \
                      the program, or leave it out";
        Err(conflict((&setting.name, value), ("processes", "1".to_owned()), remedy))
    }

    /// The given settings that have no effect, as others are what they are, each with the reason.
    ///
    /// ```
    /// use warpline::{Settings, Undo};
    /// let mut settings = Settings::default();
    /// settings.undo = Some(Undo::Reverse);
    /// settings.copy_interval = Some(4.into());
    /// assert_eq!(settings.without_effect(), [("copy-interval", "states are copied with `undo` set to `copy` alone")]);
    /// ```
    pub fn without_effect(&self) -> Vec<(&'static str, &'static str)> {
        let mut all = Vec::new();
        let mut idle = |name, given: bool, why| all.extend(given.then_some((name, why)));
        let sends = self.communication();
        idle(
            "copy-interval",
            self.copy_interval.is_some() && self.undo() != Undo::Copy,
            "states are copied with `undo` set to `copy` alone",
        );
        let always = "PEs always go ahead where `use-lookahead` is `no`";
        idle("go-ahead", self.go_ahead.is_some() && !self.use_lookahead(), always);
        let nothing = "nothing is executed for good where `use-lookahead` is `no`";
        idle("horizon", self.horizon.is_some() && !self.use_lookahead(), nothing);
        let by_bounds = "PEs ask for GVT at an interval where `horizon` is `bounds`";
        let by_gvt = match (self.horizon(), &self.machine) {
            (Horizon::Auto, Some(_)) => self.conservative() != Conservative::Windows,
            (horizon, _) => matches!(horizon, Horizon::Gvt | Horizon::Both),
        };
        let never_drives = self.horizon() == Horizon::Bounds;
        idle("gvt-start", self.gvt_start.is_some() && never_drives, by_bounds);
        let by_bounds = "with `horizon` set to `bounds`, some PEs never need GVT themselves";
        idle("jump-start", self.jump_start.is_some() && never_drives, by_bounds);
        let in_registers = "with `gvt` set to `gsu`, GVT is in registers, and nothing is reduced";
        let has_registers = self.gvt == Some(GvtAlgorithm::Gsu);
        idle("gvt-groups", self.gvt_groups.is_some() && has_registers, in_registers);
        let on_demand = "PEs ask for GVT as `gvt-start` says where `horizon` is `gvt`";
        let drives = by_gvt && self.use_lookahead();
        idle("gvt-interval", self.gvt_interval.is_some() && drives, on_demand);
        let in_turn = "a virtual cluster has one thread";
        idle("move-pes", self.move_pes.is_some() && self.virtual_cluster.is_some(), in_turn);
        let by_itself = "with `communication` set to `distributed`, every PE sends for itself";
        idle(
            "communication-ring",
            self.communication_ring.is_some() && sends == Communication::Distributed,
            by_itself,
        );
        let no_threads = "no thread but those with `communication` set to `dedicated` does nothing \
                          but send and receive";
        idle(
            "communication-threads",
            self.communication_threads.is_some() && sends != Communication::Dedicated,
            no_threads,
        );
        if self.threads == Some(1) && self.processes() == 1 {
            let alone = "there is one PE, which sends itself no messages";
            idle("mailbox", self.mailbox.is_some(), alone);
            idle("messages", self.messages.is_some(), alone);
            idle("sub-pool", self.sub_pool.is_some(), alone);
            idle(
                "move-pes",
                self.move_pes.is_some() && self.virtual_cluster.is_none(),
                "there is one PE",
            );
        }
        if self.processes() > 1
            && self.zero_copy()
            && self.carrier.is_none()
            && Launch::detect().is_none()
        {
            let shared = "processes share the memory of messages; set `zero-copy` to `no`";
            idle("communication", self.communication.is_some(), shared);
            idle("communication-batch", self.communication_batch.is_some(), shared);
            idle("communication-delay", self.communication_delay.is_some(), shared);
            idle(
                "communication-ring",
                self.communication_ring.is_some() && sends != Communication::Distributed,
                shared,
            );
            idle(
                "communication-threads",
                self.communication_threads.is_some() && sends == Communication::Dedicated,
                shared,
            );
        }
        all
    }
}

/// The setting `sync` with this value.
fn sync(engine: Synchronisation) -> Given {
    ("sync", engine.name().to_owned())
}
