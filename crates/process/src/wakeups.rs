//! How an LP has itself woken: it sends itself an event, which carries the wait.
//!
//! A wake-up whose wait was withdrawn is stale. It still arrives, finds no wait with its key, and
//! does nothing.

use crate::keys::WaitKey;
use crate::running::Services;
use crate::tables::Tables;

/// Has the LP woken for `wait` after `delay`.
#[inline]
pub(crate) fn set(lp: &mut dyn Services, delay: f64, wait: WaitKey) {
    lp.send_wake_up(delay, wait);
}

/// A wake-up has arrived. Returns the place of the process that waits for it, if any does.
#[inline]
pub(crate) fn arrive(tables: &mut Tables, wait: WaitKey) -> Option<u32> {
    tables.settle_wait(wait, 0)
}
