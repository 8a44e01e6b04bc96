//! One ring per PE, in which all others reserve places by compare-and-swap.
//!
//! Among few threads this is for comparison. Among many PEs of several processes it is the mailbox
//! that takes little memory: [inboxes](crate::inbox_ports) do not leave a process, and rings between
//! all pairs of 1024 PEs take gigabytes. There a PE keeps what is refused in one list for all
//! receivers, and all PEs of a process share what leads to the rings.

use std::collections::VecDeque;
use std::ops::Range;

use warpline_kernel::{
    BoundPort, Message, MessagePort, Port, Sent, TakeValue, ValueMessage, ValuePort,
};
use warpline_memory::{
    APART_MOST, CasConsumer, CasCounts, CasProducer, CasProducers, DropEach, IsPortable, Lines,
    MakeRoom, Region, cas_ring_bytes, cas_ring_in, drop_each, lines,
};
use warpline_model::engine::PortableWith;

use crate::Room;
use crate::controls::{ControlPlan, ControlWires, by_shared_memory, control_wires};
use crate::room::UNREAD;

/// How many messages a ring holds per sender.
const ROOM_PER_SENDER: usize = 256;
/// The least and the most that a ring holds.
const ROOM_LEAST: usize = 1024;
const ROOM_MOST: usize = 8192;
/// How many it holds if there are more PEs than `APART_MOST`: about as many as a PE sends in a step.
const ROOM_AMONG_MANY: usize = 128;
/// How often a PE tries to push a message into a ring that others are pushing into, before it goes
/// on with something else.
const TRIES: u32 = 64;
/// The same among many PEs, which have no cores of their own: who is in the way may not be running.
const TRIES_AMONG_MANY: u32 = 2;
/// How many messages by value to one PE are kept back at most: as many as a PE sends in a step or
/// two.
const KEPT_MOST: usize = 512;

/// A message in a ring.
#[derive(PortableWith)]
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
    to: Outlets<E>,
    from: CasConsumer<Item<E>>,
    /// Messages by value that have been received but not taken yet.
    values: DropEach<ValueMessage<E>>,
    /// How many messages may be kept back for one receiver, or in one list for all.
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

/// The ways to other PEs, and the messages by value that are kept back there.
enum Outlets<E> {
    Apart {
        /// By PE; none to itself.
        to: Vec<Option<CasProducer<Item<E>>>>,
        /// By receiver.
        kept: Vec<Kept<E>>,
        /// The receivers for which any are kept.
        receivers: Vec<u32>,
    },
    Together {
        to: CasProducers<Item<E>>,
        /// Messages that have been flushed, and wait only for room, with their receivers.
        flushed: VecDeque<(u32, ValueMessage<E>)>,
        /// Those that must not go out yet.
        unflushed: DropEach<(u32, ValueMessage<E>)>,
    },
}

/// How many messages each ring holds in a run of so many PEs.
fn capacity(pes: usize, room: Room) -> usize {
    room.places(if pes > APART_MOST as usize {
        ROOM_AMONG_MANY
    } else {
        (ROOM_PER_SENDER * pes).clamp(ROOM_LEAST, ROOM_MOST)
    })
}

/// How many bytes the rings of so many PEs take.
pub fn cas_port_bytes<E>(pes: u32) -> u64 {
    u64::from(pes) * cas_ring_bytes::<Item<E>>(capacity(pes as usize, Room::Ample)) as u64
}

/// The ends of the wires of the PEs of a plan, in one process.
pub fn cas_ports<E: Send>(plan: &ControlPlan) -> Vec<CasPort<E>> {
    cas_ports_in(&Region::own(), None, &(0..plan.neighbours.len() as u32), plan)
}

/// The ends of the wires of the PEs in the range `mine`, those of this process, to all PEs of a
/// plan. Rings lie in the region. If processes share it, events must be portable.
///
/// # Panics
/// If processes share the region, and there is no proof that events are portable.
pub fn cas_ports_in<E: Send>(
    region: &Region,
    portable: Option<IsPortable<E>>,
    mine: &Range<u32>,
    plan: &ControlPlan,
) -> Vec<CasPort<E>> {
    let pes = plan.neighbours.len();
    let capacity = capacity(pes, plan.room);
    let ring = |_| cas_ring_in(region, portable.map(Item::is_portable), capacity);
    let (producers, consumers): (Vec<_>, Vec<_>) = (0..pes).map(ring).unzip();
    let outlets = Outlets::all(producers, mine);
    let ends = consumers
        .into_iter()
        .zip(lines(region, pes as u32))
        .zip(control_wires(region, &(0..pes), plan))
        .skip(mine.start as usize);
    let port = |(to, ((from, bounds), controls))| CasPort {
        to,
        from,
        values: DropEach::default(),
        kept_most: plan.room.places(KEPT_MOST),
        bound: None,
        rounds: VecDeque::new(),
        bounds,
        controls,
    };
    outlets.into_iter().zip(ends).map(port).collect()
}

impl<E> Outlets<E> {
    /// Those of the PEs `mine`.
    fn all(producers: Vec<CasProducer<Item<E>>>, mine: &Range<u32>) -> Vec<Self> {
        let pes = producers.len();
        if pes > APART_MOST as usize {
            let to = CasProducers::new(producers);
            let outlets = |_| Outlets::Together {
                to: to.clone(),
                flushed: VecDeque::new(),
                unflushed: DropEach::default(),
            };
            return mine.clone().map(outlets).collect();
        }
        let to_others = |me: u32| {
            let other =
                |(to, producer): (u32, &CasProducer<_>)| (to != me).then(|| producer.clone());
            (0..).zip(&producers).map(other).collect()
        };
        let none = || Kept { messages: VecDeque::new(), flushed: 0 };
        let outlets = |me| Outlets::Apart {
            to: to_others(me),
            kept: (0..pes).map(|_| none()).collect(),
            receivers: Vec::new(),
        };
        mine.clone().map(outlets).collect()
    }

    /// Keeps a message back, unless too many are.
    fn keep(
        &mut self,
        to: u32,
        message: ValueMessage<E>,
        most: usize,
    ) -> Result<(), ValueMessage<E>> {
        match self {
            Outlets::Apart { kept, receivers, .. } => {
                let kept = &mut kept[to as usize].messages;
                if kept.len() >= most {
                    return Err(message);
                }
                if kept.is_empty() {
                    receivers.make_room(1, UNREAD);
                    receivers.push(to);
                }
                kept.make_room(1, UNREAD);
                kept.push_back(message);
            }
            Outlets::Together { flushed, unflushed, .. } => {
                if flushed.len() + unflushed.len() >= most {
                    return Err(message);
                }
                unflushed.make_room(1, UNREAD);
                unflushed.push((to, message));
            }
        }
        Ok(())
    }

    /// Whether anything is kept.
    fn has_any(&self) -> bool {
        match self {
            Outlets::Apart { receivers, .. } => !receivers.is_empty(),
            Outlets::Together { flushed, .. } => !flushed.is_empty(),
        }
    }

    /// From now on, all that is kept may go out.
    fn flush(&mut self) {
        match self {
            Outlets::Apart { kept, receivers, .. } => receivers.iter().for_each(|receiver| {
                let kept = &mut kept[*receiver as usize];
                kept.flushed = kept.messages.len();
            }),
            Outlets::Together { flushed, unflushed, .. } => {
                flushed.make_room(unflushed.len(), UNREAD);
                flushed.extend(unflushed.drain(..));
            }
        }
    }

    fn counts(&self) -> CasCounts {
        match self {
            Outlets::Apart { to, .. } => to.iter().flatten().map(CasProducer::counts).sum(),
            Outlets::Together { to, .. } => to.counts(),
        }
    }
}

impl<E: Send> Outlets<E> {
    fn push(&mut self, to: u32, item: Item<E>) -> Result<(), Item<E>> {
        match self {
            Outlets::Apart { to: rings, .. } => push(&mut rings[to as usize], item),
            Outlets::Together { to: rings, .. } => push_among_many(rings, to, item),
        }
    }

    /// Hands over what was flushed, as far as there is room. Returns whether that was all.
    fn hand_over(&mut self) -> bool {
        match self {
            Outlets::Apart { to, kept, receivers } => {
                let mut all = true;
                receivers.retain(|receiver| {
                    let kept = &mut kept[*receiver as usize];
                    all &= kept.hand_over(&mut to[*receiver as usize]);
                    !kept.messages.is_empty()
                });
                all
            }
            Outlets::Together { to, flushed, .. } => {
                // What comes later for the same receiver must not overtake.
                let mut refused: Vec<u32> = Vec::new();
                for _ in 0..flushed.len() {
                    let Some((receiver, message)) = flushed.pop_front() else { break };
                    let item = Item::Value(message);
                    let has_refused = refused.contains(&receiver);
                    let pushed =
                        if has_refused { Err(item) } else { push_among_many(to, receiver, item) };
                    if let Err(Item::Value(message)) = pushed {
                        if !has_refused {
                            refused.make_room(1, UNREAD);
                            refused.push(receiver);
                        }
                        flushed.push_back((receiver, message));
                    }
                }
                flushed.is_empty()
            }
        }
    }
}

impl<E: Send> Kept<E> {
    /// Hands over what was flushed, as far as there is room. Returns whether that was all.
    fn hand_over(&mut self, to: &mut Option<CasProducer<Item<E>>>) -> bool {
        while self.flushed > 0
            && let Some(message) = self.messages.pop_front()
        {
            if let Err(Item::Value(message)) = push(to, Item::Value(message)) {
                self.messages.push_front(message);
                return false;
            }
            self.flushed -= 1;
        }
        true
    }
}

impl<E: Send> CasPort<E> {
    /// Hands over what was flushed, as far as there is room. If that was all, publishes the bounds
    /// that wait for it.
    fn hand_over_flushed(&mut self) {
        if self.to.hand_over() {
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

fn push_among_many<E: Send>(
    rings: &mut CasProducers<Item<E>>,
    to: u32,
    item: Item<E>,
) -> Result<(), Item<E>> {
    let pushed = rings.push_within(to as usize, item, TRIES_AMONG_MANY);
    pushed.map_err(|refused| refused.value)
}

impl<E: Send> MessagePort for CasPort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let outlets = &mut self.to;
        messages
            .iter()
            .position(|message| outlets.push(to, Item::Message(*message)).is_err())
            .unwrap_or(messages.len())
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        if self.to.has_any() {
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
    fn send_value(&mut self, to: u32, make: impl FnOnce() -> ValueMessage<E>) -> Sent<E> {
        self.to.keep(to, make(), self.kept_most)
    }

    fn receive_values(&mut self, to: &mut impl TakeValue<E>) {
        self.values.drain(..).for_each(|message| to.take(message));
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
        self.to.flush();
        self.hand_over_flushed();
        self.controls.flush();
    }

    fn refusals(&self) -> CasCounts {
        self.to.counts()
    }
}

impl<E> Drop for Outlets<E> {
    fn drop(&mut self) {
        match self {
            Outlets::Apart { kept, .. } => {
                kept.iter_mut().for_each(|kept| drop_each(kept.messages.drain(..)));
            }
            Outlets::Together { flushed, .. } => drop_each(flushed.drain(..)),
        }
    }
}
