//! How fast a model could be on more cores, and what stands in the way.

use warpline_kernel::{CORE_COUNTS, Findings};

use crate::EventCost;

/// The numbers of cores about which an [`Explanation`] says something.
pub const CORES: [u32; CORE_COUNTS] = [2, 8, 64, 1000];

/// What one sequential run shows about the parallelism of its model; [`Simulation::explain`](crate::Simulation::explain) has an example.
///
/// An event begins when its LP has executed the one before it there, and when the event that sent it has been executed. The longest chain
/// of events that wait for each other so is the critical path. No engine here can be done before its end, as all of them execute every
/// event after everything that it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
    /// The end of the run, in model units.
    pub end: f64,
    /// What an event costs: `work` and `path` in the findings are numbers of events, or nanoseconds.
    pub cost: EventCost,
    /// The digest of the history, equal to that of a run.
    pub digest: String,
    /// What was found, for the [`CORES`] in turn.
    pub findings: Findings,
}

impl Explanation {
    /// How many events go on at a time, on average, if nothing but the critical path holds them up; 1 if there were none.
    pub fn parallelism(&self) -> f64 {
        let Findings { work, ref path, .. } = self.findings;
        if path.length == 0 { 1.0 } else { work as f64 / path.length as f64 }
    }
}
