//! The parameters of `phold`.

use warpline::prelude::*;

/// The parameters of `phold`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct PholdParameters {
    /// Number of LPs.
    #[parameter(default = 8192, range = 1..)]
    pub lps: u32,
    /// Messages per LP at the start, and on average for ever.
    #[parameter(unit = "messages", default = 1, range = 1..=1_000_000)]
    pub population: u32,
    /// Mean of the exponential part of a delay.
    #[parameter(default = 1.0, range = 1e-9..=1e9)]
    pub mean: f64,
    /// Constant part of a delay: the lookahead.
    #[parameter(default = 0.1, range = 0.0..=1e9)]
    pub lookahead: f64,
    /// Size of a message's payload: a number of 8 bytes, and behind it bytes that stay the same
    /// from hop to hop.
    #[parameter(unit = "bytes", default = 8, range = 0..=65_536)]
    pub payload: u32,
    /// Event granularity: iterations of floating-point work per event, of some nanoseconds each.
    #[parameter(unit = "iterations", range = 0..)]
    pub epg: u32,
    /// Number of clusters of consecutive LPs, which must divide the LPs; 1 sends everything to any
    /// LP.
    #[parameter(default = 1, range = 1..)]
    pub clusters: u32,
    /// With several clusters: the probability that a message leaves its cluster.
    #[parameter(default = 0.1, range = 0.0..=1.0)]
    pub remote: f64,
    /// With several clusters: how many clusters away a message may go, on a ring; 0 is anywhere.
    #[parameter(unit = "clusters", range = 0..)]
    pub reach: u32,
    /// Whether to show the workload: events and messages over time, delays, and how events are
    /// spread over LPs. It takes time at every event.
    #[parameter(default = false)]
    pub plots: bool,
}
