//! One ring per PE, in which all others reserve places by compare-and-swap.

use std::collections::VecDeque;

use warpline_kernel::{BoundPort, Message, MessagePort, Port, ValueMessage, ValuePort};
use warpline_memory::{
    CasConsumer, CasCounts, CasProducer, DropEach, Lines, MakeRoom, Region, cas_ring, drop_each,
    lines,
};

use crate::controls::{ControlPlan, ControlWires, by_shared_memory, control_wires};

/// How many messages a ring holds per sender, and the least and the most in all.
const ROOM_PER_SENDER: usize = 256;
const ROOM: (usize, usize) = (1024, 8192);
/// How often a PE tries to push a message into a ring that others are pushing into, before it goes
/// on with something else.
const TRIES: u32 = 64;
/// How many messages by value to one PE are kept back at most: as many as a PE sends in a step or
/// two.
const KEPT_MOST: usize = 512;

/// What mailboxes hold, as error messages put it.
const UNREAD: &str = "messages that have yet to be received";

/// What goes through a ring.
enum Item<E> {
    Message(Message),
    Value(ValueMessage<E>),
}

/// Messages by value to one PE that are kept back.
struct Kept<E> {
    messages: VecDeque<ValueMessage<E>>,
    /// How many of them, from the first, have been flushed: they wait for room only. The others
    /// must not go out yet, as GVT may not know of them.
    flushed: usize,
}

/// A PE's end of the wires where each PE has one ring for all that send to it: the buffer with
/// compare-and-swap of B. Williams, A. Eker, K. Chiu and D. Ponomarev, "High-performance PDES on
/// manycore clusters", SIGSIM-PADS 2021, §4.1, between PEs rather than to a thread that
/// communicates.
///
/// A PE that is refused retries a few times, and then again in its next step. What it publishes
/// waits until what it has sent by value has been handed over, so that no bound overtakes a
/// message.
pub struct CasPort<E> {
    /// By PE; none to itself.
    to: Vec<Option<CasProducer<Item<E>>>>,
    from: CasConsumer<Item<E>>,
    /// Messages by value that have been received but not taken yet.
    values: DropEach<ValueMessage<E>>,
    /// By receiver; and the receivers that have any.
    kept: Vec<Kept<E>>,
    receivers: Vec<u32>,
    /// How many it keeps for one of them at most.
    kept_most: usize,
    /// What is to be published once those have been handed over.
    bound: Option<u64>,
    /// Bounds of rounds, likewise: a PE may find the bounds of all others for a round, and publish
    /// for the next, while its own bound for the first still waits.
    rounds: VecDeque<(u64, u64)>,
    bounds: Lines,
    controls: ControlWires,
}

/// The ends of the wires of the PEs of a plan, in one process.
pub fn cas_ports<E: Send>(plan: &ControlPlan) -> Vec<CasPort<E>> {
    let pes = plan.neighbours.len();
    let capacity = plan.room.places((ROOM_PER_SENDER * pes).clamp(ROOM.0, ROOM.1));
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
    /// Hands over what was flushed, as far as there is room, and then publishes what waits for
    /// that.
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
            self.bound.take().into_iter().for_each(|bound| self.bounds.write(bound));
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
