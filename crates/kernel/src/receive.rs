//! Messages from and to other PEs. They are received in two stages, from the mailbox into a list and, a batch of events later, from there
//! into the pending set, and every sender has a queue of its own: D. Jagtap, N. Abu-Ghazaleh and D. Ponomarev, "Optimization of
//! parallel discrete event simulator for multi-core systems", IPDPS 2012. The events themselves stay where they are: buffers change
//! hands (see [`Buffers`](warpline_memory::Buffers)).

use warpline_base::Moment;
use warpline_memory::Apart;
use warpline_model::Model;

use crate::execute::Keys;
use crate::pe::Pe;
use crate::pending::{Entry, PendingSet};
use crate::phases::Phase;
use crate::wires::{Message, MessageKind, Port};

/// How many free buffers a PE keeps for the others besides those it has made for them, shared out among them.
const SURPLUS_MOST: usize = 8192;

impl<M: Model, Q: PendingSet, P: Port> Pe<'_, M, Q, P> {
    /// The first stage: takes the messages out of the mailbox and has their buffers fetched, which takes a while.
    pub(crate) fn receive(&mut self) {
        // First what is heard for GVT, so that all that was sent before it is there as well.
        while let Some(control) = self.port.hear() {
            self.gvt.hear(control);
        }
        self.port.receive(&mut self.incoming);
        if !self.incoming.is_empty() {
            self.counts.receipts += 1;
            self.counts.mailbox_depth_max = self.counts.mailbox_depth_max.max(self.incoming.len() as u64);
            self.incoming.iter().for_each(|message| self.buffers.prefetch_write(message.event));
        }
    }

    /// The second stage, after a batch of events: moves the messages into the pending set. Stragglers among them are noticed when their
    /// turn comes; anti-messages take effect now.
    pub(crate) fn accept_received(&mut self) {
        let mut incoming = std::mem::take(&mut self.incoming);
        for message in incoming.drain(..) {
            match message.kind {
                MessageKind::Event => self.accept(message),
                MessageKind::Anti => self.annul(message),
                MessageKind::Empty => self.accept_empty(message),
            }
        }
        self.incoming = incoming;
    }

    #[inline]
    fn accept(&mut self, message: Message) {
        self.counts.messages_received += 1;
        let event = self.buffers.accept(message.event);
        let (time, key) = (event.time, event.key());
        if time < self.horizon {
            self.late(message);
        }
        self.gvt.received(message.tag, || Moment::Event(key));
        let entry = Entry::new(time, self.ties.prefix(&key), message.event);
        self.pending.push(entry, &Keys { buffers: &self.buffers, ties: self.ties });
    }

    /// Nothing arrives before the horizon: events there have been executed for good.
    #[cold]
    #[inline(never)]
    fn late(&self, message: Message) -> ! {
        let what = if message.kind == MessageKind::Anti { "an anti-message" } else { "an event" };
        let (me, horizon, gvt, event) = (self.me, self.horizon, self.gvt_moment(), self.buffers.get(message.event));
        let (sender, receiver, time) = (event.sender, event.receiver, event.time);
        panic!("PE {me} received {what} from {sender} for {receiver} at time {time}, before its horizon, {horizon}, with GVT at {gvt:?}")
    }

    #[cold]
    fn accept_empty(&mut self, message: Message) {
        self.buffers.accept_empty(message.event);
        self.gvt.received(message.tag, || Moment::Never);
    }

    /// Undoes the event that an anti-message cancels.
    #[cold]
    fn annul(&mut self, message: Message) {
        self.counts.anti_received += 1;
        let key = self.buffers.get(message.event).key();
        if key.time < self.horizon {
            self.late(message);
        }
        self.gvt.received(message.tag, || Moment::Event(key));
        self.release_held();
        self.cancelled.push(message.event);
        self.rolling(Phase::Receive, false, Self::undo_cancelled);
    }

    /// Sends free buffers back to PEs that send more than they receive, or these would take ever new ones. (Fujimoto and Panesar let such
    /// a PE wait instead.)
    pub(crate) fn return_surplus(&mut self) {
        let most = SURPLUS_MOST.div_ceil(self.partition.pes() as usize);
        for to in 0..self.partition.pes() {
            while let Some(event) = self.buffers.give_surplus(to, most) {
                let message = Message { event, tag: self.gvt.sent(), kind: MessageKind::Empty };
                self.outgoing[to as usize].0.push(message);
            }
        }
    }

    /// Hands over what was sent to other PEs, as far as there is room.
    pub(crate) fn hand_over(&mut self) {
        for (to, Apart(messages)) in (0..).zip(&mut self.outgoing) {
            if !messages.is_empty() {
                let taken = self.port.send(to, messages);
                messages.drain(..taken);
            }
        }
    }
}
