//! What PEs send each other, and the interface to the wires between them.

use warpline_base::{EventKey, LpId};
use warpline_memory::{CasCounts, Handle, Lines};
use warpline_model::engine::PortableWith;
use warpline_model::{Model, Payload, Portable};

use crate::Event;
use crate::agenda::store::Incarnation;
use crate::gvt::{Control, Put, Tag};

/// A message about an event in a shared buffer. The event itself is not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub struct Message {
    /// The buffer.
    pub event: Handle,
    /// For GVT: when it was sent.
    pub tag: Tag,
    /// What it says.
    pub kind: MessageKind,
}

/// What a [`Message`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub enum MessageKind {
    /// The buffer brings an event.
    Event,
    /// An anti-message: the event, which was sent before, is cancelled.
    Anti,
    /// The buffer is free and returns to a PE that sends more than it receives. To GVT this is a
    /// message that brings nothing to do.
    Empty,
}

/// A message by value: the only kind that can leave an address space.
#[derive(Debug, PortableWith)]
pub struct ValueMessage<E> {
    /// For GVT: when it was sent.
    pub tag: Tag,
    /// How often the sending PE had rolled back when it sent the event; `None` for an event that
    /// nothing can cancel.
    pub incarnation: Option<Incarnation>,
    /// What it says.
    pub content: Content<E>,
}

/// Whoever takes messages by value out of a port, such as a closure.
pub trait TakeValue<E> {
    /// Takes the next message.
    fn take(&mut self, message: ValueMessage<E>);
}

impl<E, F: FnMut(ValueMessage<E>)> TakeValue<E> for F {
    #[inline]
    fn take(&mut self, message: ValueMessage<E>) {
        self(message);
    }
}

/// Nothing if a message by value was sent, and otherwise the message.
pub type Sent<E> = Result<(), ValueMessage<E>>;

/// What a [`ValueMessage`] says.
#[derive(Debug, PortableWith)]
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
    /// Cancelback, as memory is short: asks the PE that sent the event with this key to undo the
    /// event that sent it, unless that has committed (D. Jefferson, "Virtual time II", PODC 1990).
    /// To GVT this is a message that brings nothing to do: the event stays where it is until it is
    /// cancelled, and the PE that is asked chooses when to undo anything.
    Return {
        /// The LP that the event was sent to.
        receiver: LpId,
        /// The event's key.
        key: EventKey,
    },
}

/// An event that has arrived without its payload, which could not be written as bytes or not be
/// read back. That is a mistake of the model only if the event happens.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadableEvent {
    /// For GVT: when it was sent.
    pub tag: Tag,
    /// As in a [`ValueMessage`].
    pub incarnation: Option<Incarnation>,
    /// The LP that it was sent to.
    pub receiver: LpId,
    /// Its key.
    pub key: EventKey,
    /// Why.
    pub why: String,
}

/// Makes sure that other processes, if there are any, can read the payloads of an event.
#[inline(always)]
pub(crate) fn make_common<M: Model>(event: &mut M::Event) {
    if let Some(payloads) = M::ABILITIES.wire().and_then(|wire| wire.payloads()) {
        payloads(event, &mut Payload::make_common);
    }
}

/// Messages about events in buffers that PEs share, which are cancelled where they lie.
///
/// Messages between two PEs may overtake each other.
pub trait MessagePort {
    /// Sends as many of the messages to PE `to` as there is room for, starting with the first, and
    /// returns how many.
    fn send(&mut self, to: u32, messages: &[Message]) -> usize;

    /// Appends messages that have arrived.
    fn receive(&mut self, into: &mut Vec<Message>);
}

/// Messages by value.
///
/// They may overtake each other. None may arrive before it is [flushed](Port::flush), whatever else
/// the PE does meanwhile: the registers of GVT have yet to announce it. Only bounds, including
/// those of rounds, wait for messages, and only for those that were flushed before them.
pub trait ValuePort<E> {
    /// Sends a message by value to PE `to`, and makes it, in its place if the port can. The port
    /// keeps it back until the next [`flush`](Port::flush).
    ///
    /// # Errors
    /// The message, if there is no room for it.
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E>;

    /// Notes which messages by value have arrived, and prefetches them for
    /// [`receive_values`](Self::receive_values).
    #[inline(always)]
    fn look_for_values(&mut self) {}

    /// Gives `to` the messages by value that had arrived at the last look, and perhaps some more.
    fn receive_values(&mut self, to: &mut impl TakeValue<E>);

    /// The next event that has arrived without its payload by the last look. Only ports that write
    /// events as bytes have any.
    #[inline(always)]
    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        None
    }
}

/// Bounds that each PE publishes to all others.
///
/// They must not overtake messages: a PE that has seen a bound in [`bound`](Self::bound), and then
/// looks for messages, finds all that were handed over before the bound was published. The same
/// holds for bounds [of rounds](Self::publish_round).
pub trait BoundPort {
    /// Publishes a bound of this PE's, which never decreases, to all others.
    fn publish(&mut self, bound: u64);

    /// The last bound of PE `pe` that has become visible here; 0 before the first.
    fn bound(&mut self, pe: u32) -> u64;

    /// Publishes this PE's bound for a round to all others. Rounds are numbered from 1 without
    /// gaps, and a PE publishes for a round only once it has found the bounds of all others for the
    /// one before.
    fn publish_round(&mut self, round: u64, bound: u64);

    /// The bound of PE `pe` for a round, if it has become visible here. A PE asks only for the last
    /// round that it has published for itself.
    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64>;
}

/// What PEs tell each other about GVT: in control messages, or by writing into each other's memory.
///
/// Control messages between two PEs do not overtake each other. What is written may overtake
/// messages, and other writes.
pub trait ControlPort {
    /// Sends a control message.
    fn send_control(&mut self, to: u32, control: Control);

    /// The next control message that has arrived.
    fn receive_control(&mut self) -> Option<Control>;

    /// Writes into the memory of PE `to`, which does not take part in it.
    fn write(&mut self, to: u32, put: Put);

    /// What another PE has written into this PE's memory, and which one. The last jump start stands
    /// for those before.
    fn written(&mut self) -> Option<(u32, Put)>;
}

/// A PE's end of the wires to the others. No method blocks.
///
/// What finds no room waits in the port and leaves when there is room, whatever the PE does next:
/// whether it goes on receiving, control messages included, or only flushes, as when its own part
/// of the run is over.
pub trait Port<E>: MessagePort + ValuePort<E> + BoundPort + ControlPort {
    /// Prefetches what the next sends and receives will touch. It affects only speed.
    #[inline(always)]
    fn prefetch(&self) {}

    /// Prefetches what [`flush`](Self::flush) and [`publish`](BoundPort::publish) will write, which
    /// come soon. It affects only speed.
    #[inline(always)]
    fn prefetch_to_flush(&self) {}

    /// Sends all messages by value that were kept back, and whatever else waits here, as far as
    /// there is room.
    fn flush(&mut self);

    /// What became of the messages that this PE has put into mailboxes for which it competes with
    /// others, if there are any such.
    fn refusals(&self) -> CasCounts {
        CasCounts::default()
    }
}

/// For PEs that share memory.
impl BoundPort for Lines {
    #[inline]
    fn publish(&mut self, bound: u64) {
        self.write(bound);
    }

    #[inline]
    fn bound(&mut self, pe: u32) -> u64 {
        self.read(pe)
    }

    #[inline]
    fn publish_round(&mut self, round: u64, bound: u64) {
        self.write_round(round, bound);
    }

    #[inline]
    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.read_round(pe, round)
    }
}
