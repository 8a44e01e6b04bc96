//! The interface of all carriers.

use std::ops::Deref;

/// Brings messages to other processes. Messages of one process to another arrive in the order in
/// which they were sent.
pub(super) trait Carrier {
    /// A message in the hands of a process.
    type Message: Deref<Target = [u8]>;

    /// A new message with these bytes, written once.
    fn make(&mut self, bytes: &[u8]) -> Self::Message;

    /// A message as long as `used`, which begins with these bytes. The others are whatever costs
    /// least.
    fn pass_on(&mut self, used: Self::Message, start: [u8; 8]) -> Self::Message;

    /// Frees a message that has been used, or keeps its memory.
    fn free(&mut self, used: Self::Message);

    /// Sends a message to another process, with the time of its event, or gives it back if there is
    /// no room now.
    fn send(&mut self, to: usize, time: u64, message: Self::Message) -> Result<(), Self::Message>;

    /// Hands over what has arrived.
    fn receive(&mut self, take: &mut impl FnMut(u64, Self::Message));
}
