use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, Sent, TakeValue, UnreadableEvent,
    ValueMessage, ValuePort,
};
use warpline_memory::CasCounts;

use crate::{CasPort, InboxPort, ModelledPort, NodePort, RingPort, VirtualPort};

/// A port of a kind that is chosen at run time. It saves compiling the engine of each model for each
/// kind.
///
/// Rings are what most runs use. How messages by value are written into them and read is compiled
/// into the code of a PE; other ports are called.
pub enum AnyPort<E> {
    /// To other threads, by rings.
    Ring(Box<RingPort<E>>),
    /// To other threads, by inboxes.
    Inbox(Box<InboxPort<E>>),
    /// To other threads, by one ring for each PE, which all others share.
    Cas(Box<CasPort<E>>),
    /// To PEs some of which are far.
    Node(Box<NodePort<E>>),
    /// To PEs of a virtual cluster.
    Virtual(VirtualPort<E>),
    /// To PEs of a modelled machine.
    Modelled(ModelledPort<E>),
}

/// Passes a call on to the port.
macro_rules! either {
    ($self:expr, $port:ident => $call:expr) => {
        match $self {
            AnyPort::Ring($port) => $call,
            AnyPort::Inbox($port) => $call,
            AnyPort::Cas($port) => $call,
            AnyPort::Node($port) => $call,
            AnyPort::Virtual($port) => $call,
            AnyPort::Modelled($port) => $call,
        }
    };
}

impl<E: Send> MessagePort for AnyPort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        either!(self, port => port.send(to, messages))
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        either!(self, port => port.receive(into));
    }
}

impl<E: Send> ValuePort<E> for AnyPort<E> {
    #[inline(always)]
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        match self {
            AnyPort::Ring(port) => port.send_value(to, make),
            other => other.send_value_elsewhere(to, make()),
        }
    }

    fn look_for_values(&mut self) {
        either!(self, port => port.look_for_values());
    }

    #[inline(always)]
    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        match self {
            AnyPort::Ring(port) => port.receive_values(to),
            other => other.receive_values_elsewhere(&mut |message| to.take(message)),
        }
    }

    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        either!(self, port => port.receive_unreadable())
    }
}

impl<E: Send> AnyPort<E> {
    #[inline(never)]
    fn send_value_elsewhere(&mut self, to: u32, message: ValueMessage<E>) -> Sent<E> {
        either!(self, port => port.send_value(to, || message))
    }

    #[inline(never)]
    fn receive_values_elsewhere(&mut self, to: &mut impl TakeValue<E>) {
        either!(self, port => port.receive_values(to));
    }
}

impl<E: Send> BoundPort for AnyPort<E> {
    fn publish(&mut self, bound: u64) {
        either!(self, port => port.publish(bound));
    }

    fn bound(&mut self, pe: u32) -> u64 {
        either!(self, port => port.bound(pe))
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        either!(self, port => port.publish_round(round, bound));
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        either!(self, port => port.bound_of_round(pe, round))
    }
}

impl<E: Send> ControlPort for AnyPort<E> {
    fn send_control(&mut self, to: u32, control: Control) {
        either!(self, port => port.send_control(to, control));
    }

    fn receive_control(&mut self) -> Option<Control> {
        either!(self, port => port.receive_control())
    }

    fn write(&mut self, to: u32, put: Put) {
        either!(self, port => port.write(to, put));
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        either!(self, port => port.written())
    }
}

impl<E: Send> Port<E> for AnyPort<E> {
    fn prefetch(&self) {
        either!(self, port => port.prefetch());
    }

    fn prefetch_to_flush(&self) {
        either!(self, port => port.prefetch_to_flush());
    }

    fn flush(&mut self) {
        either!(self, port => port.flush());
    }

    fn refusals(&self) -> CasCounts {
        either!(self, port => port.refusals())
    }
}
