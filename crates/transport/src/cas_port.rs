//! One ring per PE, in which all others reserve places by compare-and-swap.

use std::collections::VecDeque;

use warpline_kernel::{BoundPort, Message, MessagePort, Port, ValueMessage, ValuePort};
use warpline_memory::{
    CasConsumer, CasCounts, CasProducer, DropEach, Lines, MakeRoom, Region, cas_ring, drop_each,
    lines,
};

use crate::controls::{ControlPlan, ControlWires, by_shared_memory, control_wires};
use crate::room::UNREAD;

/// How many messages a ring holds per sender.
const ROOM_PER_SENDER: usize = 256;
/// The least and the most that a ring holds.
const ROOM_LEAST: usize = 1024;
const ROOM_MOST: usize = 8192;
/// How often a PE tries to push a message into a ring that others are pushing into, before it goes
/// on with something else.
const TRIES: u32 = 64;
/// How many messages by value to one PE are kept back at most: as many as a PE sends in a step or
/// two.
const KEPT_MOST: usize = 512;

/// A message in a ring.
enum Item<E> {
    Message(Message),
    Value(ValueMessage<E>),
}

/// Messages by value to one PE that are kept back.
struct Kept<E> {
    messages: VecDeque<ValueMessage<E>>,
    /// How many of the first have been flushed. They wait only for room. The others must not go out
    /// yet, as GVT may not know of them.
    flushed: usize,
}

/// A PE's end of the wires where each PE has one ring for all that send to it. This is the
/// compare-and-swap buffer of B. Williams, A. Eker, K. Chiu and D. Ponomarev, "High-performance
/// PDES on manycore clusters", SIGSIM-PADS 2021, §4.1. There it leads to a communication thread;
/// here it connects PEs.
///
/// A PE that is refused retries a few times, and then again in its next step. Its bounds wait until
/// the messages that it sent by value before have been handed over, so that no bound overtakes a
/// message.
pub struct CasPort<E> {
    /// By PE; none to itself.
    to: Vec<Option<CasProducer<Item<E>>>>,
    from: CasConsumer<Item<E>>,
    /// Messages by value that have been received but not taken yet.
    values: DropEach<ValueMessage<E>>,
    /// By receiver: messages that are kept back.
    kept: Vec<Kept<E>>,
    /// The receivers for which any are.
    receivers: Vec<u32>,
    /// How many may be kept back for one receiver.
    kept_most: usize,
    /// The bound to be published once they have been handed over.
    bound: Option<u64>,
    /// Likewise for rounds: rounds and their bounds. There can be several: a PE may find the bounds
    /// of all others for a round, and publish for the next, while its own for the first still
    /// waits.
    rounds: VecDeque<(u64, u64)>,
    bounds: Lines,
    controls: ControlWires,
}

/// The ends of the wires of the PEs of a plan, in one process.
pub fn cas_ports<E: Send>(plan: &ControlPlan) -> Vec<CasPort<E>> {
    let pes = plan.neighbours.len();
    let capacity = plan.room.places((ROOM_PER_SENDER * pes).clamp(ROOM_LEAST, ROOM_MOST));
    let (producers, consumers): (Vec<_>, Vec<_>) = (0..pes).map(|_| cas_ring(capacity)).unzip();
    let own = Region::own();
    let ends = consumers
        .into_iter()
        .zip(lines(&own, pes as u32))
        .zip(control_wires(&own, &(0..pes), plan))
        .enumerate();
    let port = |(me, ((from, bounds), controls))| CasPort {
        to: producers
            .iter()
            .enumerate()
            .map(|(to, producer): (_, &CasProducer<_>)| (to != me).then(|| producer.clone()))
            .collect(),
        from,
        values: DropEach::default(),
        kept: (0..pes).map(|_| Kept { messages: VecDeque::new(), flushed: 0 }).collect(),
        receivers: Vec::new(),
        kept_most: plan.room.places(KEPT_MOST),
        bound: None,
        rounds: VecDeque::new(),
        bounds,
        controls,
    };
    ends.map(port).collect()
}

impl<E: Send> CasPort<E> {
    /// Hands over what was flushed, as far as there is room. If that was all, publishes the bounds
    /// that wait for it.
    fn hand_over_flushed(&mut self) {
        let CasPort { to, kept, receivers, .. } = self;
        let mut all = true;
        receivers.retain(|receiver| {
            let Kept { messages, flushed } = &mut kept[*receiver as usize];
            while *flushed > 0
                && let Some(message) = messages.pop_front()
            {
                if let Err(Item::Value(message)) =
                    push(&mut to[*receiver as usize], Item::Value(message))
                {
                    messages.push_front(message);
                    all = false;
                    break;
                }
                *flushed -= 1;
            }
            !messages.is_empty()
        });
        if all {
            if let Some(bound) = self.bound.take() {
                self.bounds.write(bound);
            }
            self.rounds.drain(..).for_each(|(round, bound)| self.bounds.write_round(round, bound));
        }
    }
}

fn push<E: Send>(to: &mut Option<CasProducer<Item<E>>>, item: Item<E>) -> Result<(), Item<E>> {
    match to {
        Some(ring) => ring.push_within(item, TRIES).map_err(|refused| refused.value),
        None => panic!("a PE has no wire to itself"),
    }
}

impl<E: Send> MessagePort for CasPort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let ring = &mut self.to[to as usize];
        messages
            .iter()
            .position(|message| push(ring, Item::Message(*message)).is_err())
            .unwrap_or(messages.len())
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        if !self.receivers.is_empty() {
            self.hand_over_flushed();
        }
        let values = &mut self.values;
        self.from.drain(usize::MAX, |item| match item {
            Item::Message(message) => {
                into.make_room(1, UNREAD);
                into.push(message);
            }
            Item::Value(message) => {
                values.make_room(1, UNREAD);
                values.push(message);
            }
        });
    }
}

impl<E: Send> ValuePort<E> for CasPort<E> {
    fn send_value(&mut self, to: u32, message: ValueMessage<E>) -> Result<(), ValueMessage<E>> {
        let kept = &mut self.kept[to as usize].messages;
        if kept.len() >= self.kept_most {
            return Err(message);
        }
        if kept.is_empty() {
            self.receivers.make_room(1, UNREAD);
            self.receivers.push(to);
        }
        kept.make_room(1, UNREAD);
        kept.push_back(message);
        Ok(())
    }

    fn receive_values(&mut self, take: &mut impl FnMut(ValueMessage<E>)) {
        self.values.drain(..).for_each(take);
    }
}

impl<E: Send> BoundPort for CasPort<E> {
    fn publish(&mut self, bound: u64) {
        self.bound = Some(bound);
        self.hand_over_flushed();
    }

    fn bound(&mut self, pe: u32) -> u64 {
        self.bounds.read(pe)
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        self.rounds.push_back((round, bound));
        self.hand_over_flushed();
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        self.bounds.read_round(pe, round)
    }
}

by_shared_memory!(CasPort: controls);

impl<E: Send> Port<E> for CasPort<E> {
    fn flush(&mut self) {
        self.receivers.iter().for_each(|receiver| {
            let kept = &mut self.kept[*receiver as usize];
            kept.flushed = kept.messages.len();
        });
        self.hand_over_flushed();
        self.controls.flush();
    }

    fn refusals(&self) -> CasCounts {
        self.to.iter().flatten().map(CasProducer::counts).sum()
    }
}

impl<E> Drop for CasPort<E> {
    fn drop(&mut self) {
        self.kept.iter_mut().for_each(|kept| drop_each(kept.messages.drain(..)));
    }
}
