use serde::{Deserialize, Serialize};
use warpline_kernel::Position;
use warpline_memory::Exhausted;

/// Where memory ran out, and why.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct OutOfMemory {
    /// `None` for the thread that watches the PEs.
    pub(crate) place: Option<Position>,
    pub(crate) why: Exhausted,
}
