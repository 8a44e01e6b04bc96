//! How the tables of an LP name what is in them: by a place, and by how often it was used before.

use serde::{Deserialize, Serialize};
use warpline_model::Portable;

/// A wait of a process: its place in the LP's table, and the generation of that place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable, Serialize, Deserialize)]
pub struct WaitKey {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}

impl WaitKey {
    /// No wait.
    pub(crate) const NONE: WaitKey = WaitKey { place: 0, generation: 0 };

    /// Whether it is no wait.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.generation == 0
    }
}

/// A process: its place in the LP's table, and the generation of that place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessKey {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}
