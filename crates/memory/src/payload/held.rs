//! How much memory the payloads of this process hold, so that a [`Budget`](crate::Budget) knows at
//! once, and not only when the system is asked.

use std::sync::atomic::{AtomicU64, Ordering};

/// In bytes, without memory that processes share. A block that has come back counts until its chunk
/// is freed.
static HELD: AtomicU64 = AtomicU64::new(0);

// Relaxed throughout: no other data depends on this number.
pub(super) fn add(bytes: usize) {
    HELD.fetch_add(bytes as u64, Ordering::Relaxed);
}

pub(super) fn subtract(bytes: usize) {
    HELD.fetch_sub(bytes as u64, Ordering::Relaxed);
}

pub(crate) fn bytes() -> u64 {
    HELD.load(Ordering::Relaxed)
}
