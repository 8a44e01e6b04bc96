//! Fetching ahead: loads coming events, their LPs and their payloads into the cache before their
//! turn.
//!
//! The sorted run of the ladder shows what comes next. So an engine whose tables exceed the nearest
//! cache prefetches events twelve places ahead, and their LPs and payloads six places ahead. On a
//! million LPs this doubles the rate. Which timers an LP has is fetched with it, the timers follow
//! three places ahead, and the event of its only timer one place ahead, as it may be cancelled.

use warpline_memory::Handle;
use warpline_model::Model;
use warpline_model::engine::{TimerTable, TimerTables};

/// How many events ahead an event is fetched.
const EVENT_AHEAD: usize = 12;
/// How many events ahead its LP and its payload are fetched. The event itself must be in the cache
/// by then.
const LP_AHEAD: usize = 6;
/// How many events ahead the timers of its LP are fetched. Which they are must be in the cache by
/// then.
const TIMERS_AHEAD: usize = 3;
/// How many events ahead the event of the only timer of its LP is fetched.
const TIMER_EVENT_AHEAD: usize = 1;
/// A working set of at most this many bytes stays in the nearest cache without being fetched ahead.
const CACHED_BYTES: usize = 32 << 10;

/// Whether a working set of this many bytes is worth fetching ahead.
#[inline]
pub(crate) fn pays(bytes: usize) -> bool {
    bytes > CACHED_BYTES
}

/// Prefetches one coming event with `event`, and the LP and payload of a nearer one with `rest_of`.
/// `upcoming` gives the event at a distance behind the first.
#[inline(always)]
pub(crate) fn fetch_ahead(
    upcoming: impl Fn(usize) -> Option<Handle>,
    event: impl FnOnce(Handle),
    rest_of: impl FnOnce(Handle),
) {
    if let Some(handle) = upcoming(EVENT_AHEAD) {
        event(handle);
    }
    if let Some(handle) = upcoming(LP_AHEAD) {
        rest_of(handle);
    }
}

/// Prefetches the timers of coming events' LPs, in a model that sets any. `index_of` gives the index
/// of an event's LP, and `fetch` prefetches an event.
#[inline(always)]
pub(crate) fn fetch_timers_ahead(
    tables: &TimerTables,
    upcoming: impl Fn(usize) -> Option<Handle>,
    index_of: impl Fn(Handle) -> usize,
    fetch: impl FnOnce(Handle),
) {
    if let Some(handle) = upcoming(LP_AHEAD) {
        tables.prefetch_of(index_of(handle));
    }
    if let Some(handle) = upcoming(TIMERS_AHEAD) {
        tables.prefetch(tables.of(index_of(handle)));
    }
    if let Some(handle) = upcoming(TIMER_EVENT_AHEAD)
        && let Some(timer) = tables.get(tables.of(index_of(handle))).and_then(TimerTable::only)
    {
        fetch(timer);
    }
}

/// Prefetches the first bytes of an event's payload, if it has one.
#[inline(always)]
pub(crate) fn fetch_payload<M: Model>(event: &M::Event) {
    if let Some(payload) = M::payload(event) {
        payload.prefetch();
    }
}
