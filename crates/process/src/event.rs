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
