//! The barrier test of µπ: every rank computes for a millisecond, waits for all others, and does so
//! again.
//!
//! Source: K. Perumalla, A. Park and V. Tipparaju, "Discrete event execution with one-sided and
//! two-sided GVT algorithms on 216,000 processor cores", ACM TOMACS 24(3), 2014, §4.1.3.

use warpline::ranks::prelude::*;

use super::target::{notes, target};

/// The parameters of the barrier test.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct BarrierParameters {
    /// Number of ranks.
    #[parameter(default = 1024, range = 1..=100_000_000)]
    pub ranks: u32,
    /// Number of barriers.
    #[parameter(default = 10, range = 1..=1_000_000_000)]
    pub barriers: u32,
    /// What each rank computes before each barrier.
    #[parameter(unit = "ms", default = 1.0, range = 0.0..=1e9)]
    pub compute: f64,
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

/// The barrier test.
#[derive(Debug)]
pub struct MupiBarrier {
    parameters: BarrierParameters,
    target: Target,
}

const BARRIERS: Counter = Counter::slot(0);
const BARRIER_TIME: Mean = Mean::slot(1);
const RUN_TIME: Mean = Mean::slot(2);

impl RankProgram for MupiBarrier {
    fn ranks(&self) -> u32 {
        self.parameters.ranks
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(BARRIERS, "barriers", "", "barriers of all ranks");
        declare.mean(BARRIER_TIME, "barrier", "s", "time that a rank spends in a barrier");
        declare.mean(RUN_TIME, "run-time", "s", "time when a rank has left MPI");
    }

    async fn run(self: Arc<Self>, rank: Rank) {
        for _ in 0..self.parameters.barriers {
            rank.compute(self.parameters.compute * 1e-3).await;
            let begun = rank.wtime();
            rank.barrier().await;
            rank.count(BARRIERS, 1);
            rank.observe(BARRIER_TIME, rank.wtime() - begun);
        }
        rank.observe(RUN_TIME, rank.wtime());
    }
}

impl Configure for MupiBarrier {
    type Parameters = BarrierParameters;

    const NAME: &'static str = "mupi-barrier";
    const ABOUT: &'static str = "MPI ranks that compute and wait for each other, again and again";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 1e6;

    fn configure(parameters: &BarrierParameters) -> Result<Self, String> {
        let BarrierParameters { ranks, latency, overhead, bandwidth, .. } = *parameters;
        let target = target(&parameters.target, [latency, overhead, bandwidth], ranks)?;
        Ok(MupiBarrier { parameters: parameters.clone(), target })
    }

    fn notes(parameters: &BarrierParameters) -> Vec<(&'static str, String)> {
        notes(&parameters.target)
    }
}
