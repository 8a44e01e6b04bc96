use std::collections::VecDeque;

use warpline_kernel::gvt::Control;
use warpline_kernel::{Message, Port, ValueMessage};
use warpline_memory::{Consumer, Lines, MakeRoom, Producer, lines, ring};

use crate::inbox::{Inboxes, inboxes};

/// With more PEs than this, there are inboxes in place of rings: all rings to and from a PE take about 100 kB then, and twice as many PEs
/// would take four times as much memory.
const RINGS_MOST: u32 = 32;
/// How many messages a ring holds in a run of two PEs; with more PEs, fewer. What does not fit waits at the sender.
const MESSAGES: usize = 4096;
/// The least that a ring holds, however many PEs there are.
const MESSAGES_LEAST: usize = 64;
/// How many bytes of messages by value a ring holds in a run of two PEs: more makes nothing faster. More PEs share four times as much among
/// all pairs.
const VALUE_BYTES: usize = 64 << 10;
/// The least number of messages by value that a ring holds, however large they are: in a run of two PEs as many as one sends in two
/// batches, and with many PEs the second number.
const VALUES_BETWEEN_TWO: usize = 256;
const VALUES_LEAST: usize = 64;
/// How many control messages a ring between neighbours holds.
const CONTROLS: usize = 8;
/// Rings are prefetched only with this many PEs or fewer, as most rings bring something in each step then.
const FETCHED_AHEAD: usize = 8;

/// A PE's end of the wires: a ring from every other PE and one to it (per-sender mailboxes), so that only two PEs ever contend. With many
/// PEs, one inbox for each.
pub struct RingPort<E> {
    /// By PE; none to itself, and none where there are inboxes.
    to: Vec<Option<Producer<Message>>>,
    from: Vec<Consumer<Message>>,
    /// Likewise, for messages by value.
    values_to: Vec<Option<Producer<ValueMessage<E>>>>,
    values_from: Vec<Consumer<ValueMessage<E>>>,
    inboxes: Option<Inboxes<E>>,
    bounds: Lines,
    /// With the numbers of the neighbours, which are few.
    control_to: Vec<(u32, Producer<Control>)>,
    control_from: Vec<Consumer<Control>>,
    /// Control messages that found no room.
    late: VecDeque<(u32, Control)>,
    controls: Vec<Control>,
}

/// The ends of the wires of this many PEs. Each sends control messages only to its `neighbours`, as given by the GVT algorithm.
pub fn ring_ports<E: Send>(pes: u32, neighbours: impl Fn(u32) -> Vec<u32>) -> Vec<RingPort<E>> {
    let ringed = if pes > RINGS_MOST { 0 } else { pes };
    let empty = |bounds| RingPort {
        to: (0..ringed).map(|_| None).collect(),
        from: Vec::new(),
        values_to: (0..ringed).map(|_| None).collect(),
        values_from: Vec::new(),
        inboxes: None,
        bounds,
        control_to: Vec::new(),
        control_from: Vec::new(),
        late: VecDeque::new(),
        controls: Vec::new(),
    };
    let mut ports: Vec<RingPort<E>> = lines(pes).into_iter().map(empty).collect();
    let capacity = (2 * MESSAGES / pes as usize).max(MESSAGES_LEAST);
    let shared_out = |room: usize| room * 4 / (pes as usize).pow(2);
    let values = shared_out(VALUE_BYTES / size_of::<ValueMessage<E>>()).max(shared_out(VALUES_BETWEEN_TWO)).max(VALUES_LEAST);
    if ringed == 0 {
        ports.iter_mut().zip(inboxes(pes)).for_each(|(port, inboxes)| port.inboxes = Some(inboxes));
    }
    for sender in 0..pes as usize {
        for receiver in (0..pes as usize).filter(|&receiver| receiver != sender && ringed > 0) {
            let (producer, consumer) = ring(capacity);
            ports[sender].to[receiver] = Some(producer);
            ports[receiver].from.push(consumer);
            let (producer, consumer) = ring(values);
            ports[sender].values_to[receiver] = Some(producer);
            ports[receiver].values_from.push(consumer);
        }
        for receiver in neighbours(sender as u32) {
            let (producer, consumer) = ring(CONTROLS);
            ports[sender].control_to.push((receiver, producer));
            ports[receiver as usize].control_from.push(consumer);
        }
    }
    ports
}

impl<E> RingPort<E> {
    fn inboxes_to(&mut self, to: u32) -> &mut Inboxes<E> {
        match &mut self.inboxes {
            Some(inboxes) => inboxes,
            None => panic!("PE {to} has no wire to itself"),
        }
    }

    fn send_late_controls(&mut self) {
        while let Some(&(to, control)) = self.late.front() {
            if !self.push_control(to, control) {
                return;
            }
            self.late.pop_front();
        }
    }

    fn push_control(&mut self, to: u32, control: Control) -> bool {
        let wire = self.control_to.iter_mut().find(|(neighbour, _)| *neighbour == to);
        let Some((_, wire)) = wire else { panic!("PE {to} is no neighbour: GVT sends it no control messages") };
        wire.push(control)
    }
}

impl<E: Send> Port<E> for RingPort<E> {
    #[inline]
    fn prefetch(&self) {
        if self.inboxes.is_none() && self.to.len() <= FETCHED_AHEAD {
            self.to.iter().flatten().for_each(Producer::prefetch);
            self.from.iter().for_each(Consumer::prefetch);
            self.values_to.iter().flatten().for_each(Producer::prefetch);
            self.control_from.iter().for_each(Consumer::prefetch);
        }
    }

    #[inline]
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        match self.to.get_mut(to as usize) {
            Some(Some(wire)) => wire.push_some(messages),
            _ => {
                self.inboxes_to(to).send(to, messages);
                messages.len()
            }
        }
    }

    #[inline]
    fn receive(&mut self, into: &mut Vec<Message>) {
        for wire in &mut self.from {
            wire.drain_into(into, usize::MAX);
        }
        if let Some(inboxes) = &mut self.inboxes {
            inboxes.receive(into);
        }
    }

    #[inline(always)]
    fn send_value(&mut self, to: u32, message: ValueMessage<E>) -> Result<(), ValueMessage<E>> {
        match self.values_to.get_mut(to as usize) {
            Some(Some(wire)) => wire.write(message),
            _ => {
                self.inboxes_to(to).send_value(to, message);
                Ok(())
            }
        }
    }

    #[inline]
    fn flush(&mut self) {
        self.values_to.iter_mut().flatten().for_each(Producer::publish);
    }

    #[inline]
    fn look_for_values(&mut self) {
        self.values_from.iter_mut().for_each(Consumer::look);
    }

    #[inline]
    fn receive_values(&mut self, take: &mut impl FnMut(ValueMessage<E>)) {
        for wire in &mut self.values_from {
            if let Some(messages) = wire.drain_seen() {
                messages.for_each(&mut *take);
            }
        }
        if let Some(inboxes) = &mut self.inboxes {
            inboxes.receive_values(take);
        }
    }

    #[inline]
    fn publish(&mut self, word: u64) {
        self.bounds.write(word);
    }

    #[inline]
    fn bound(&mut self, pe: u32) -> u64 {
        self.bounds.read(pe)
    }

    #[inline]
    fn publish_round(&mut self, round: u64, word: u64) {
        self.bounds.write_round(round, word);
    }

    #[inline]
    fn word_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.bounds.read_round(pe, round)
    }

    fn send_control(&mut self, to: u32, control: Control) {
        if !self.late.is_empty() || !self.push_control(to, control) {
            self.late.make_room(1, "control messages");
            self.late.push_back((to, control));
        }
    }

    #[inline]
    fn receive_control(&mut self) -> Option<Control> {
        if !self.late.is_empty() {
            self.send_late_controls();
        }
        if self.controls.is_empty() {
            for wire in &mut self.control_from {
                wire.drain_into(&mut self.controls, usize::MAX);
            }
            self.controls.reverse();
        }
        self.controls.pop()
    }
}
