//! What a model sends, and the limits on it.

use warpline_base::{EventKind, LpId, Priority, VirtualTime};

use super::followed::Followed;
use crate::lookahead::Lookahead;

/// An event on its way from `handle` into the engine. Its sender is the current LP, and its
/// sequence number follows from its place in the outbox.
#[derive(Debug)]
pub struct Outgoing<E> {
    /// When it happens.
    pub time: VirtualTime,
    /// The receiver.
    pub to: LpId,
    /// The number of zero-delay hops that led to it.
    pub step: u32,
    /// Its priority.
    pub priority: Priority,
    /// Whether it is a timer.
    pub kind: EventKind,
    /// The payload.
    pub event: E,
}

/// The limits on what a model may send.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Receivers are `0..lps`.
    pub lps: u32,
    /// The least delays between LPs.
    pub lookahead: Lookahead,
    /// The maximum number of zero-delay hops at one instant.
    pub zero_delay_hops: u32,
    /// The maximum number of sends of one event.
    pub sends: u32,
    /// The end of the run, in model time.
    pub end: f64,
    /// The LPs that tell what their processes do.
    pub followed: Followed,
}

impl Limits {
    /// The default for `zero_delay_hops`.
    pub const ZERO_DELAY_HOPS: u32 = 1_000_000;
}
