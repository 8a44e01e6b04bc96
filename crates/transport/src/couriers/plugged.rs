use std::fmt;

use super::carrier::{Address, Carrier};

/// Carriers from outside this crate, between processes of one machine. A plan names them as
/// [`CarrierKind::Plugged`](super::CarrierKind::Plugged).
pub trait PluggedCarriers: fmt::Debug + Sync {
    /// Creates, in the first process, the medium that they go through: between this many couriers,
    /// for pieces of at most so many bytes.
    ///
    /// # Errors
    /// Those of the system, in words.
    fn create(&self, couriers: usize, piece: usize) -> Result<Box<dyn CarrierMedium>, String>;

    /// A carrier for each courier of this process, through the medium with this name. `couriers`
    /// are those of all processes.
    ///
    /// # Errors
    /// Those of the system, in words.
    fn join(
        &self,
        name: &str,
        process: u32,
        couriers: &[Address],
    ) -> Result<Vec<Box<dyn Carrier>>, String>;
}

/// What carriers go through. When this is dropped, the medium loses its name, but stays with the
/// carriers that have joined it.
pub trait CarrierMedium {
    /// The name by which processes find it.
    fn name(&self) -> &str;
}
