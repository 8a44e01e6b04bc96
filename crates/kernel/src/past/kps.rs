use warpline_base::VirtualTime;
use warpline_memory::list_of;

/// A kernel process: LPs of a PE that roll back together.
#[derive(Clone, Copy, Debug, Default)]
struct Kp {
    /// The place in the history of its last executed event, which may be closed; 0 for none.
    last: u64,
    /// The time of that event, as bits: an event at or before it may be a straggler.
    last_time: u64,
}

/// The KPs of a PE.
///
/// Invariant: the number of an LP's KP is the LP's own number without some low bits, the same
/// number of bits for all.
#[derive(Debug)]
pub(super) struct Kps {
    table: Vec<Kp>,
    shift: u32,
}

impl Kps {
    /// For so many LPs, at most so many KPs.
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

    /// The place of the last executed event of a KP; 0 for none.
    #[inline(always)]
    pub(super) fn last(&self, k: usize) -> u64 {
        self.table[k].last
    }

    /// Whether an event at this time may come before the last executed one of a KP.
    #[inline(always)]
    pub(super) fn may_straggle(&self, k: usize, time: VirtualTime) -> bool {
        time.bits() <= self.table[k].last_time
    }

    /// The last event of a KP is now the one at `place`, at this time.
    #[inline]
    pub(super) fn set_last(&mut self, k: usize, place: u64, time: VirtualTime) {
        self.table[k] = Kp { last: place, last_time: time.bits() };
    }

    /// The last event of a KP was undone: the one at `place` is the last now.
    #[inline]
    pub(super) fn step_back(&mut self, k: usize, place: u64) {
        self.table[k].last = place;
    }

    /// Sets the time of the last event of a KP that has rolled back.
    pub(super) fn set_last_time(&mut self, k: usize, time: Option<VirtualTime>) {
        self.table[k].last_time = time.map_or(0, VirtualTime::bits);
    }
}
