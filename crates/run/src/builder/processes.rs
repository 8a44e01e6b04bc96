use warpline_model::Model;

use crate::{Carrier, Communication, CommunicationRing, Simulation};

/// # Settings of runs of several processes
impl<M: Model> Simulation<'_, M> {
    /// The number of processes that share the PEs among them: each has as many as
    /// [`threads`](Self::threads) says, by default its share of the cores. From 1, the default, to
    /// 64; no more than there are LPs. More than one means a parallel run.
    ///
    /// The program that asks for it starts the others: the same program with the same arguments,
    /// whose standard output goes nowhere, except for what their LPs print [once it is
    /// settled](crate::Observe::when_settled). Each of them does what the program does up to this
    /// run, and takes its part in it. If there were earlier runs with several processes, each of
    /// them repeats those alone. So before such a run, a program should do nothing that must not be
    /// done twice, and it can have one such run at a time.
    ///
    /// In the other processes, the run ends with [`Error::Share`](crate::Error::Share), as the
    /// first has the results. They are to end then, which takes one arm of a `match`, as
    /// [`Share`](crate::Share) shows.
    ///
    /// Events must be able to leave their process: see [`#[model]`](macro@crate::model).
    pub fn processes(self, processes: u32) -> Self {
        self.with(|settings| settings.processes = Some(processes))
    }

    /// Whether processes of a machine share the memory of messages, so that nothing is copied on
    /// the way. Otherwise messages are written and read, as between machines. Default yes.
    pub fn zero_copy(self, shared: bool) -> Self {
        self.with(|settings| settings.zero_copy = Some(shared))
    }

    /// Who carries messages that are copied between processes: [rings](Carrier::Rings) or
    /// [Boost.Interprocess](Carrier::Boost) between those of one machine that
    /// [`processes`](Self::processes) starts, which do not share the memory of messages then, or
    /// [MPI](Carrier::Mpi) between those that a launcher has started. Default: rings or MPI.
    pub fn carrier(self, carrier: Carrier) -> Self {
        self.with(|settings| settings.carrier = Some(carrier))
    }

    /// Who sends messages to processes that share no memory. By default a short probe on the
    /// machines of the run decides: threads that do nothing else if PEs keep their speed beside
    /// them, or else every PE, or the first of each process. The record says which, and why.
    pub fn communication(self, communication: Communication) -> Self {
        self.with(|settings| settings.communication = Some(communication))
    }

    /// With [`Communication::Dedicated`]: how many threads of each process do nothing but send and
    /// receive messages. Default 1.
    pub fn communication_threads(self, threads: u32) -> Self {
        self.with(|settings| settings.communication_threads = Some(threads))
    }

    /// How PEs hand messages over to the thread that sends them. Default: each through a ring of
    /// its own.
    pub fn communication_ring(self, ring: CommunicationRing) -> Self {
        self.with(|settings| settings.communication_ring = Some(ring))
    }

    /// The most bytes of a batch of messages to a process that shares no memory: 256 to 2²⁰.
    /// Default 16 384.
    pub fn communication_batch(self, bytes: u32) -> Self {
        self.with(|settings| settings.communication_batch = Some(bytes))
    }

    /// How long the first message of a batch waits for more of them, in microseconds. Default 10.
    pub fn communication_delay(self, microseconds: f64) -> Self {
        self.with(|settings| settings.communication_delay = Some(microseconds))
    }
}
