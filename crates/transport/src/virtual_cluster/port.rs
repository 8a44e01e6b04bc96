use std::collections::VecDeque;

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, Sent, TakeValue, UnreadableEvent,
    ValueMessage, ValuePort,
};

use super::network::SharedNetwork;
use crate::Decoded;

/// A PE's end of the wires of a [`VirtualCluster`](super::VirtualCluster).
#[derive(Debug)]
pub struct VirtualPort<E> {
    me: u32,
    network: SharedNetwork<E>,
    /// Events that have arrived without their payloads.
    unreadable: VecDeque<UnreadableEvent>,
}

impl<E> VirtualPort<E> {
    pub(super) fn new(me: u32, network: SharedNetwork<E>) -> Self {
        VirtualPort { me, network, unreadable: VecDeque::new() }
    }
}

impl<E> MessagePort for VirtualPort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        self.network.get().send(self.me, to, messages)
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        self.network.get().receive(self.me, into);
    }
}

impl<E> ValuePort<E> for VirtualPort<E> {
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        self.network.get().keep_value(self.me, to, make())
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.network.get().receive_values(self.me, |found| match found {
            Decoded::Message(message) => to.take(message),
            Decoded::Unreadable(event) => self.unreadable.push_back(event),
        });
    }

    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.unreadable.pop_front()
    }
}

impl<E> BoundPort for VirtualPort<E> {
    fn publish(&mut self, bound: u64) {
        self.network.get().publish(self.me, None, bound);
    }

    fn bound(&mut self, pe: u32) -> u64 {
        self.network.get().bound(pe, self.me)
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        self.network.get().publish(self.me, Some(round), bound);
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.network.get().bound_of_round(pe, self.me, round)
    }
}

impl<E> ControlPort for VirtualPort<E> {
    fn send_control(&mut self, to: u32, control: Control) {
        self.network.get().send_control(self.me, to, control);
    }

    fn receive_control(&mut self) -> Option<Control> {
        self.network.get().receive_control(self.me)
    }

    fn write(&mut self, to: u32, put: Put) {
        self.network.get().write(self.me, to, put);
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        self.network.get().written(self.me)
    }
}

impl<E> Port<E> for VirtualPort<E> {
    fn flush(&mut self) {
        self.network.get().flush(self.me);
    }
}
