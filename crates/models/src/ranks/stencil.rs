//! A stencil on a grid of ranks: each exchanges the borders of its part with its four neighbours,
//! computes, and all find out from time to time how far they have come.

use warpline::ranks::prelude::*;

use super::target::{notes, target};

/// The parameters of the stencil.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct StencilParameters {
    /// Number of ranks, which lie on a grid that is as square as can be.
    #[parameter(default = 1024, range = 1..=100_000_000)]
    pub ranks: u32,
    /// Number of iterations.
    #[parameter(default = 100, range = 1..=1_000_000_000)]
    pub iterations: u32,
    /// Points along each side of a rank's part.
    #[parameter(default = 256, range = 1..=1_000_000)]
    pub side: u32,
    /// What a rank computes for each point.
    #[parameter(unit = "ns", default = 1.0, range = 0.0..=1e6)]
    pub point: f64,
    /// After how many iterations all ranks find the greatest change, by an all-reduce.
    #[parameter(default = 10, range = 1..=1_000_000_000)]
    pub check_every: u32,
    /// Latency of the network.
    #[parameter(unit = "µs", default = 1.0, range = 1e-3..=1e6)]
    pub latency: f64,
    /// What a message costs the rank that sends it, and the one that receives it.
    #[parameter(unit = "µs", default = 0.0, range = 0.0..=1e6)]
    pub overhead: f64,
    /// Bandwidth of the network.
    #[parameter(unit = "Gb/s", default = 10.0, range = 1e-6..=1e6)]
    pub bandwidth: f64,
    /// The machine whose network it is, a profile or a file; if empty, a flat network of the latency,
    /// overhead and bandwidth given.
    pub target: String,
}

/// The stencil.
#[derive(Debug)]
pub struct Stencil {
    parameters: StencilParameters,
    target: Target,
}

const ITERATIONS: Counter = Counter::slot(0);
const EXCHANGE: Mean = Mean::slot(1);
const CHECK: Mean = Mean::slot(2);
const RUN_TIME: Mean = Mean::slot(3);
const BYTES_OF_A_POINT: u64 = 8;

impl RankProgram for Stencil {
    fn ranks(&self) -> u32 {
        self.parameters.ranks
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(ITERATIONS, "iterations", "", "iterations of all ranks");
        declare.mean(EXCHANGE, "exchange", "s", "time that a rank waits for its neighbours");
        declare.mean(CHECK, "check", "s", "time that a rank spends in an all-reduce");
        declare.mean(RUN_TIME, "run-time", "s", "time when a rank has left MPI");
    }

    async fn run(self: Arc<Self>, rank: Rank) {
        let StencilParameters { iterations, side, point, check_every, .. } = self.parameters;
        let sides = Comm::sides(rank.size(), 2);
        let Some(grid) = rank.cartesian(&sides, &[false; 2]).await else { return };
        let (west, east) = grid.shift(1, 1);
        let (north, south) = grid.shift(0, 1);
        let neighbours = [west, east, north, south];
        // The tag says which border it is: what goes west comes from the east.
        let [tags_out, tags_in] = [[0, 1, 2, 3], [1, 0, 3, 2]];
        let border = u64::from(side) * BYTES_OF_A_POINT;
        for iteration in 1..=iterations {
            let begun = rank.wtime();
            let receives = neighbours.into_iter().zip(tags_in);
            let mut requests: Vec<Request> =
                receives.map(|(from, tag)| grid.irecv(from, tag, border)).collect();
            let sends = neighbours.into_iter().zip(tags_out);
            requests.extend(sends.map(|(to, tag)| grid.isend(to, tag, Data::size(border))));
            wait_all(requests).await;
            rank.observe(EXCHANGE, rank.wtime() - begun);
            rank.compute(f64::from(side) * f64::from(side) * point * 1e-9).await;
            rank.count(ITERATIONS, 1);
            if iteration.is_multiple_of(check_every) {
                let begun = rank.wtime();
                grid.allreduce(Op::Max, Data::size(BYTES_OF_A_POINT)).await;
                rank.observe(CHECK, rank.wtime() - begun);
            }
        }
        rank.observe(RUN_TIME, rank.wtime());
    }
}

impl Configure for Stencil {
    type Parameters = StencilParameters;

    const NAME: &'static str = "stencil";
    const ABOUT: &'static str = "MPI ranks on a grid that exchange borders with their neighbours";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 1e6;

    fn configure(parameters: &StencilParameters) -> Result<Self, String> {
        let StencilParameters { ranks, latency, overhead, bandwidth, .. } = *parameters;
        let target = target(&parameters.target, [latency, overhead, bandwidth], ranks)?;
        Ok(Stencil { parameters: parameters.clone(), target })
    }

    fn notes(parameters: &StencilParameters) -> Vec<(&'static str, String)> {
        notes(&parameters.target)
    }
}
