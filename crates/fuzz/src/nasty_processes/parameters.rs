//! The parameters of `nasty-processes`.

use warpline::Choices;
use warpline::prelude::*;

use crate::nasty::Delays;

/// The parameters of `nasty-processes`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub(crate) struct NastyProcessesParameters {
    /// Number of LPs.
    #[parameter(default = 8, range = 1..=65_536)]
    pub lps: u32,
    /// So many of every four LPs handle events, instead of having processes.
    #[parameter(default = 0, range = 0..=3)]
    pub handlers: u32,
    /// Processes of each LP at the start.
    #[parameter(default = 3, range = 1..=1000)]
    pub starters: u32,
    /// Acts that each of these may bring about, its own included.
    #[parameter(default = 20, range = 1..=100_000)]
    pub energy: u32,
    /// The least delay between LPs, as declared.
    #[parameter(default = 0.5, range = 0.0..=1e9)]
    pub lookahead: f64,
    /// How delays beyond that are distributed.
    #[parameter(default = Delays::Exponential)]
    pub delays: Delays,
    /// Share of delays that are the least possible.
    #[parameter(default = 0.2, range = 0.0..=1.0)]
    pub zero: f64,
    /// Share of sleeps and time-outs that last for the largest time there is.
    #[parameter(default = 0.0, range = 0.0..=1.0)]
    pub never: f64,
    /// Share of waits without a time-out.
    #[parameter(default = 0.1, range = 0.0..=1.0)]
    pub patience: f64,
    /// Units of each resource, and room in each store, at the start.
    #[parameter(default = 2, range = 1..=1000)]
    pub capacity: u32,
    /// Whether messages have priorities.
    #[parameter(default = false)]
    pub priorities: bool,
    /// Whether ties are decided by a hash.
    #[parameter(default = false)]
    pub unbiased: bool,
    /// What a process of an LP in the middle does wrong.
    #[parameter(default = ProcessMistake::None)]
    pub mistake: ProcessMistake,
    /// The number of the act in which it does, among all of that LP.
    #[parameter(default = 5, range = 1..)]
    pub mistake_at: u64,
    /// Whether acts record rows.
    #[parameter(default = true)]
    pub rows: bool,
}

/// What a process can do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub(crate) enum ProcessMistake {
    /// Nothing.
    None,
    /// It panics.
    Panic,
    /// It says that it fails.
    Fail,
    /// It sleeps for NaN.
    Nan,
    /// It sleeps for a negative time.
    Negative,
    /// It sends to an LP that is not there.
    Stranger,
    /// It sleeps for no time, for ever.
    Loop,
    /// It waits for its own end.
    Join,
    /// It awaits what is not the simulation's.
    Foreign,
    /// It triggers a signal twice.
    Twice,
}
