//! The algorithms by name, and what an engine has to know of each before it makes one. Settings,
//! messages, tests and the fuzzer draw from this list.

warpline_base::words! {
    /// How the PEs of a parallel run find global virtual time. The answer does not depend on it.
    ///
    /// ```
    /// use warpline_kernel::gvt::GvtAlgorithm;
    /// let two = [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous];
    /// assert_eq!(two.map(GvtAlgorithm::name), ["asynchronous", "synchronous"]);
    /// ```
    #[non_exhaustive]
    pub enum GvtAlgorithm {
        /// By epochs, while events are executed; PEs send each other messages about it.
        #[default]
        Asynchronous = "asynchronous",
        /// All PEs stop executing events until it is found.
        Synchronous = "synchronous",
        /// By epochs, while events are executed; PEs write into each other's memory.
        OneSided = "one-sided",
        /// From registers that PEs keep up to date in shared memory: those of a Global
        /// Synchronization Unit.
        Gsu = "gsu",
    }
}

impl GvtAlgorithm {
    /// Whether all PEs must share memory.
    pub fn needs_shared_memory(self) -> bool {
        self == GvtAlgorithm::Gsu
    }

    /// Whether PEs [write](super::Action::Write) into each other's memory, instead of sending
    /// control messages.
    pub fn writes(self) -> bool {
        self == GvtAlgorithm::OneSided
    }
}
