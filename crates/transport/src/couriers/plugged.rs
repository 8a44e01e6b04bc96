use std::fmt;

use super::carrier::{Address, Carrier};

/// Carriers that come from outside this crate, between processes of one machine. Whoever plans a
/// run says which, as [`CarrierKind::Plugged`](super::CarrierKind::Plugged).
pub trait PluggedCarriers: fmt::Debug + Sync {
    /// Creates what they go through, in the first process: between this many couriers, for pieces
    /// of at most so many bytes.
    ///
    /// # Errors
    /// Those of the system, in words.
    fn create(&self, couriers: usize, piece: usize) -> Result<Box<dyn CarrierMedium>, String>;

    /// A carrier for each courier of this process, through what has this name. `couriers` are those
    /// of all processes.
    ///
    /// # Errors
    /// Likewise.
    fn join(
        &self,
        name: &str,
        process: u32,
        couriers: &[Address],
    ) -> Result<Vec<Box<dyn Carrier>>, String>;
}

/// What carriers go through. It loses its name when this is dropped; carriers that have joined it
/// keep it.
pub trait CarrierMedium {
    /// The name by which processes find it.
    fn name(&self) -> &str;
}
