//! The statistics of links and demands.

use warpline::{Counter, Histogram, TimeMean};

/// The share of time that each link transmits.
pub(super) const UTILISATION: TimeMean = TimeMean::slot(0);
/// Packets accepted by each link.
pub(super) const PACKETS: Counter = Counter::slot(1);
/// Packets dropped at each link.
pub(super) const DROPS: Counter = Counter::slot(2);
/// Packets sent by each demand's source.
pub(super) const OFFERED: Counter = Counter::slot(3);
/// Packets of each demand that were dropped.
pub(super) const LOST: Counter = Counter::slot(4);
/// Delays of each demand's packets; their count is that of packets delivered.
pub(super) const DELAY: Histogram = Histogram::slot(5);
/// Packets of each demand that are under way at the end.
pub(super) const UNDER_WAY: Counter = Counter::slot(6);
