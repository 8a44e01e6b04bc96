use warpline_memory::Region;

/// The PEs of all processes.
pub(crate) struct AllPes {
    /// The region of what they share.
    pub(crate) region: Region,
    pub(crate) pes: u32,
    /// The first of this process.
    pub(crate) first: u32,
}
