//! A torture test for PEs: all of them in one thread, in an order drawn from a seed.
//!
//! Messages are late and overtake each other. PEs stand still, and rings are full. Bounds are as
//! late as messages, but never overtake those sent before them. Where the model has a format for
//! its events, messages by value travel as bytes. The code of the PEs is unchanged. So this finds
//! errors that threads on few cores hardly ever meet, and makes them reproducible.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_base::random::mix64;
use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{
    BoundPort, ControlPort, Message, MessagePort, Port, UnreadableEvent, ValueMessage, ValuePort,
};
use warpline_memory::{DropEach, MakeRoom, try_drop};

use crate::{Codec, Decoded};

/// What the network holds, as error messages put it.
const UNREAD: &str = "messages that have yet to be received";

/// Speeds last for at most this many steps per PE.
const LASTING: u32 = 100;
/// With more PEs than this, speeds last no longer: GVT needs all PEs, and would wait long for those
/// that stand still.
const LASTING_PES: u32 = 16;

/// PEs that live in one thread, and the network between them. Which PE is stepped next, and how
/// long each message takes, is drawn from a seed; messages overtake each other. The same seed gives
/// the same schedule, so that errors can be reproduced. With a codec, messages by value travel as
/// bytes.
#[derive(Debug)]
pub struct VirtualCluster<E> {
    network: SharedNetwork<E>,
    random: Chance,
    /// How likely each PE is to be stepped: for a while, some are slow and some stand still.
    speeds: Vec<u32>,
    /// Their sum.
    total: u32,
    /// Steps until new speeds are drawn.
    until_change: u32,
}

/// All in one thread; the lock, which is always free, lets the ports stand where those of threads
/// stand.
#[derive(Debug)]
struct SharedNetwork<E>(Arc<Mutex<Network<E>>>);

impl<E> SharedNetwork<E> {
    fn get(&self) -> MutexGuard<'_, Network<E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Network<E> {
    /// Steps so far.
    now: u64,
    random: Chance,
    /// The longest usual delay, in steps.
    delay: u32,
    codec: Option<Codec<E>>,
    /// By receiver: messages in transit, with the step in which they arrive.
    messages: Vec<Vec<(u64, Message)>>,
    /// Likewise for messages by value.
    values: Vec<DropEach<(u64, InTransit<E>)>>,
    /// By sender: messages by value that are kept back, with their receivers.
    kept_back: Vec<DropEach<(u32, ValueMessage<E>)>>,
    /// By receiver and sender: the latest arrival among the messages sent so far.
    last: Vec<u64>,
    /// By receiver: bounds in transit, the first to arrive on top. Bounds of one sender do not
    /// overtake each other.
    bounds: Vec<BinaryHeap<Reverse<Bound>>>,
    /// By receiver and sender: the last bound that has arrived.
    known: Vec<u64>,
    /// Likewise: the last round whose bound has arrived, and the bounds of the last two rounds,
    /// even before odd.
    rounds: Vec<(u64, [u64; 2])>,
    /// By receiver: control messages in transit, with their arrivals and senders, in the order in
    /// which they were sent.
    controls: Vec<VecDeque<(u64, u32, Control)>>,
    /// By receiver: what is being written into its memory, with the steps in which it gets there,
    /// and by whom.
    writes: Vec<Vec<(u64, u32, Put)>>,
}

/// A message by value in transit.
#[derive(Debug)]
enum InTransit<E> {
    Value(ValueMessage<E>),
    Bytes(Vec<u8>),
}

impl<E> InTransit<E> {
    /// The message, as it travels with or without a codec.
    fn new(message: ValueMessage<E>, codec: Option<Codec<E>>) -> Self {
        let Some(codec) = codec else { return InTransit::Value(message) };
        let mut bytes = Vec::new();
        codec.write(&message, &mut bytes);
        // As a courier does.
        _ = try_drop(message);
        InTransit::Bytes(bytes)
    }

    fn message(self, codec: Option<Codec<E>>) -> Decoded<E> {
        match (self, codec) {
            (InTransit::Value(message), _) => Decoded::Message(message),
            (InTransit::Bytes(bytes), Some(codec)) => {
                let mut rest = &bytes[..];
                let message = codec.read(&mut rest).unwrap_or_else(|why| {
                    panic!("a message has been written, and cannot be read: {why}")
                });
                assert!(
                    rest.is_empty(),
                    "{} of {} bytes are left of a message",
                    rest.len(),
                    bytes.len()
                );
                message
            }
            (InTransit::Bytes(_), None) => {
                unreachable!("there is no codec that could have written them")
            }
        }
    }
}

/// A bound in transit. A sender's rounds and bounds only grow, so bounds that arrive in the same
/// step are taken in the order sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    /// When it arrives.
    arrival: u64,
    /// The round that it is for; 0 for a bound.
    round: u64,
    bound: u64,
    from: u32,
}

/// A source of random numbers for the schedule.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        ((u128::from(mix64(self.0)) * u128::from(bound)) >> 64) as u32
    }
}

/// A PE's end of the wires of a [`VirtualCluster`].
#[derive(Debug)]
pub struct VirtualPort<E> {
    me: u32,
    network: SharedNetwork<E>,
    /// What has arrived without what it carries.
    unreadable: VecDeque<UnreadableEvent>,
}

impl<E> VirtualCluster<E> {
    /// A cluster of this many PEs, and their ports.
    pub fn new(pes: u32, seed: u64, codec: Option<Codec<E>>) -> (Self, Vec<VirtualPort<E>>) {
        let mut random = Chance(mix64(seed));
        let delay = [1, pes, 4 * pes][random.below(3) as usize];
        let messages = vec![Vec::new(); pes as usize];
        let controls = vec![VecDeque::new(); pes as usize];
        let values = (0..pes).map(|_| DropEach::default()).collect();
        let kept_back = (0..pes).map(|_| DropEach::default()).collect();
        let pairs = pes as usize * pes as usize;
        let (last, known, bounds) =
            (vec![0; pairs], vec![0; pairs], vec![BinaryHeap::new(); pes as usize]);
        let (rounds, writes) = (vec![(0, [0; 2]); pairs], vec![Vec::new(); pes as usize]);
        let random_delays = Chance(mix64(!seed));
        let network = Network {
            now: 0,
            random: random_delays,
            delay,
            codec,
            messages,
            values,
            kept_back,
            last,
            bounds,
            known,
            rounds,
            controls,
            writes,
        };
        let network = Arc::new(Mutex::new(network));
        let ports = (0..pes)
            .map(|me| VirtualPort {
                me,
                network: SharedNetwork(network.clone()),
                unreadable: VecDeque::new(),
            })
            .collect();
        (
            VirtualCluster {
                network: SharedNetwork(network),
                random,
                speeds: vec![1; pes as usize],
                total: pes,
                until_change: 0,
            },
            ports,
        )
    }

    /// The PE to step next.
    pub fn next_pe(&mut self) -> usize {
        self.network.get().now += 1;
        if self.until_change == 0 {
            self.until_change =
                1 + self.random.below(LASTING * (self.speeds.len() as u32).min(LASTING_PES));
            for speed in &mut self.speeds {
                *speed = [0, 1, 10, 100][self.random.below(4) as usize];
            }
            // At least one PE must not stand still.
            let fast = self.random.below(self.speeds.len() as u32);
            self.speeds[fast as usize] = 100;
            self.total = self.speeds.iter().sum();
        }
        self.until_change -= 1;
        let mut chosen = self.random.below(self.total);
        let is_chosen = |&speed: &u32| {
            let found = chosen < speed;
            chosen = chosen.wrapping_sub(speed);
            found
        };
        self.speeds.iter().position(is_chosen).unwrap_or_default()
    }
}

impl<E> Network<E> {
    /// When a message sent now arrives: usually soon, now and then very late.
    fn arrival(&mut self) -> u64 {
        let longest = if self.random.below(50) == 0 { 8 * self.delay } else { self.delay };
        self.now + u64::from(self.random.below(longest + 1))
    }

    /// Likewise, for a message between two PEs that the sender's later bounds must not overtake.
    fn arrival_between(&mut self, from: u32, to: u32) -> u64 {
        let (arrival, pair) = (self.arrival(), self.pair(from, to));
        self.last[pair] = self.last[pair].max(arrival);
        arrival
    }

    /// Sends a bound of PE `from` to all others. It arrives late, and not before the messages sent
    /// to them earlier.
    fn publish(&mut self, from: u32, round: u64, bound: u64) {
        for to in (0..self.messages.len() as u32).filter(|to| *to != from) {
            let (arrival, pair) = (self.arrival_between(from, to), self.pair(from, to));
            let arrival = arrival.max(self.last[pair]);
            self.bounds[to as usize].push(Reverse(Bound { arrival, round, bound, from }));
        }
    }

    /// Delivers the bounds to PE `to` that have arrived by now.
    fn deliver_words(&mut self, to: u32) {
        while let Some(&Reverse(Bound { arrival, round, bound, from })) =
            self.bounds[to as usize].peek()
            && arrival <= self.now
        {
            self.bounds[to as usize].pop();
            let pair = self.pair(from, to);
            if round == 0 {
                self.known[pair] = bound;
            } else {
                self.rounds[pair].0 = round;
                self.rounds[pair].1[round as usize % 2] = bound;
            }
        }
    }

    fn pair(&self, from: u32, to: u32) -> usize {
        to as usize * self.messages.len() + from as usize
    }
}

impl<E> MessagePort for VirtualPort<E> {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let network = &mut *self.network.get();
        // Sometimes there is not room for all.
        let most = if network.random.below(4) == 0 {
            network.random.below(messages.len() as u32 + 1) as usize
        } else {
            messages.len()
        };
        for &message in &messages[..most] {
            let arrival = network.arrival_between(self.me, to);
            network.messages[to as usize].make_room(1, UNREAD);
            network.messages[to as usize].push((arrival, message));
        }
        most
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        let network = &mut *self.network.get();
        let (now, waiting, first) =
            (network.now, &mut network.messages[self.me as usize], into.len());
        into.make_room(waiting.len(), UNREAD);
        into.extend(
            waiting.extract_if(.., |(arrival, _)| *arrival <= now).map(|(_, message)| message),
        );
        // In any order.
        for last in (first + 1..into.len()).rev() {
            let other = first + network.random.below((last - first) as u32 + 1) as usize;
            into.swap(last, other);
        }
    }
}

impl<E> ValuePort<E> for VirtualPort<E> {
    fn send_value(&mut self, to: u32, message: ValueMessage<E>) -> Result<(), ValueMessage<E>> {
        let network = &mut *self.network.get();
        // Sometimes there is no room.
        if network.random.below(8) == 0 {
            return Err(message);
        }
        network.kept_back[self.me as usize].push((to, message));
        Ok(())
    }

    fn receive_values(&mut self, take: &mut impl FnMut(ValueMessage<E>)) {
        let network = &mut *self.network.get();
        let now = network.now;
        let mut arrived: Vec<_> = network.values[self.me as usize]
            .extract_if(.., |(arrival, _)| *arrival <= now)
            .collect();
        // In any order.
        while !arrived.is_empty() {
            let next = network.random.below(arrived.len() as u32) as usize;
            match arrived.swap_remove(next).1.message(network.codec) {
                Decoded::Message(message) => take(message),
                Decoded::Unreadable(event) => self.unreadable.push_back(event),
            }
        }
    }

    fn receive_unreadable(&mut self) -> Option<UnreadableEvent> {
        self.unreadable.pop_front()
    }
}

impl<E> BoundPort for VirtualPort<E> {
    fn publish(&mut self, bound: u64) {
        self.network.get().publish(self.me, 0, bound);
    }

    fn bound(&mut self, pe: u32) -> u64 {
        let network = &mut *self.network.get();
        network.deliver_words(self.me);
        network.known[network.pair(pe, self.me)]
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        self.network.get().publish(self.me, round, bound);
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        let network = &mut *self.network.get();
        network.deliver_words(self.me);
        let (last, bounds) = network.rounds[network.pair(pe, self.me)];
        (last >= round).then_some(bounds[round as usize % 2])
    }
}

impl<E> ControlPort for VirtualPort<E> {
    fn send_control(&mut self, to: u32, control: Control) {
        let network = &mut *self.network.get();
        let arrival = network.arrival();
        let waiting = &mut network.controls[to as usize];
        // Control messages of one sender do not overtake each other.
        let last = waiting.iter().rev().find(|(_, from, _)| *from == self.me);
        let arrival = last.map_or(arrival, |(last, ..)| arrival.max(*last));
        waiting.push_back((arrival, self.me, control));
    }

    fn receive_control(&mut self) -> Option<Control> {
        let network = &mut *self.network.get();
        let (now, waiting) = (network.now, &mut network.controls[self.me as usize]);
        let arrived = (0..).zip(&*waiting).filter(|(_, (arrival, ..))| *arrival <= now);
        // The first one sent by the lowest-numbered PE.
        let (place, _) = arrived.min_by_key(|(place, (_, from, _))| (*from, *place))?;
        Some(waiting.remove(place)?.2)
    }

    fn write(&mut self, to: u32, put: Put) {
        let network = &mut *self.network.get();
        let arrival = network.arrival();
        network.writes[to as usize].push((arrival, self.me, put));
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        let network = &mut *self.network.get();
        let (now, writes) = (network.now, &mut network.writes[self.me as usize]);
        let arrived: Vec<usize> =
            (0..writes.len()).filter(|&place| writes[place].0 <= now).collect();
        // In any order.
        let chosen = *arrived.get(network.random.below(arrived.len().max(1) as u32) as usize)?;
        let (_, from, put) = writes.swap_remove(chosen);
        Some((from, put))
    }
}

impl<E> Port<E> for VirtualPort<E> {
    fn flush(&mut self) {
        let network = &mut *self.network.get();
        for (to, message) in network.kept_back[self.me as usize].take() {
            let arrival = network.arrival_between(self.me, to);
            let message = InTransit::new(message, network.codec);
            network.values[to as usize].push((arrival, message));
        }
    }
}
