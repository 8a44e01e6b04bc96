//! Messages from and to other PEs. They are received in two stages, in one step from the mailbox into a list and in the next from there
//! into the pending set, and every sender has a queue of its own: D. Jagtap, N. Abu-Ghazaleh and D. Ponomarev, "Optimization of
//! parallel discrete event simulator for multi-core systems", IPDPS 2012. The events themselves stay where they are: buffers change
//! hands (see [`Buffers`](warpline_memory::Buffers)).

use warpline_base::Moment;
use warpline_model::Model;

use crate::execute::Keys;
use crate::gvt::Tag;
use crate::pe::Pe;
use crate::pending::{Entry, PendingSet};
use crate::phases::Phase;
use crate::wires::{Message, MessageKind, Port};

impl<M: Model, Q: PendingSet, P: Port> Pe<'_, M, Q, P> {
    /// Moves the messages that the last step found into the pending set, and then those in the mailbox into their place. Stragglers among
    /// them are noticed when their turn comes; anti-messages take effect as they are moved.
    pub(crate) fn receive(&mut self) {
        let mut incoming = std::mem::take(&mut self.incoming);
        for message in incoming.drain(..) {
            match message.kind {
                MessageKind::Event => self.accept(message),
                MessageKind::Anti => self.annul(message),
                MessageKind::Empty { from } => self.buffers.accept_empty(from.into(), message.event),
            }
        }
        self.port.receive(&mut incoming);
        if !incoming.is_empty() {
            self.counts.receipts += 1;
            self.counts.mailbox_depth_max = self.counts.mailbox_depth_max.max(incoming.len() as u64);
            incoming.iter().for_each(|message| self.buffers.prefetch_write(message.event));
        }
        self.incoming = incoming;
        while let Some(control) = self.port.hear() {
            self.gvt.hear(control);
        }
    }

    #[inline]
    fn accept(&mut self, message: Message) {
        self.counts.messages_received += 1;
        self.buffers.accept(message.event);
        let event = self.buffers.get(message.event);
        let (time, key) = (event.time, event.key());
        self.gvt.received(message.tag, || Moment::Event(key));
        let entry = Entry::new(time, self.ties.prefix(&key), message.event);
        self.pending.push(entry, &Keys { buffers: &self.buffers, ties: self.ties });
    }

    /// Undoes the event that an anti-message cancels.
    #[cold]
    fn annul(&mut self, message: Message) {
        self.counts.anti_received += 1;
        let key = self.buffers.get(message.event).key();
        self.gvt.received(message.tag, || Moment::Event(key));
        self.release_held();
        self.cancelled.push(message.event);
        self.rolling(Phase::Receive, false, Self::undo_cancelled);
    }

    /// Sends free buffers back to PEs that send more than they receive, or these would take ever new ones. (Fujimoto and Panesar let such
    /// a PE wait instead.)
    pub(crate) fn return_surplus(&mut self) {
        for to in 0..self.partition.pes() {
            while let Some(event) = self.buffers.give_surplus(to, self.surplus_most) {
                let message = Message { event, tag: Tag::default(), kind: MessageKind::Empty { from: self.me as u16 } };
                self.outgoing[to as usize].push(message);
            }
        }
    }

    /// Hands over what was sent to other PEs, as far as there is room.
    pub(crate) fn hand_over(&mut self) {
        for (to, messages) in (0..).zip(&mut self.outgoing) {
            if !messages.is_empty() {
                let taken = self.port.send(to, messages);
                messages.drain(..taken);
            }
        }
    }
}
