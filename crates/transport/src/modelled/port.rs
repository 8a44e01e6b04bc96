use std::collections::VecDeque;

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, Sent, TakeValue, ValueMessage, ValuePort,
};

use super::network::ModelledNetwork;

/// A PE's end of the wires of a [`ModelledNetwork`]. All its messages travel by value, as between
/// nodes that share no memory.
#[derive(Debug)]
pub struct ModelledPort<E> {
    me: u32,
    network: ModelledNetwork<E>,
    /// Messages that were sent and not flushed. Its memory is that of a list that has left.
    kept_back: VecDeque<(u32, ValueMessage<E>)>,
}

impl<E> ModelledPort<E> {
    pub(super) fn new(me: u32, network: ModelledNetwork<E>) -> Self {
        ModelledPort { me, network, kept_back: VecDeque::new() }
    }
}

impl<E> MessagePort for ModelledPort<E> {
    /// # Panics
    /// Always: buffers lie in memory that PEs share.
    fn send(&mut self, to: u32, _: &[Message]) -> usize {
        unreachable!("PE {} sends PE {to} a buffer on a machine of many nodes", self.me)
    }

    fn receive(&mut self, _: &mut Vec<Message>) {}
}

impl<E> ValuePort<E> for ModelledPort<E> {
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        if self.kept_back.capacity() == 0 {
            self.kept_back = self.network.get().take_list();
        }
        self.kept_back.push_back((to, make()));
        Ok(())
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.network.get().receive_values(self.me, to);
    }
}

impl<E> BoundPort for ModelledPort<E> {
    fn publish(&mut self, bound: u64) {
        self.network.get().mailbox(self.me).outbox.bound = Some(bound);
    }

    fn bound(&mut self, pe: u32) -> u64 {
        self.network.get().bound(pe, self.me)
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        self.network.get().mailbox(self.me).outbox.round = Some((round, bound));
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.network.get().bound_of_round(pe, self.me, round)
    }
}

impl<E> ControlPort for ModelledPort<E> {
    fn send_control(&mut self, to: u32, control: Control) {
        self.network.get().send_control(self.me, to, control);
    }

    fn receive_control(&mut self) -> Option<Control> {
        self.network.get().take_control(self.me)
    }

    fn write(&mut self, to: u32, put: Put) {
        self.network.get().write(self.me, to, put);
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        self.network.get().take_write(self.me)
    }
}

impl<E> Port<E> for ModelledPort<E> {
    fn flush(&mut self) {
        if !self.kept_back.is_empty() {
            let mut network = self.network.get();
            let values = &mut network.mailbox(self.me).outbox.values;
            if values.is_empty() {
                *values = std::mem::take(&mut self.kept_back);
            } else {
                values.append(&mut self.kept_back);
            }
        }
    }
}
