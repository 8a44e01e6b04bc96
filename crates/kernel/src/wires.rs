//! What PEs send each other, and the wires that they know nothing of.

use warpline_base::{EventKey, LpId};
use warpline_memory::Handle;

use crate::Event;
use crate::gvt::{Control, Tag};
use crate::store::Incarnation;

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

/// A message that holds what it says: the one kind that can leave an address space.
#[derive(Debug)]
pub struct ValueMessage<E> {
    /// For GVT: when it was sent.
    pub tag: Tag,
    /// How often its PE had rolled back when the event was sent; `None` for an event that is certain to happen.
    pub incarnation: Option<Incarnation>,
    /// What it says.
    pub content: Content<E>,
}

/// What a [`ValueMessage`] says.
#[derive(Debug)]
pub enum Content<E> {
    /// An event.
    Event(Event<E>),
    /// The event with this key is cancelled: an anti-message, which may overtake it.
    Anti {
        /// The LP that the event was sent to.
        receiver: LpId,
        /// The event's key.
        key: EventKey,
    },
}

/// A PE's end of the wires to the others. Nothing here waits.
///
/// Messages between two PEs may overtake each other; control messages between two PEs may not.
///
/// What a PE [publishes](Self::publish) must not overtake its messages: whoever has seen it in [`bound`](Self::bound) finds all messages that
/// were handed over before, if it looks for them afterwards. The same holds of what it [publishes for a round](Self::publish_round).
pub trait Port<E> {
    /// Brings near what the next sends and receives will reach, while there is something else to do. It has no effect but on speed.
    fn prefetch(&self) {}

    /// Takes as many of the messages to PE `to`, from the first on, as there is room for, and returns how many.
    fn send(&mut self, to: u32, messages: &[Message]) -> usize;

    /// Appends messages that have arrived.
    fn receive(&mut self, into: &mut Vec<Message>);

    /// Takes a message by value to PE `to`. It may keep it back until the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// The message, if there is no room for it.
    fn send_value(&mut self, to: u32, message: ValueMessage<E>) -> Result<(), ValueMessage<E>>;

    /// Lets go of all messages by value that were kept back.
    fn flush(&mut self);

    /// Looks which messages by value have arrived, and brings them near. Those are handed over next.
    fn look_for_values(&mut self) {}

    /// Hands over the messages by value that had arrived when they were looked for last, and perhaps some more.
    fn receive_values(&mut self, take: &mut impl FnMut(ValueMessage<E>));

    /// Lets all others know a word of this PE's, which never decreases.
    fn publish(&mut self, word: u64);

    /// The last word of PE `pe` that has become known; 0 before the first.
    fn bound(&mut self, pe: u32) -> u64;

    /// Lets all others know a word of this PE's for a round. Rounds follow upon each other, from 1; and a PE publishes for one only when it has
    /// found the words of all others for the one before.
    fn publish_round(&mut self, round: u64, word: u64);

    /// The word of PE `pe` for a round, if it has become known. Nobody asks for a round but the last that this PE has published for.
    fn word_of_round(&mut self, pe: u32, round: u64) -> Option<u64>;

    /// Sends a control message.
    fn send_control(&mut self, to: u32, control: Control);

    /// The next control message that has arrived.
    fn receive_control(&mut self) -> Option<Control>;
}
