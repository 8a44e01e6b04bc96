/// What is known of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The sender's rank in the communicator; `None` if there was none, as in `MPI_PROC_NULL`.
    pub source: Option<u32>,
    /// The tag.
    pub tag: u32,
    /// The number of bytes.
    pub bytes: u64,
    /// Whether the request was withdrawn before it found a message.
    pub is_cancelled: bool,
}
