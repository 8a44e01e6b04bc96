/// What PEs did with buffers. Summed over all PEs, `places == free + live + in_flight() +
/// in_common()`: no buffer is lost.
///
/// ```
/// let mut views = warpline_memory::buffers(2);
/// let handle = views[0].insert(1, 'a');
/// let mut all = views[0].books();
/// all.merge(&views[1].books());
/// assert_eq!((all.live, all.in_flight()), (0, 1));
/// assert_eq!(all.places, all.free + 1); // new buffers are made in runs
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Books {
    /// Values put into buffers.
    pub inserted: u64,
    /// Buffers freed.
    pub released: u64,
    /// Buffers sent to other PEs with a value.
    pub given: u64,
    /// Buffers accepted from other PEs.
    pub accepted: u64,
    /// Free buffers sent back to their partners.
    pub returned: u64,
    /// Free buffers returned by partners.
    pub taken_back: u64,
    /// Free buffers given to the pool that all PEs share.
    pub deposited: u64,
    /// Free buffers taken from there.
    pub withdrawn: u64,
    /// Buffers with a value now, not counting those in flight.
    pub live: u64,
    /// Buffers ever made.
    pub places: u64,
    /// Free buffers now, not counting those in the pool that all PEs share.
    pub free: u64,
}

impl Books {
    /// Adds the books of another PE.
    pub fn merge(&mut self, other: &Books) {
        self.inserted += other.inserted;
        self.released += other.released;
        self.given += other.given;
        self.accepted += other.accepted;
        self.returned += other.returned;
        self.taken_back += other.taken_back;
        self.deposited += other.deposited;
        self.withdrawn += other.withdrawn;
        self.live += other.live;
        self.places += other.places;
        self.free += other.free;
    }

    /// Buffers sent and not yet received. Meaningful only for the sum over all PEs, while they are
    /// at rest.
    pub fn in_flight(&self) -> u64 {
        (self.given + self.returned).saturating_sub(self.accepted + self.taken_back)
    }

    /// Free buffers in the pool that all PEs share. Likewise: each PE tells what it has done, as
    /// others go on while one looks.
    pub fn in_common(&self) -> u64 {
        self.deposited.saturating_sub(self.withdrawn)
    }
}
