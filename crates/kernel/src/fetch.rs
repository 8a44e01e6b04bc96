//! Fetching ahead: the memory of coming events, and of the LPs that they reach, is brought near before their turn.

use warpline_memory::Handle;

/// How many events ahead the memory of an event is fetched.
const EVENT_AHEAD: usize = 12;
/// How many events ahead that of its LP is. The event itself has to be there by then.
const LP_AHEAD: usize = 6;
/// A working set up to this many bytes stays in the nearest cache without being fetched ahead.
const CACHED_BYTES: usize = 32 << 10;

/// Whether a working set of so many bytes is worth fetching ahead.
#[inline]
pub(crate) fn pays(bytes: usize) -> bool {
    bytes > CACHED_BYTES
}

/// Fetches an event and an LP, given what is so many places behind the first event, and how to fetch an event and the LP of one.
#[inline(always)]
pub(crate) fn fetch_ahead(upcoming: impl Fn(usize) -> Option<Handle>, event: impl FnOnce(Handle), lp_of: impl FnOnce(Handle)) {
    if let Some(handle) = upcoming(EVENT_AHEAD) {
        event(handle);
    }
    if let Some(handle) = upcoming(LP_AHEAD) {
        lp_of(handle);
    }
}
