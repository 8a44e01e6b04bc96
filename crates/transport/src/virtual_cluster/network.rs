//! The network of a virtual cluster: what is in transit, and when it arrives.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_base::random::mix64;
use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{Message, ValueMessage};
use warpline_memory::{DropEach, MakeRoom, try_drop};

use super::latest::Latest;
use crate::room::UNREAD;
use crate::{Codec, Decoded};

/// The network, as the cluster and all ports have it. They live in one thread, so the lock is
/// always free; it makes the ports `Send`, as those of threads are.
#[derive(Debug)]
pub(super) struct SharedNetwork<E>(Arc<Mutex<Network<E>>>);

impl<E> Clone for SharedNetwork<E> {
    fn clone(&self) -> Self {
        SharedNetwork(self.0.clone())
    }
}

impl<E> SharedNetwork<E> {
    /// A network of this many PEs, with this `delay` as the longest usual one, in steps.
    pub(super) fn new(pes: usize, delay: u32, random: Chance, codec: Option<Codec<E>>) -> Self {
        SharedNetwork(Arc::new(Mutex::new(Network {
            now: 0,
            random,
            delay,
            codec,
            messages: vec![Vec::new(); pes],
            values: (0..pes).map(|_| DropEach::default()).collect(),
            kept_back: (0..pes).map(|_| DropEach::default()).collect(),
            last: Latest::new(pes),
            bounds: vec![BinaryHeap::new(); pes],
            known: vec![Vec::new(); pes],
            rounds: vec![Vec::new(); pes],
            controls: vec![VecDeque::new(); pes],
            writes: vec![Vec::new(); pes],
        })))
    }

    pub(super) fn get(&self) -> MutexGuard<'_, Network<E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct Network<E> {
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
    last: Latest,
    /// By receiver: bounds in transit, the first to arrive on top. Bounds of one sender do not
    /// overtake each other.
    bounds: Vec<BinaryHeap<Reverse<Bound>>>,
    /// By receiver and sender: the last bound that has arrived. A receiver has no list before the
    /// first.
    known: Vec<Vec<u64>>,
    /// Likewise: the last round whose bound has arrived, and the bounds of the last two rounds,
    /// even before odd.
    rounds: Vec<Vec<(u64, [u64; 2])>>,
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
/// step are taken in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    /// When it arrives.
    arrival: u64,
    /// The round that it is for, if it is for one.
    round: Option<u64>,
    bound: u64,
    from: u32,
}

/// A source of random numbers for the schedule.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    pub(super) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        ((u128::from(mix64(self.0)) * u128::from(bound)) >> 64) as u32
    }
}

impl<E> Network<E> {
    /// A step passes.
    pub(super) fn advance(&mut self) {
        self.now += 1;
    }

    /// When a message sent now arrives: usually soon, now and then very late.
    fn arrival(&mut self) -> u64 {
        let longest = if self.random.below(50) == 0 { 8 * self.delay } else { self.delay };
        self.now + u64::from(self.random.below(longest + 1))
    }
    /// Likewise, for a message between two PEs that the sender's later bounds must not overtake.
    fn arrival_between(&mut self, from: u32, to: u32) -> u64 {
        let arrival = self.arrival();
        self.last.note(from, to, arrival, self.now);
        arrival
    }

    /// Sends messages, or only some of them: now and then there is not room for all. Returns how
    /// many.
    pub(super) fn send(&mut self, from: u32, to: u32, messages: &[Message]) -> usize {
        let most = if self.random.below(4) == 0 {
            self.random.below(messages.len() as u32 + 1) as usize
        } else {
            messages.len()
        };
        for &message in &messages[..most] {
            let arrival = self.arrival_between(from, to);
            self.messages[to as usize].make_room(1, UNREAD);
            self.messages[to as usize].push((arrival, message));
        }
        most
    }

    /// Appends the messages to PE `to` that have arrived, in any order.
    pub(super) fn receive(&mut self, to: u32, into: &mut Vec<Message>) {
        let now = self.now;
        let first = into.len();
        let waiting = &mut self.messages[to as usize];
        into.make_room(waiting.len(), UNREAD);
        into.extend(
            waiting.extract_if(.., |(arrival, _)| *arrival <= now).map(|(_, message)| message),
        );
        for last in (first + 1..into.len()).rev() {
            let other = first + self.random.below((last - first) as u32 + 1) as usize;
            into.swap(last, other);
        }
    }

    /// Keeps a message by value back until it is flushed, unless there is no room for it, which
    /// happens now and then.
    pub(super) fn keep_value(
        &mut self,
        from: u32,
        to: u32,
        message: ValueMessage<E>,
    ) -> Result<(), ValueMessage<E>> {
        if self.random.below(8) == 0 {
            return Err(message);
        }
        self.kept_back[from as usize].push((to, message));
        Ok(())
    }

    /// Sends what PE `from` has kept back.
    pub(super) fn flush(&mut self, from: u32) {
        for (to, message) in self.kept_back[from as usize].take() {
            let arrival = self.arrival_between(from, to);
            let message = InTransit::new(message, self.codec);
            self.values[to as usize].push((arrival, message));
        }
    }

    /// Passes on the messages by value to PE `to` that have arrived, in any order.
    pub(super) fn receive_values(&mut self, to: u32, mut take: impl FnMut(Decoded<E>)) {
        let now = self.now;
        let mut arrived: Vec<_> =
            self.values[to as usize].extract_if(.., |(arrival, _)| *arrival <= now).collect();
        while !arrived.is_empty() {
            let next = self.random.below(arrived.len() as u32) as usize;
            take(arrived.swap_remove(next).1.message(self.codec));
        }
    }

    /// Sends a bound of PE `from`, for a round or not, to all others. It arrives late, and not
    /// before the messages sent to them earlier.
    pub(super) fn publish(&mut self, from: u32, round: Option<u64>, bound: u64) {
        for to in (0..self.messages.len() as u32).filter(|to| *to != from) {
            let arrival = self.arrival_between(from, to);
            let arrival = arrival.max(self.last.of(from, to));
            self.bounds[to as usize].push(Reverse(Bound { arrival, round, bound, from }));
        }
    }

    /// The last bound of PE `from` that has arrived at PE `to`.
    pub(super) fn bound(&mut self, from: u32, to: u32) -> u64 {
        self.deliver_bounds(to);
        self.known[to as usize].get(from as usize).copied().unwrap_or_default()
    }

    /// The bound of PE `from` for a round, if it has arrived at PE `to`.
    pub(super) fn bound_of_round(&mut self, from: u32, to: u32, round: u64) -> Option<u64> {
        self.deliver_bounds(to);
        let (last, bounds) = *self.rounds[to as usize].get(from as usize)?;
        (last >= round).then_some(bounds[round as usize % 2])
    }

    /// Delivers the bounds to PE `to` that have arrived by now.
    fn deliver_bounds(&mut self, to: u32) {
        while let Some(&Reverse(Bound { arrival, round, bound, from })) =
            self.bounds[to as usize].peek()
            && arrival <= self.now
        {
            self.bounds[to as usize].pop();
            let pes = self.messages.len();
            match round {
                None => {
                    let known = &mut self.known[to as usize];
                    known.resize(pes, 0);
                    known[from as usize] = bound;
                }
                Some(round) => {
                    let rounds = &mut self.rounds[to as usize];
                    rounds.resize(pes, (0, [0; 2]));
                    let (last, bounds) = &mut rounds[from as usize];
                    *last = round;
                    bounds[round as usize % 2] = bound;
                }
            }
        }
    }

    /// Sends a control message. Those of one sender do not overtake each other.
    pub(super) fn send_control(&mut self, from: u32, to: u32, control: Control) {
        let arrival = self.arrival();
        let waiting = &mut self.controls[to as usize];
        let last = waiting.iter().rev().find(|(_, sender, _)| *sender == from);
        let arrival = last.map_or(arrival, |(last, ..)| arrival.max(*last));
        waiting.push_back((arrival, from, control));
    }

    /// The first control message from the lowest-numbered PE of which one has arrived.
    pub(super) fn receive_control(&mut self, to: u32) -> Option<Control> {
        let now = self.now;
        let waiting = &mut self.controls[to as usize];
        let arrived = (0..).zip(&*waiting).filter(|(_, (arrival, ..))| *arrival <= now);
        let (place, _) = arrived.min_by_key(|(place, (_, from, _))| (*from, *place))?;
        Some(waiting.remove(place)?.2)
    }

    /// Writes into the memory of PE `to`.
    pub(super) fn write(&mut self, from: u32, to: u32, put: Put) {
        let arrival = self.arrival();
        self.writes[to as usize].push((arrival, from, put));
    }

    /// Any of the writes that have got into the memory of PE `to`, and who wrote it.
    pub(super) fn written(&mut self, to: u32) -> Option<(u32, Put)> {
        let now = self.now;
        let writes = &mut self.writes[to as usize];
        let arrived: Vec<usize> =
            (0..writes.len()).filter(|&place| writes[place].0 <= now).collect();
        let chosen = *arrived.get(self.random.below(arrived.len().max(1) as u32) as usize)?;
        let (_, from, put) = writes.swap_remove(chosen);
        Some((from, put))
    }
}
