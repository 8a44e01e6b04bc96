//! Messages from and to other PEs: the only part of a PE that touches a transport.
//!
//! Every sender has a queue of its own at its receiver, and messages are received in two stages,
//! from there into a list and, a batch of events later, into the pending set: D. Jagtap, N.
//! Abu-Ghazaleh and D. Ponomarev, "Optimization of parallel discrete event simulator for multi-core
//! systems", IPDPS 2012.
//!
//! *Two stages.* The whole list is known a batch before the first message in it is touched, so all
//! of them are prefetched meanwhile. Messages by value stay in their ring until the second stage.
//! If PEs are few, the ends of the rings are prefetched as well: fetching what another core wrote
//! last takes 50 to 200 ns, as long as several events.
//!
//! *By value or in a shared buffer.* A value moves fewer cache lines and needs no atomic
//! read-modify-write. A buffer can be cancelled in place. With PHOLD on two threads, and payloads
//! that are values, certain events are 1.1 to 1.4 times as fast by value up to 512 bytes of
//! payload, and 1.2 times as fast in buffers from 1024 bytes on, where copying costs more. Events
//! that may be undone are 1.2 to 1.5 times as fast in buffers, but no faster with 512 to 1024
//! bytes. So certain events travel by value, unless their payload is large, and all others in
//! buffers. Between address spaces only values can travel, so everything can be sent by value
//! (`--messages copy`); the sender then keeps a copy of what it may have to cancel. Carrying time
//! and tie beside the handle of a buffer, so that filing a message touches no buffer, gained
//! nothing: the buffer is needed soon after.

pub(crate) mod outgoing;
mod send_queue;
pub(crate) mod wires;

use warpline_base::{EventKey, LpId, Moment, VirtualTime};
use warpline_memory::{CasCounts, Handle, Image, Pool, try_drop};

use crate::Event;
use crate::agenda::store::{Incarnation, OptionalHandle};
use crate::gvt::{AnyGvt, Control, Gvt, Put, Tag};
use crate::mail::outgoing::Outgoing;
use crate::mail::wires::{
    Content, Message, MessageKind, Port, TakeValue, UnreadableEvent, ValueMessage,
};

/// An event that was sent by value and may have to be cancelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentByValue {
    pub(crate) to: u32,
    pub(crate) receiver: LpId,
    pub(crate) key: EventKey,
    pub(crate) incarnation: Incarnation,
    /// The sender's copy, if it keeps one.
    pub(crate) copy: OptionalHandle,
}

/// With more messages waiting for room than this, a PE executes nothing: it would only make more of
/// them.
const BACKLOG_MOST: usize = 1 << 14;

/// A PE's mail.
///
/// Invariant: GVT counts every message, control messages aside, once when it is sent, wherever it
/// waits then, and once when it is received.
pub(crate) struct Mail<E, P> {
    port: P,
    /// Received, but not yet in the pending set.
    incoming: Vec<Message>,
    outgoing: Outgoing<E>,
    /// Copies of events that were sent by value and may have to be cancelled, if they are kept.
    copies: Pool<Image<Event<E>>>,
    /// Messages in `outgoing`.
    waiting: usize,
    /// Whether the port may be keeping messages back.
    unflushed: bool,
    /// How much memory the waiting messages took when it was last measured, in bytes.
    bytes: usize,
    /// The bound published last.
    published: u64,
    /// The earliest time of the certain events sent since it was last taken; `VirtualTime::MAX` if
    /// there were none.
    earliest_sent: VirtualTime,
}

impl<E, P: Port<E>> Mail<E, P> {
    pub(crate) fn new(port: P, pes: u32) -> Self {
        Mail {
            port,
            incoming: Vec::new(),
            outgoing: Outgoing::new(pes),
            copies: Pool::default(),
            waiting: 0,
            unflushed: false,
            bytes: 0,
            published: 0,
            earliest_sent: VirtualTime::MAX,
        }
    }

    /// Drops messages by value that wait where several processes may share them. No PE may send any
    /// more.
    pub(crate) fn drop_values(&mut self) {
        self.port.receive(&mut self.incoming);
        self.port.look_for_values();
        self.port.receive_values(&mut |message| _ = try_drop(message));
    }

    #[inline]
    pub(crate) fn prefetch(&self) {
        self.port.prefetch();
    }

    /// Prefetches what [`hand_over`](Self::hand_over) and [`publish`](Self::publish) will write, if
    /// anything has been sent by value.
    #[inline]
    pub(crate) fn prefetch_to_hand_over(&self) {
        if self.unflushed {
            self.port.prefetch_to_flush();
        }
    }

    /// Takes the messages out of the mailbox, and returns them so that their buffers can be
    /// prefetched.
    #[inline]
    pub(crate) fn receive(&mut self) -> &[Message] {
        self.port.receive(&mut self.incoming);
        self.port.look_for_values();
        &self.incoming
    }

    /// The messages received. The emptied list is to be [given back](Self::give_back), so that its
    /// memory is reused.
    #[inline]
    pub(crate) fn take_received(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.incoming)
    }

    pub(crate) fn give_back(&mut self, emptied: Vec<Message>) {
        self.incoming = emptied;
    }

    /// Gives `to` the messages that have arrived by value.
    #[inline]
    pub(crate) fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.port.receive_values(to);
    }

    /// The next event that has arrived without its payload.
    #[inline(always)]
    pub(crate) fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.port.receive_unreadable()
    }

    /// Sends an event by value; with this PE's incarnation if the event may still be cancelled.
    #[inline(always)]
    pub(crate) fn send_value(
        &mut self,
        to: u32,
        event: Event<E>,
        incarnation: Option<Incarnation>,
        gvt: &mut AnyGvt,
    ) {
        let tag = gvt.sent(to, || Moment::Event(event.key()));
        let make = || ValueMessage { tag, incarnation, content: Content::Event(event) };
        self.unflushed = true;
        if let Err(message) = self.port.send_value(to, make) {
            self.keep_value(to, message);
        }
    }

    /// Keeps a copy of an event that is about to be sent by value, until it [cannot be
    /// cancelled](Self::drop_copy) any more.
    pub(crate) fn keep_copy(&mut self, event: &Event<E>) -> OptionalHandle {
        OptionalHandle::some(self.copies.insert(Image::of(event)))
    }

    /// Drops a copy, if there is one.
    pub(crate) fn drop_copy(&mut self, copy: OptionalHandle) {
        copy.handle().into_iter().for_each(|copy| _ = self.copies.remove(copy));
    }

    /// How many copies are kept.
    pub(crate) fn copies(&self) -> u64 {
        self.copies.len() as u64
    }

    #[cold]
    fn keep_value(&mut self, to: u32, message: ValueMessage<E>) {
        self.waiting += 1;
        self.outgoing.push_value(to, message);
    }

    /// Cancels an event that was sent by value, at the moment `at`.
    pub(crate) fn send_value_anti(&mut self, sent: &SentByValue, at: Moment, gvt: &mut AnyGvt) {
        let SentByValue { to, receiver, key, incarnation, .. } = *sent;
        let tag = gvt.sent(to, || at);
        let message = ValueMessage {
            tag,
            incarnation: Some(incarnation),
            content: Content::Anti { receiver, key },
        };
        self.unflushed = true;
        if let Err(message) = self.port.send_value(to, || message) {
            self.keep_value(to, message);
        }
    }

    /// Asks PE `to` to undo what sent an event.
    pub(crate) fn send_back(&mut self, to: u32, receiver: LpId, key: EventKey, gvt: &mut AnyGvt) {
        let tag = gvt.sent(to, || Moment::Never);
        let message =
            ValueMessage { tag, incarnation: None, content: Content::Return { receiver, key } };
        self.unflushed = true;
        if let Err(message) = self.port.send_value(to, || message) {
            self.keep_value(to, message);
        }
    }

    /// Sends a message about a buffer, which GVT has counted and given a tag.
    #[inline]
    pub(crate) fn send(&mut self, to: u32, event: Handle, kind: MessageKind, tag: Tag) {
        self.waiting += 1;
        self.outgoing.push(to, Message { event, tag, kind });
    }

    /// Hands over what was sent to other PEs, as far as there is room. Returns whether all of it
    /// was.
    #[inline]
    pub(crate) fn hand_over(&mut self, gvt: &mut AnyGvt) -> bool {
        gvt.announce();
        if self.waiting > 0 {
            self.hand_over_waiting();
        }
        if self.unflushed {
            self.unflushed = false;
            self.port.flush();
        }
        self.waiting == 0
    }

    /// As [`hand_over`](Self::hand_over), for a PE that does nothing else any more. What found no
    /// room may also wait in the port, such as the last control messages, without which other PEs
    /// would wait for ever.
    pub(crate) fn hand_over_rest(&mut self, gvt: &mut AnyGvt) {
        self.unflushed = true;
        self.hand_over(gvt);
    }

    #[inline(never)]
    fn hand_over_waiting(&mut self) {
        let (handed_over, has_values) = self.outgoing.hand_over(&mut self.port);
        self.waiting -= handed_over;
        self.unflushed |= has_values;
    }

    /// Whether so much waits to be handed over that executing more is no use.
    #[inline]
    pub(crate) fn is_clogged(&self) -> bool {
        self.waiting > BACKLOG_MOST
    }

    /// How much memory the waiting messages took when it was last measured, in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Measures how much memory the waiting messages take.
    pub(crate) fn measure(&mut self) {
        self.bytes = size_of::<Message>() * self.incoming.capacity() + self.outgoing.bytes();
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.incoming.shrink_to_fit();
        self.outgoing.give_back_room();
        self.measure();
    }

    /// The run is over. Everything sent before the last epoch was closed has arrived, and nothing
    /// has been sent since.
    ///
    /// # Panics
    /// If something still waits to be handed over.
    pub(crate) fn on_end(&self, me: u32) {
        assert!(self.waiting == 0, "PE {me} still has messages to hand over when the run is over");
    }

    /// How often messages went into mailboxes for which PEs compete, or were refused.
    pub(crate) fn refusals(&self) -> CasCounts {
        self.port.refusals()
    }

    /// Publishes this PE's bound, as a number.
    #[inline]
    pub(crate) fn publish(&mut self, bound: u64) {
        if bound != self.published {
            self.published = bound;
            self.port.publish(bound);
        }
    }

    /// Notes the time of a certain event sent to another PE, for the bound that ends the window.
    #[inline]
    pub(crate) fn note_sent(&mut self, time: VirtualTime) {
        self.earliest_sent = self.earliest_sent.min(time);
    }

    /// Takes the earliest time of the certain events sent since the last call; `VirtualTime::MAX`
    /// if there were none.
    pub(crate) fn take_earliest_sent(&mut self) -> VirtualTime {
        std::mem::replace(&mut self.earliest_sent, VirtualTime::MAX)
    }

    /// Publishes this PE's bound for a round.
    pub(crate) fn publish_round(&mut self, round: u64, bound: u64) {
        self.port.publish_round(round, bound);
    }

    /// The bound of another PE for a round.
    #[inline]
    pub(crate) fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.port.bound_of_round(pe, round)
    }

    /// The bound of another PE, as a number.
    #[inline]
    pub(crate) fn bound(&mut self, pe: u32) -> u64 {
        self.port.bound(pe)
    }

    pub(crate) fn send_control(&mut self, to: u32, control: Control) {
        self.port.send_control(to, control);
    }

    /// Writes into the memory of PE `to`.
    pub(crate) fn write(&mut self, to: u32, put: Put) {
        self.port.write(to, put);
    }

    /// The next control message that has arrived, or that another PE has written here.
    #[inline]
    pub(crate) fn receive_control(&mut self) -> Option<Control> {
        self.port
            .receive_control()
            .or_else(|| self.port.written().map(|(from, put)| put.read(from)))
    }
}
