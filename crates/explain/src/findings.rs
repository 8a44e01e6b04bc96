//! The findings of a run.

use warpline_base::LpId;

/// What the run shows about its model. Work and lengths of paths are in the unit of the events'
/// costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// How many events there were.
    pub events: u64,
    /// The total cost of all events.
    pub work: u64,
    /// The critical path.
    pub path: PathFindings,
    /// The run in slices of equal model time.
    pub slices: Vec<Slice>,
    /// The speed-ups that some numbers of cores could reach.
    pub cores: Vec<CoreFindings>,
    /// The work of every LP that has any, most first.
    pub load: Vec<LpWork>,
    /// The least delay of every LP that sent to another, in ascending order.
    pub delays: Vec<LpDelay>,
}

/// The critical path: the longest chain of events of which each waits for the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFindings {
    /// The total cost of its events.
    pub length: u64,
    /// How many events are on it.
    pub events: u64,
    /// The number of events that had to wait for their message rather than for their LP.
    pub messages: u64,
    /// Its work by LP, most first. If the path has very many LPs, some of its work may be missing
    /// here.
    pub lps: Vec<LpWork>,
}

/// The work of an LP, or its share of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LpWork {
    /// The LP.
    pub lp: LpId,
    /// What its events cost.
    pub work: u64,
}

/// A slice of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Where it begins, in model time.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What its events cost.
    pub work: u64,
    /// The length that it adds to the critical path.
    pub path: u64,
}

/// Speed-ups over one core that a number of cores could reach if only events took time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreFindings {
    /// The number of cores.
    pub cores: u32,
    /// The number of PEs: at most one per core and per LP.
    pub pes: u32,
    /// A bound for every engine and every partition: the number of PEs, or what the critical path
    /// allows if that is less.
    pub any_engine: f64,
    /// A bound for every engine with this partition.
    pub these_blocks: f64,
    /// The speed-up of an engine whose PEs execute their events in the order of time, each as soon
    /// as its message has arrived.
    pub in_order: f64,
    /// The speed-up of an engine that advances in windows as long as the declared lookahead between
    /// PEs.
    pub declared: f64,
    /// The declared lookahead between PEs, in model time; infinite if PEs send each other nothing.
    pub declared_delay: f64,
    /// Like `declared`, if the model declared the least delay seen between PEs. `None` if that was
    /// seen so late that the rest of the run shows too little.
    pub seen: Option<f64>,
    /// The least delay seen between PEs; `None` if they sent each other nothing.
    pub seen_delay: Option<LpDelay>,
    /// The number of events that PEs sent to each other.
    pub messages: u64,
    /// The PE with the most work.
    pub busiest: BusiestPe,
}

/// The PE with the most work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusiestPe {
    /// Its number.
    pub pe: u32,
    /// Its first LP.
    pub first: LpId,
    /// Its last LP.
    pub last: LpId,
    /// Its work.
    pub work: u64,
}

/// The least delay with which an LP sent to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LpDelay {
    /// The sender.
    pub from: LpId,
    /// The receiver.
    pub to: LpId,
    /// The lookahead that the model declares for this pair.
    pub declared: f64,
    /// The least delay that was seen, in model time.
    pub seen: f64,
}

/// The speed-up over one core if `work` takes `time`.
pub(super) fn speed_up(work: u64, time: u64) -> f64 {
    if time == 0 { 1.0 } else { work as f64 / time as f64 }
}
