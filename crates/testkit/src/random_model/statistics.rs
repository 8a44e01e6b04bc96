//! The statistics and tables that random models declare.

use warpline::{Counter, Histogram, Mean, Table, TimeMean};

pub(super) const EVENTS: Counter = Counter::slot(0);
pub(super) const ENERGY: Mean = Mean::slot(1);
pub(super) const LEVELS: TimeMean = TimeMean::slot(2);
pub(super) const DELAYS: Histogram = Histogram::slot(3);
pub(super) const COMMITTED: Counter = Counter::slot(4);
pub(super) const BUSY: TimeMean = TimeMean::slot(5);
pub(super) const LATE: Mean = Mean::slot(6);
pub(super) const SIZES: Histogram = Histogram::slot(7);
pub(super) const OVERFLOWING: Counter = Counter::slot(8);
pub(super) const VISITS: Table = Table(0);
pub(super) const ENDS: Table = Table(1);
