use serde::{Deserialize, Serialize};
use warpline_model::Portable;

use crate::keys::WaitKey;

/// What reaches an LP of processes: its own wake-ups, and messages of other LPs.
///
/// It is plain data if messages are, and serde writes it if serde writes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable, Serialize, Deserialize)]
pub enum ProcessEvent<T> {
    /// The end of a sleep.
    Wake(WaitKey),
    /// A message.
    Message(T),
}

/// So an LP that handles events sends a message: `lp.send(to, 1.0, message.into())`.
impl<T> From<T> for ProcessEvent<T> {
    #[inline]
    fn from(message: T) -> Self {
        ProcessEvent::Message(message)
    }
}
