//! The findings of a run.

use warpline_base::LpId;

/// What the run shows about its model. Work, and lengths of paths, are in the unit of the events'
/// costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// How many events there were.
    pub events: u64,
    /// What all events cost.
    pub work: u64,
    /// The critical path.
    pub path: PathFindings,
    /// The run in slices of equal model time.
    pub slices: Vec<Slice>,
    /// What some numbers of cores could reach.
    pub cores: Vec<CoreFindings>,
    /// The work of every LP that has any, most first.
    pub load: Vec<LpWork>,
    /// For every LP that sent to another: its least delay, least first.
    pub delays: Vec<LpDelay>,
}

/// The critical path: the longest chain of events of which each waits for the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFindings {
    /// What its events cost together.
    pub length: u64,
    /// How many events are on it.
    pub events: u64,
    /// How many of them had to wait for their message, rather than for their LP.
    pub messages: u64,
    /// The work on it by LP, most first. If the path has very many LPs, some of its work may be
    /// missing here.
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
    /// By how much it lengthens the critical path.
    pub path: u64,
}

/// Speed-ups over one core that a number of cores could reach, if nothing but the events themselves
/// took time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreFindings {
    /// The number of cores.
    pub cores: u32,
    /// How many of them have a PE: no more than there are LPs.
    pub pes: u32,
    /// A bound for every engine, whichever LPs its cores execute: as many times as there are cores,
    /// or as the critical path allows.
    pub any_engine: f64,
    /// A bound for engines whose PEs have the LPs that they have here.
    pub these_blocks: f64,
    /// An engine whose PEs execute their events one after the other in the order of time, each as
    /// soon as its message is there.
    pub in_order: f64,
    /// An engine that goes from window to window, each as long as the declared lookahead between
    /// PEs.
    pub declared: f64,
    /// The declared lookahead between PEs, in model time; infinite if PEs send each other nothing.
    pub declared_delay: f64,
    /// The same, if the least delay that was seen between PEs were declared. `None` if it was seen
    /// so late that the rest of the run shows too little.
    pub seen: Option<f64>,
    /// The least delay seen between PEs; `None` if they sent each other nothing.
    pub seen_delay: Option<LpDelay>,
    /// How many events PEs sent to each other.
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

/// The speed-up over one core of work that takes this long.
pub(super) fn speed_up(work: u64, time: u64) -> f64 {
    if time == 0 { 1.0 } else { work as f64 / time as f64 }
}
