//! What PEs send each other, and the wires that they know nothing of.

use warpline_memory::Handle;

use crate::gvt::{Control, Tag};

/// Word of an event buffer that changes hands. The event itself is not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The buffer.
    pub event: Handle,
    /// For GVT: when it was sent.
    pub tag: Tag,
    /// What it says.
    pub kind: MessageKind,
}

/// What a [`Message`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Here is an event.
    Event,
    /// The event, which was sent before, is cancelled: an anti-message.
    Anti,
    /// The buffer is free, and goes back to a PE that sends more than it receives. For GVT, these are messages that bring nothing to do.
    Empty,
}

/// A PE's end of the wires to the others. Nothing here waits.
///
/// Messages between two PEs may overtake each other; control messages between two PEs may not.
pub trait Port {
    /// Brings near what the next [`send`](Self::send) and [`receive`](Self::receive) will reach, while there is something else to do. It
    /// has no effect but on speed.
    fn prefetch(&self) {}

    /// Takes as many of the messages to PE `to`, from the first on, as there is room for, and returns how many.
    fn send(&mut self, to: u32, messages: &[Message]) -> usize;

    /// Appends messages that have arrived.
    fn receive(&mut self, into: &mut Vec<Message>);

    /// Sends a control message.
    fn tell(&mut self, to: u32, control: Control);

    /// The next control message that has arrived.
    fn hear(&mut self) -> Option<Control>;
}
