use warpline_base::{EventKey, LpId, Moment, VirtualTime};
use warpline_memory::{Handle, MakeRoom};

use super::Pe;
use crate::agenda::fetch::fetch_payload;
use crate::agenda::{Agenda, Identity};
use crate::faults::Faults;
use crate::frontier::Frontier;
use crate::gauge::Gauge;
use crate::gauge::phases::Phase;
use crate::gvt::{AnyGvt, Gvt, Tag};
use crate::mail::wires::{Content, Message, MessageKind, TakeValue, UnreadableEvent, ValueMessage};
use crate::pacing::memory::MemoryControl;
use crate::pe::types::{EventOf, PeTypes};
use crate::pe::world::World;
use crate::tuning::Messages;

/// How many free buffers a PE keeps for all other PEs together, beyond those that it made for them.
const SURPLUS_MOST: usize = 8192;

impl<T: PeTypes> Pe<'_, T> {
    /// Takes control messages. They and bounds come first, so that everything sent before them is
    /// found in the mailbox.
    #[inline]
    pub(super) fn receive_control(&mut self) {
        while let Some(control) = self.mail.receive_control() {
            self.gvt.receive_control(control);
        }
    }

    /// The first stage of receiving, after control messages: reads what others have published, and
    /// empties the mailbox. It prefetches the buffers of the messages, which arrive during the
    /// batch. If a window opens, the second stage follows at once, as there is nothing to execute
    /// before it.
    pub(super) fn receive(&mut self) {
        let opens = self.read_progress();
        self.receive_messages();
        if opens {
            self.open_window();
        }
        self.gauge.lap(Phase::Receive);
    }

    /// Empties the mailbox, and prefetches what was in it.
    #[inline]
    pub(super) fn receive_messages(&mut self) {
        let messages = self.mail.receive();
        self.gauge.found_waiting(messages.len() as u64);
        for message in messages {
            self.agenda.prefetch_buffer(message.event);
        }
        self.mail.prefetch();
    }

    /// Reads how far the other PEs have come. Returns whether a window is to open when the mailbox
    /// has been emptied.
    #[inline]
    fn read_progress(&mut self) -> bool {
        if self.world.tuning().windows {
            return self.find_round();
        }
        self.read_gvt();
        if self.world.has_bounds() {
            let world = &self.world;
            let bound = |pe| self.mail.bound(pe);
            if self.frontier.read_bounds(world.me(), world.bounding(), world.delays_here(), bound) {
                self.calls.on_horizon();
            }
        }
        false
    }

    /// The second stage of receiving, after a batch: moves the messages into the pending set.
    /// Stragglers are noticed when their turn comes; anti-messages take effect at once.
    pub(super) fn file_received(&mut self) {
        self.mail.prefetch_to_hand_over();
        let mut received = self.mail.take_received();
        for message in received.drain(..) {
            match message.kind {
                MessageKind::Event => self.receive_event(message),
                MessageKind::Anti => self.receive_anti_message(message),
                MessageKind::Empty => self.receive_empty(message),
            }
        }
        self.mail.give_back(received);
        self.receive_values();
        while let Some(event) = self.mail.receive_unreadable() {
            self.file_unreadable(event);
        }
    }

    #[inline]
    fn receive_event(&mut self, message: Message) {
        self.gauge.message_received();
        let (handle, key) = self.agenda.receive_buffer(message.event);
        // If the payload counts references, the sender has just changed the count, so its cache
        // line is in another core.
        fetch_payload::<T::Model>(&self.agenda.event(handle).payload);
        self.gvt.received(message.tag, || self.world.moment(key));
        self.check_arrival("an event", &key, || self.agenda.event(handle).receiver);
    }

    /// Takes back a free buffer. For GVT, this is a message that brings no work.
    #[cold]
    fn receive_empty(&mut self, message: Message) {
        self.agenda.accept_empty(message.event);
        self.gvt.received(message.tag, || Moment::Never);
    }

    /// Undoes the event that an anti-message cancels.
    #[cold]
    fn receive_anti_message(&mut self, message: Message) {
        self.gauge.anti_received();
        let handle = self.agenda.received(message.event);
        let key = self.agenda.event(handle).key();
        self.gvt.received(message.tag, || self.world.moment(key));
        self.check_arrival("an anti-message", &key, || self.agenda.event(handle).receiver);
        self.undo_received(handle);
    }

    /// Files messages by value, which have stayed in the mailbox until now.
    #[inline]
    fn receive_values(&mut self) {
        let Pe { mail, agenda, gvt, gauge, frontier, world, memory, faults, .. } = self;
        let earliest = frontier.earliest_arrival();
        let mut filing = Filing::<T> {
            world,
            frontier,
            earliest,
            agenda,
            gvt,
            gauge,
            memory,
            faults,
            received: 0,
            cancelled: None,
        };
        mail.receive_values(&mut filing);
        let Filing { received, cancelled, .. } = filing;
        self.gauge.found_waiting(received);
        if let Some(undone) = cancelled {
            self.undo_received_values(undone);
        }
    }

    /// Defers an event that has arrived without its payload, until it is cancelled or GVT reaches
    /// it.
    #[cold]
    fn file_unreadable(&mut self, event: UnreadableEvent) {
        let key = event.key;
        self.gvt.received(event.tag, || self.world.moment(key));
        self.check_arrival("an event", &key, || event.receiver);
        self.gauge.message_received();
        if self.agenda.was_cancelled_early(&key, event.incarnation) {
            self.gauge.annihilated(1);
        } else {
            self.faults.defer_unreadable(event);
        }
    }

    #[cold]
    fn undo_received_values(&mut self, processed: Vec<Handle>) {
        self.retry_deferred();
        processed.into_iter().for_each(|handle| self.undo_received(handle));
    }

    /// Checks that a message does not come before the earliest time at which anything can still
    /// arrive.
    #[inline(always)]
    fn check_arrival(&self, what: &str, key: &EventKey, receiver: impl FnOnce() -> LpId) {
        let earliest = self.frontier.earliest_arrival();
        if key.time < earliest {
            let me = self.world.me();
            arrived_too_early(what, key, receiver(), me, earliest, self.frontier.gvt());
        }
    }

    /// Sends free buffers back to PEs that send more than they receive: they would otherwise keep
    /// making new ones. (Fujimoto and Panesar let such a PE wait instead.)
    pub(super) fn return_surplus(&mut self) {
        if self.world.tuning().messages == Messages::Copy || !self.agenda.returns_surplus() {
            // No buffer ever leaves its PE, or others make theirs at need.
            return;
        }
        let most = if self.memory.is_short() {
            0
        } else {
            SURPLUS_MOST.div_ceil(self.world.pes() as usize)
        };
        for to in 0..self.world.pes() {
            while let Some(buffer) = self.agenda.give_surplus(to, most) {
                let tag = self.gvt.sent(to, || Moment::Never);
                self.mail.send(to, buffer, MessageKind::Empty, tag);
            }
        }
    }
}

/// Files messages by value, with the parts of the PE that it takes. It is no closure, as those
/// cannot be asked to be inlined where rings are read.
struct Filing<'p, 'm, T: PeTypes> {
    world: &'p World<'m, T::Model>,
    frontier: &'p Frontier,
    /// The earliest time at which anything can still arrive.
    earliest: VirtualTime,
    agenda: &'p mut Agenda<EventOf<T>, T::Pending>,
    gvt: &'p mut AnyGvt,
    gauge: &'p mut Gauge,
    memory: &'p mut MemoryControl,
    faults: &'p mut Faults,
    /// How many messages there were.
    received: u64,
    /// If anything was cancelled, what has been executed of it, and is to be undone.
    cancelled: Option<Vec<Handle>>,
}

impl<T: PeTypes> TakeValue<EventOf<T>> for Filing<'_, '_, T> {
    #[inline(always)]
    fn take(&mut self, message: ValueMessage<EventOf<T>>) {
        let ValueMessage { tag, incarnation, content } = message;
        self.received += 1;
        match content {
            Content::Event(event) => {
                let key = event.key();
                self.gvt.received(tag, || self.world.moment(key));
                self.check_arrival("an event", &key, event.receiver);
                self.gauge.message_received();
                let dropped = self.agenda.receive_value(event, incarnation);
                self.gauge.annihilated(u64::from(dropped));
            }
            Content::Anti { key, receiver } => {
                let Some(incarnation) = incarnation else {
                    panic!("a certain event is cancelled: {key:?}")
                };
                let identity = Identity { sender: key.sender, sequence: key.sequence, incarnation };
                self.cancel(tag, &key, receiver, identity);
            }
            Content::Return { key, .. } => {
                self.gvt.received(tag, || Moment::Never);
                self.memory.note_returned(key.sender, key.sequence);
            }
        }
    }
}

impl<T: PeTypes> Filing<'_, '_, T> {
    #[cold]
    fn cancel(&mut self, tag: Tag, key: &EventKey, receiver: LpId, identity: Identity) {
        self.gvt.received(tag, || self.world.moment(*key));
        self.check_arrival("an anti-message", key, receiver);
        self.gauge.anti_received();
        if !self.faults.are_none() && self.faults.cancel_unreadable(identity) {
            self.gauge.annihilated(1);
            return;
        }
        let (processed, pending) = self.agenda.cancel_value(identity);
        self.gauge.count(|counts| counts.cancelled_pending += u64::from(pending));
        let undone = self.cancelled.get_or_insert_default();
        undone.make_room(1, "events that are undone");
        undone.extend(processed);
    }

    #[inline(always)]
    fn check_arrival(&self, what: &str, key: &EventKey, receiver: LpId) {
        if key.time < self.earliest {
            let me = self.world.me();
            arrived_too_early(what, key, receiver, me, self.earliest, self.frontier.gvt());
        }
    }
}

/// Panics: events before the horizon have been executed for good, so a message before it cannot
/// take effect any more. That is a mistake of the engine.
#[cold]
#[inline(never)]
fn arrived_too_early(
    what: &str,
    key: &EventKey,
    receiver: LpId,
    me: u32,
    horizon: VirtualTime,
    gvt: Moment,
) -> ! {
    let EventKey { sender, time, .. } = key;
    panic!(
        "PE {me} received {what} from {sender} for {receiver} at time {time}, before its horizon, \
         {horizon}, with GVT at {gvt:?}"
    )
}
