//! The ping test of µπ: a ring of ranks, each of which sends to the next one and receives from the
//! one before, with messages twice as long from round to round.
//!
//! Source: K. Perumalla, A. Park and V. Tipparaju, "Discrete event execution with one-sided and
//! two-sided GVT algorithms on 216,000 processor cores", ACM TOMACS 24(3), 2014, §4.1.3.

use warpline::ranks::prelude::*;

use super::target::{notes, target};

/// The parameters of the ping test.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct PingParameters {
    /// Number of ranks in the ring.
    #[parameter(default = 1024, range = 2..=100_000_000)]
    pub ranks: u32,
    /// Size of the first messages.
    #[parameter(unit = "bytes", default = 8, range = 1..=1_000_000_000)]
    pub first_size: u32,
    /// Size up to which messages grow.
    #[parameter(unit = "bytes", default = 65_536, range = 1..=1_000_000_000)]
    pub last_size: u32,
    /// How often each size is sent.
    #[parameter(default = 1, range = 1..=1_000_000_000)]
    pub repeats: u32,
    /// Latency of the network.
    #[parameter(unit = "µs", default = 10.0, range = 1e-3..=1e6)]
    pub latency: f64,
    /// What a message costs the rank that sends it, and the one that receives it.
    #[parameter(unit = "µs", default = 0.0, range = 0.0..=1e6)]
    pub overhead: f64,
    /// Bandwidth of the network.
    #[parameter(unit = "Gb/s", default = 1.0, range = 1e-6..=1e6)]
    pub bandwidth: f64,
    /// The machine whose network it is, a profile or a file; if empty, a flat network of the latency,
    /// overhead and bandwidth given.
    pub target: String,
}

/// The ping test.
#[derive(Debug)]
pub struct MupiPing {
    parameters: PingParameters,
    target: Target,
}

const MESSAGES: Counter = Counter::slot(0);
const BYTES: Counter = Counter::slot(1);
const ROUND_TIME: Mean = Mean::slot(2);
const RUN_TIME: Mean = Mean::slot(3);
const PING: u32 = 1;

impl RankProgram for MupiPing {
    fn ranks(&self) -> u32 {
        self.parameters.ranks
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(MESSAGES, "messages", "", "messages received");
        declare.counter(BYTES, "bytes", "bytes", "bytes received");
        declare.mean(ROUND_TIME, "round", "s", "time that a rank takes to send and receive once");
        declare.mean(RUN_TIME, "run-time", "s", "time when a rank has left MPI");
    }

    async fn run(self: Arc<Self>, rank: Rank) {
        let PingParameters { first_size, last_size, repeats, .. } = self.parameters;
        let (me, size) = (rank.id(), rank.size());
        let (next, previous) = ((me + 1) % size, (me + size - 1) % size);
        let mut bytes = u64::from(first_size);
        while bytes <= u64::from(last_size) {
            for _ in 0..repeats {
                let begun = rank.wtime();
                if me.is_multiple_of(2) {
                    rank.send(next, PING, Data::size(bytes)).await;
                    rank.recv(previous, PING, bytes).await;
                } else {
                    rank.recv(previous, PING, bytes).await;
                    rank.send(next, PING, Data::size(bytes)).await;
                }
                rank.count(MESSAGES, 1);
                rank.count(BYTES, bytes);
                rank.observe(ROUND_TIME, rank.wtime() - begun);
            }
            bytes *= 2;
        }
        rank.observe(RUN_TIME, rank.wtime());
    }
}

impl Configure for MupiPing {
    type Parameters = PingParameters;

    const NAME: &'static str = "mupi-ping";
    const ABOUT: &'static str = "a ring of MPI ranks, with messages that double in size";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 1e6;

    fn configure(parameters: &PingParameters) -> Result<Self, String> {
        let PingParameters { ranks, latency, overhead, bandwidth, .. } = *parameters;
        if parameters.first_size > parameters.last_size {
            return Err(format!(
                "`first-size` {} is greater than `last-size` {}: no message would be sent",
                parameters.first_size, parameters.last_size
            ));
        }
        let target = target(&parameters.target, [latency, overhead, bandwidth], ranks)?;
        Ok(MupiPing { parameters: parameters.clone(), target })
    }

    fn notes(parameters: &PingParameters) -> Vec<(&'static str, String)> {
        notes(&parameters.target)
    }
}
