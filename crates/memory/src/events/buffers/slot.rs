//! A buffer: a value, and what its sender and its receiver write beside it.

use std::mem::MaybeUninit;

use super::status::Status;
use crate::Handle;
use crate::sync::{AtomicU8, AtomicU16, AtomicU32, Ordering, UnsafeCell};

/// The tag of a slot without a value: free, or never used.
pub(super) const FREE: u32 = 0;
/// The phase of a slot whose value belongs to the PE in the tag.
pub(super) const LIVE: u32 = 1;
/// The phase of a slot in flight to the PE in the tag.
pub(super) const SENT: u32 = 2;
/// The phase of a slot without a value in flight to the PE in the tag.
pub(super) const EMPTY: u32 = 3;
/// The phase of a slot of the PE in the tag, without a value: its message is over.
pub(super) const OVER: u32 = 4;

/// A tag's bits for the phase. The others are the PE.
const PHASE_BITS: u32 = 8;
/// Buffers serve fewer PEs than this: their numbers have 24 bits.
pub(super) const PES_END: u32 = 1 << (32 - PHASE_BITS);

/// The tag of a slot in this phase with this PE.
#[inline(always)]
pub(super) fn tag(phase: u32, pe: u32) -> u32 {
    pe << PHASE_BITS | phase
}

/// The phase in a tag.
pub(super) fn phase(tag: u32) -> u32 {
    tag % (1 << PHASE_BITS)
}

/// The PE in a tag.
#[inline(always)]
pub(super) fn pe_of(tag: u32) -> u32 {
    tag >> PHASE_BITS
}

/// Not the number of any slot, as the directory's last segment is never made.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// A value and its header of 16 bytes: an event of 48 bytes makes a cache line.
#[repr(C, align(64))]
pub(crate) struct Slot<T> {
    tag: AtomicU32,
    /// The number of the buffer that the message links to, or [`NO_SLOT`].
    next: AtomicU32,
    /// The partner's number, in two parts.
    partner: AtomicU16,
    partner_high: AtomicU8,
    status: Status,
    /// Of a slot with a message: a word for the engine. Of a free slot in a chain: the number of the
    /// one behind it. Unlike `next`, only the keeper ever writes it.
    mark: AtomicU32,
    /// There is a value if and only if the phase is [`LIVE`] or [`SENT`].
    value: UnsafeCell<MaybeUninit<T>>,
}

// Relaxed accesses here are those of the keeper alone, or of what the tag or a lock has published.
impl<T> Slot<T> {
    /// All zeros would be one as well, except under loom.
    #[cfg(loom)]
    pub(super) fn free() -> Self {
        Slot {
            tag: AtomicU32::new(FREE),
            next: AtomicU32::new(NO_SLOT),
            partner: AtomicU16::new(0),
            partner_high: AtomicU8::new(0),
            status: Status::pending(),
            mark: AtomicU32::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// The tag, for a PE that has written it itself.
    #[inline(always)]
    pub(super) fn tag(&self) -> u32 {
        self.tag.load(Ordering::Relaxed)
    }

    /// The tag, and with it all that the PE wrote before that [sent](Self::send) it.
    #[inline(always)]
    pub(super) fn arrived_tag(&self) -> u32 {
        // Acquire pairs with the Release of `send`.
        self.tag.load(Ordering::Acquire)
    }

    /// Replaces the tag of a slot that stays with its PE.
    #[inline(always)]
    pub(super) fn set_tag(&self, tag: u32) {
        self.tag.store(tag, Ordering::Relaxed);
    }

    /// Replaces the tag, and publishes everything in the slot to the PE that the tag names.
    #[inline(always)]
    pub(super) fn send(&self, tag: u32) {
        // Release pairs with the Acquire of `arrived_tag`.
        self.tag.store(tag, Ordering::Release);
    }

    /// The PE that the slot came from and returns to.
    #[inline(always)]
    pub(super) fn partner(&self) -> u32 {
        let high = self.partner_high.load(Ordering::Relaxed);
        u32::from(high) << 16 | u32::from(self.partner.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn set_partner(&self, partner: u32) {
        self.partner.store(partner as u16, Ordering::Relaxed);
        self.partner_high.store((partner >> 16) as u8, Ordering::Relaxed);
    }

    /// The buffer that the message links to.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<Handle> {
        let next = self.next.load(Ordering::Relaxed);
        (next != NO_SLOT).then(|| Handle::from_bits(next))
    }

    #[inline(always)]
    pub(super) fn set_next(&self, next: Option<Handle>) {
        self.next.store(next.map_or(NO_SLOT, Handle::bits), Ordering::Relaxed);
    }

    /// The number of the free slot behind this one in a [chain](super::pools).
    #[inline(always)]
    pub(super) fn behind(&self) -> u32 {
        self.mark.load(Ordering::Relaxed)
    }

    /// Puts a free slot in front of the one with this number. Only its keeper may do so.
    #[inline(always)]
    pub(super) fn set_behind(&self, number: u32) {
        self.mark.store(number, Ordering::Relaxed);
    }

    /// The word that the sender wrote for the engine.
    #[inline(always)]
    pub(super) fn mark(&self) -> u32 {
        self.mark.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn status(&self) -> &Status {
        &self.status
    }

    /// Puts a message into a free slot: pending, and with what the receiver needs to know beside
    /// its value. It is published by what follows, [`send`](Self::send) or
    /// [`set_tag`](Self::set_tag).
    ///
    /// # Safety
    /// The caller keeps the slot, and there is no value in it.
    #[inline(always)]
    pub(super) unsafe fn fill(
        &self,
        partner: u32,
        mark: u32,
        next: Option<Handle>,
        value: impl FnOnce() -> T,
    ) {
        // SAFETY: nobody else reaches the value, as the caller keeps the slot, and there is none to
        // drop.
        self.value.with_mut(|place| unsafe { *place = MaybeUninit::new(value()) });
        self.set_partner(partner);
        self.status.reset();
        self.set_next(next);
        self.mark.store(mark, Ordering::Relaxed);
    }

    /// The value.
    ///
    /// # Safety
    /// There is one, and nobody writes or takes it as long as it is borrowed.
    #[inline(always)]
    pub(super) unsafe fn value(&self) -> &T {
        // SAFETY: the caller's promise.
        self.value.with(|value| unsafe { (*value).assume_init_ref() })
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// There was one, the caller keeps the slot, and by its tag there is none any more.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the caller's promise: nobody else reaches the value, and nobody will.
        self.value.with_mut(|value| unsafe { (*value).assume_init_read() })
    }

    /// Drops the value, which may panic.
    ///
    /// # Safety
    /// As for [`take`](Self::take).
    #[inline(always)]
    pub(super) unsafe fn drop_value(&self) {
        // SAFETY: as above.
        self.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn an_event_of_48_bytes_makes_a_cache_line() {
        assert_eq!((size_of::<Slot<[u64; 6]>>(), align_of::<Slot<[u64; 6]>>()), (64, 64));
        assert_eq!(offset_of!(Slot<[u64; 6]>, value), 16);
        assert!(offset_of!(Slot<u8>, value) <= 16);
        assert_eq!(size_of::<Slot<[u64; 7]>>(), 128);
    }
}
