//! What tests of this crate share.

use std::panic::Location;

use crate::running::tables::Tables;
use crate::sim::Valued;

/// The tables of an LP with one process, which is being polled.
pub(crate) fn one_process() -> Tables {
    let mut tables = Tables::default();
    let key = tables.processes.add(Valued::new(async {}), None, Location::caller());
    tables.current = key.place;
    tables
}
