use serde::{Deserialize, Serialize};
use warpline_memory::CasCounts;

/// The work that couriers have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CourierCounts {
    /// Batches sent.
    pub batches: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages by value in them.
    pub values: u64,
    /// How often there was no room for a batch.
    pub refused: u64,
    /// What became of the messages that PEs pushed into rings that they share.
    pub cas: CasCounts,
}

impl std::ops::Add for CourierCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        CourierCounts {
            batches: self.batches + other.batches,
            bytes: self.bytes + other.bytes,
            values: self.values + other.values,
            refused: self.refused + other.refused,
            cas: self.cas + other.cas,
        }
    }
}
