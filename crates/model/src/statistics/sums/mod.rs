//! Sums of observations. They are exact, so the order of observations does not matter.

pub(super) mod estimate;
pub(super) mod exact_sum;
pub(super) mod extremes;
pub(super) mod horizon;
pub(super) mod level_stretches;
mod magnitude;
pub(super) mod spread;
pub(super) mod stretches;
