/// Where a courier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its process.
    pub process: u32,
    /// Its number there.
    pub courier: u32,
}

/// Brings pieces of bytes to the couriers of other processes, and takes in what comes from them.
/// Pieces from one carrier to another arrive in the order in which they were sent. No call blocks.
///
/// Errors are those of the system, in words; none can be recovered from.
pub trait Carrier: Send {
    /// Whether there is room for a piece, as far as can be told without sending it.
    ///
    /// # Errors
    /// See [`Carrier`].
    fn has_room(&mut self, to: Address) -> Result<bool, String>;

    /// Sends a piece that is no longer than the carrier was made for. Call it only if there [seems
    /// to be room](Self::has_room). Returns whether there was; otherwise nothing has been sent.
    ///
    /// # Errors
    /// See [`Carrier`].
    fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String>;

    /// Passes the pieces that have arrived to `take`. Returns whether any have.
    ///
    /// # Errors
    /// See [`Carrier`].
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String>;

    /// Goes on sending, and returns whether everything has left.
    ///
    /// # Errors
    /// See [`Carrier`].
    fn progress(&mut self) -> Result<bool, String>;

    /// Whether the system may write into its memory while anything is on its way.
    fn is_written_into(&self) -> bool {
        false
    }
}
