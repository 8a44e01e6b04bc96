use std::ops::Range;

use warpline_kernel::{Message, MessagePort, Port, Sent, TakeValue, ValueMessage, ValuePort};
use warpline_memory::{
    Consumer, IsPortable, Lines, Producer, Region, lines, pass_over_ring, ring_bytes, ring_in,
};

use crate::Room;
use crate::controls::{ControlPlan, ControlWires, by_shared_memory, control_wires};

/// How many messages a ring holds in a run of two PEs; with more PEs, fewer. What does not fit
/// waits at the sender.
const MESSAGES: usize = 4096;
/// The least that a ring holds, however many PEs there are.
const MESSAGES_LEAST: usize = 64;
/// How many bytes of messages by value a ring holds in a run of two PEs; a larger ring is no
/// faster. With more PEs, all pairs share four times as much.
const VALUE_BYTES: usize = 64 << 10;
/// The least number of messages by value that a ring holds in a run of two PEs, however large they
/// are: as many as a PE sends in two batches.
const VALUES_BETWEEN_TWO: usize = 256;
/// The same however many PEs there are.
const VALUES_LEAST: usize = 64;
/// Rings are prefetched only with up to this many PEs: then most of them have something in each
/// step.
const FETCHED_AHEAD: usize = 8;

/// A PE's end of the wires where each pair of PEs has rings of its own (per-sender mailboxes), so
/// that only two PEs ever contend.
pub struct RingPort<E> {
    /// By PE; none to itself.
    to: Vec<Option<Producer<Message>>>,
    from: Vec<Consumer<Message>>,
    /// Likewise, for messages by value.
    values_to: Vec<Option<Producer<ValueMessage<E>>>>,
    values_from: Vec<Consumer<ValueMessage<E>>>,
    bounds: Lines,
    controls: ControlWires,
}

/// How many messages each ring holds in a run of so many PEs, and how many messages by value.
fn capacities<E>(pes: usize, room: Room) -> (usize, usize) {
    let shared_out = |room: usize| room * 4 / pes.pow(2);
    let values = shared_out(VALUE_BYTES / size_of::<ValueMessage<E>>())
        .max(shared_out(VALUES_BETWEEN_TWO))
        .max(VALUES_LEAST);
    (room.places((2 * MESSAGES / pes).max(MESSAGES_LEAST)), room.places(values))
}

/// How many bytes the rings between all pairs of so many PEs take.
pub fn ring_port_bytes<E>(pes: u32) -> u64 {
    let (messages, values) = capacities::<E>(pes as usize, Room::Ample);
    let pair = ring_bytes::<Message>(messages) + ring_bytes::<ValueMessage<E>>(values);
    u64::from(pes) * u64::from(pes - 1) * pair as u64
}

/// The ends of the wires of the PEs in the range `mine`, those of this process, to the PEs in the
/// range `near`.
///
/// Rings lie in the region. If processes share it, events must be portable.
///
/// # Panics
/// If processes share the region, and there is no proof that events are portable.
pub fn ring_ports<E: Send>(
    region: &Region,
    portable: Option<IsPortable<E>>,
    (near, mine): (&Range<u32>, &Range<u32>),
    plan: &ControlPlan,
) -> Vec<RingPort<E>> {
    let all = plan.neighbours.len();
    let in_usize = |pes: &Range<u32>| pes.start as usize..pes.end as usize;
    let near = in_usize(near);
    let mine = in_usize(mine);
    let empty = |(bounds, controls)| RingPort {
        to: (0..all).map(|_| None).collect(),
        from: Vec::new(),
        values_to: (0..all).map(|_| None).collect(),
        values_from: Vec::new(),
        bounds,
        controls,
    };
    let ends = lines(region, all as u32).into_iter().zip(control_wires(region, &near, plan));
    let mut ports: Vec<RingPort<E>> = ends.skip(mine.start).take(mine.len()).map(empty).collect();
    let (messages, values) = capacities::<E>(near.len(), plan.room);
    for sender in near.clone() {
        for receiver in near.clone().filter(|&receiver| receiver != sender) {
            let [sends, receives] =
                [sender, receiver].map(|pe| mine.contains(&pe).then(|| pe - mine.start));
            if sends.is_none() && receives.is_none() {
                // Having the ends of all pairs in every process would take more memory than the
                // rings themselves.
                pass_over_ring::<Message>(region, messages);
                pass_over_ring::<ValueMessage<E>>(region, values);
                continue;
            }
            let (producer, consumer) = ring_in(region, Some(IsPortable::PROOF), messages);
            let (values_in, values_out) =
                ring_in(region, portable.map(ValueMessage::is_portable), values);
            if let Some(sender) = sends {
                ports[sender].to[receiver] = Some(producer);
                ports[sender].values_to[receiver] = Some(values_in);
            }
            if let Some(receiver) = receives {
                ports[receiver].from.push(consumer);
                ports[receiver].values_from.push(values_out);
            }
        }
    }
    ports
}

impl<E: Send> MessagePort for RingPort<E> {
    #[inline]
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        match &mut self.to[to as usize] {
            Some(wire) => wire.push_some(messages),
            None => panic!("PE {to} has no wire to itself"),
        }
    }

    #[inline]
    fn receive(&mut self, into: &mut Vec<Message>) {
        for wire in &mut self.from {
            wire.drain_into(into, usize::MAX);
        }
    }
}

impl<E: Send> ValuePort<E> for RingPort<E> {
    #[inline(always)]
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        match &mut self.values_to[to as usize] {
            Some(wire) => wire.write_made(make),
            None => panic!("PE {to} has no wire to itself"),
        }
    }

    #[inline]
    fn look_for_values(&mut self) {
        self.values_from.iter_mut().for_each(Consumer::look);
    }

    #[inline(always)]
    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        for wire in &mut self.values_from {
            if let Some(messages) = wire.drain_seen() {
                messages.for_each(|message| to.take(message));
            }
        }
    }
}

by_shared_memory!(RingPort: bounds, controls);

impl<E: Send> Port<E> for RingPort<E> {
    #[inline]
    fn prefetch(&self) {
        if self.to.len() <= FETCHED_AHEAD {
            self.to.iter().flatten().for_each(Producer::prefetch);
            self.from.iter().for_each(Consumer::prefetch);
            self.values_to.iter().flatten().for_each(Producer::prefetch);
            self.controls.prefetch();
        }
    }

    #[inline]
    fn prefetch_to_flush(&self) {
        if self.to.len() <= FETCHED_AHEAD {
            self.values_to.iter().flatten().for_each(Producer::prefetch_tail);
            self.bounds.prefetch();
        }
    }

    #[inline]
    fn flush(&mut self) {
        self.values_to.iter_mut().flatten().for_each(Producer::publish);
        self.controls.flush();
    }
}
