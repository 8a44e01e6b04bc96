//! How an LP has itself woken: it sends itself an event, which carries the wait.
//!
//! The event is a plain one, which costs least, or a timer, which is cancelled when the wait is
//! withdrawn. A time-out is a timer, as it is usually withdrawn. A sleep is usually not. So sleeps
//! are plain events until a process of the LP withdraws one, and timers from then on, as it is likely
//! to do so again. What is pending is thus what is waited for, but for the sleeps that were pending at
//! that moment: if they are withdrawn, too, their wake-ups arrive, find no wait with their key, and do
//! nothing.

use std::panic::Location;

use crate::keys::WaitKey;
use crate::running::Running;
use crate::running::tables::Tables;
use crate::running::waits::What;

/// Begins a sleep of the process that is polled.
#[inline]
pub(crate) fn sleep(
    running: &mut Running<'_>,
    delay: f64,
    at: &'static Location<'static>,
) -> WaitKey {
    if running.tables.withdraws_sleeps {
        return time_out(running, delay, at);
    }
    let until = running.now + delay;
    let wait = running.tables.begin_wait(What::Time(until), running.now, at);
    running.lp.send_wake_up(delay, wait);
    wait
}

/// Begins a time-out of the process that is polled.
pub(crate) fn time_out(
    running: &mut Running<'_>,
    delay: f64,
    at: &'static Location<'static>,
) -> WaitKey {
    let until = running.now + delay;
    let wait = running.tables.begin_wait(What::Time(until), running.now, at);
    let alarm = running.lp.set_alarm(delay, wait);
    if let Some(wait) = running.tables.waits.get_mut(wait) {
        wait.what = What::Alarm(until, alarm);
    }
    wait
}

/// A sleep or time-out is withdrawn, if it is not over.
#[cold]
pub(crate) fn withdraw(running: &mut Running<'_>, wait: WaitKey) {
    match running.tables.end_wait(wait) {
        Some(wait) if wait.is_over => {}
        Some(wait) => match wait.what {
            What::Alarm(_, alarm) => running.lp.cancel_alarm(alarm),
            _ => running.tables.withdraws_sleeps = true,
        },
        None => {}
    }
}

/// A wake-up has arrived. Returns the place of the process that waits for it, if any does.
#[inline]
pub(crate) fn arrive(tables: &mut Tables, wait: WaitKey) -> Option<u32> {
    tables.settle_wait(wait, 0)
}
