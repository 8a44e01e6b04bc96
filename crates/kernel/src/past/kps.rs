use std::num::NonZeroU64;

use warpline_base::VirtualTime;
use warpline_memory::list_of;

/// A kernel process: LPs of a PE that roll back together.
#[derive(Clone, Copy, Debug, Default)]
struct Kp {
    /// The place in the history of its last executed event, if any. Its record may be closed.
    last: Option<NonZeroU64>,
    /// The time of that event: an event at or before it may be a straggler. Zero if there is none.
    last_time: VirtualTime,
}

/// The KPs of a PE.
///
/// Invariant: the number of an LP's KP is the LP's index without its last `shift` bits.
#[derive(Debug)]
pub(super) struct Kps {
    table: Vec<Kp>,
    shift: u32,
}

impl Kps {
    /// At most `most` KPs for this many LPs.
    pub(super) fn new(lps: usize, most: u32) -> Self {
        let shift = (lps as u32).div_ceil(most).next_power_of_two().ilog2();
        Kps { table: list_of(Kp::default(), lps.div_ceil(1 << shift), "the table of KPs"), shift }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Kp>()
    }

    /// The KP of an LP, by its index.
    #[inline(always)]
    pub(super) fn of(&self, index: usize) -> usize {
        index >> self.shift
    }

    /// The place of the last executed event of a KP, if any.
    #[inline(always)]
    pub(super) fn last(&self, k: usize) -> Option<NonZeroU64> {
        self.table[k].last
    }

    /// Whether an event at this time may come before the last executed one of a KP.
    #[inline(always)]
    pub(super) fn may_straggle(&self, k: usize, time: VirtualTime) -> bool {
        time <= self.table[k].last_time
    }

    /// Makes the event recorded at `place`, at this time, the last of a KP.
    #[inline]
    pub(super) fn set_last(&mut self, k: usize, place: u64, time: VirtualTime) {
        self.table[k] = Kp { last: NonZeroU64::new(place), last_time: time };
    }

    /// Makes the event before the last, if any, the last of a KP, as that was undone.
    #[inline]
    pub(super) fn step_back(&mut self, k: usize, before: Option<NonZeroU64>) {
        self.table[k].last = before;
    }

    /// Sets the time of the last event, if any, of a KP that has rolled back.
    pub(super) fn set_last_time(&mut self, k: usize, time: Option<VirtualTime>) {
        self.table[k].last_time = time.unwrap_or(VirtualTime::ZERO);
    }
}
