//! Messages between PEs of a modelled machine: when they arrive, and what they cost.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{Content, TakeValue, ValueMessage};
use warpline_machine::{Level, Machine, MailboxUnit, Time};
use warpline_memory::{Handle, Pool, list_for, prefer_huge_pages, prefetch_all, try_drop};

use super::arrivals::{Arriving, Origin};
use super::bounds::Bounds;
use super::crossings::{Crossed, Crossing, Crossings};
use super::distances::Distances;
use super::mailbox::{Mailbox, Opened, Outbox};
use super::wires::{Arrival, Departed, MailboxUse, ModelledWires, Sent};

/// The bytes of a control message, or of a block that is written: a share of a reduction.
const CONTROL_BYTES: u64 = 160;
/// The bytes of what a mailbox in hardware holds: where a message is.
const OFFSET_BYTES: u64 = 8;
/// Mailboxes in which something arrives from another part are prefetched so many places ahead, twice.
const CROSSINGS_AHEAD: usize = 8;
/// The bytes of a bound.
const BOUND_BYTES: u64 = 8;

/// The network of a part of the machine, as all ports of its PEs and whoever steps them have it.
/// They live in one thread, so the lock is always free; it makes the ports `Send`, as those of
/// threads are.
#[derive(Debug)]
pub struct ModelledNetwork<E>(Arc<Mutex<Network<E>>>);

impl<E> Clone for ModelledNetwork<E> {
    fn clone(&self) -> Self {
        ModelledNetwork(self.0.clone())
    }
}

#[derive(Debug)]
pub(super) struct Network<E> {
    machine: Arc<Machine>,
    distances: Distances,
    /// How many PEs all parts have.
    pes: u32,
    /// Its first PE. What it has by PE begins with that one.
    first: u32,
    mailboxes: Vec<Mailbox<E>>,
    crossings: Crossings<E>,
    /// Which part of the machine it is.
    part: usize,
    /// By part: what has left for it.
    leaving: Vec<Vec<Crossing<E>>>,
    /// The list of what came from other parts last, emptied.
    taken: Vec<Crossing<E>>,
    /// What is on its way to any PE beside events and anti-messages: control messages, and blocks
    /// with the PEs that have written them.
    controls: Pool<Control>,
    writes: Pool<(u32, Put)>,
    /// By PE.
    bounds: Vec<Bounds>,
    /// By node, from that of the first PE on: until when its network card is busy.
    cards: Vec<Time>,
    latency_most: Time,
    payload: fn(&E) -> u64,
    mailbox_use: MailboxUse,
    /// How long the bytes of an event or an anti-message take within a node, and between nodes.
    message_lengths: [Time; 2],
    /// The same for those of a control message or a block.
    control_lengths: [Time; 2],
    /// Emptied lists of what steps have sent, for the next steps of any PE.
    lists: Vec<VecDeque<(u32, ValueMessage<E>)>>,
    control_lists: Vec<Vec<(u32, Control)>>,
    write_lists: Vec<Vec<(u32, Put)>>,
}

impl<E> ModelledNetwork<E> {
    /// A part of the network of so many PEs, one on each core of the machine from the first on.
    pub(super) fn new(
        machine: &Arc<Machine>,
        pes: u32,
        (crossings, part): (&Crossings<E>, usize),
        payload: fn(&E) -> u64,
    ) -> Self {
        let own = crossings.pes(part);
        let count = own.len() as u32;
        ModelledNetwork(Arc::new(Mutex::new(Network {
            machine: machine.clone(),
            distances: Distances::new(machine),
            pes,
            first: own.start,
            mailboxes: table(count, "mailboxes"),
            leaving: (0..crossings.parts()).map(|_| Vec::new()).collect(),
            taken: Vec::new(),
            crossings: crossings.clone(),
            part,
            controls: Pool::default(),
            writes: Pool::default(),
            bounds: table(count, "bounds"),
            cards: vec![Time::ZERO; machine.nodes(count) as usize],
            latency_most: machine.latency_most(pes),
            payload,
            mailbox_use: MailboxUse::default(),
            message_lengths: lengths(machine, size_of::<ValueMessage<E>>() as u64),
            control_lengths: lengths(machine, CONTROL_BYTES),
            lists: Vec::new(),
            control_lists: Vec::new(),
            write_lists: Vec::new(),
        })))
    }

    pub(super) fn get(&self) -> MutexGuard<'_, Network<E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When something arrives.
#[derive(Clone, Copy)]
struct Travelled {
    at: Time,
    /// Whether it comes from another node.
    far: bool,
}

impl Travelled {
    /// What arrives then, and lies at a place: not an event.
    fn with(self, from: u32, handle: Handle) -> Arriving<Handle> {
        let Travelled { at, far } = self;
        Arriving { at, origin: Origin::new(from, far), content: handle }
    }
}

/// One of these for each PE. What many PEs have is spread over many pages.
fn table<T: Default>(pes: u32, what: &'static str) -> Vec<T> {
    let mut table = list_for(pes as usize, what);
    prefer_huge_pages(&mut table);
    table.extend((0..pes).map(|_| T::default()));
    table
}

/// How long so many bytes take within a node, and between nodes.
fn lengths(machine: &Machine, bytes: u64) -> [Time; 2] {
    [false, true].map(|far| machine.level(far).bytes(bytes))
}

/// The bytes of a message beside the message itself, if `payload` gives those of an event.
fn payload_bytes<E>(payload: fn(&E) -> u64, message: &ValueMessage<E>) -> u64 {
    match &message.content {
        Content::Event(event) => payload(&event.payload),
        Content::Anti { .. } | Content::Return { .. } => 0,
    }
}

impl<E> Network<E> {
    /// Where this part has what belongs to a PE of its own.
    #[inline(always)]
    fn index(&self, pe: u32) -> usize {
        (pe - self.first) as usize
    }

    /// Whether a PE belongs to this part.
    #[inline(always)]
    fn has(&self, pe: u32) -> bool {
        (pe.wrapping_sub(self.first) as usize) < self.mailboxes.len()
    }

    #[inline]
    pub(super) fn mailbox(&mut self, pe: u32) -> &mut Mailbox<E> {
        let index = self.index(pe);
        &mut self.mailboxes[index]
    }

    /// Something leaves for a PE of another part.
    fn leave(&mut self, crossing: Crossing<E>) {
        self.leaving[self.crossings.part_of(crossing.to)].push(crossing);
    }

    /// Hands over what has left for other parts. Returns when the first of it arrives.
    fn hand_over(&mut self) -> Option<Time> {
        let first = self.leaving.iter().flatten().map(|crossing| crossing.at).min();
        for (part, leaving) in self.leaving.iter_mut().enumerate() {
            self.crossings.hand_over(part, leaving);
        }
        first
    }

    /// Takes what other parts have handed over.
    fn take_over(&mut self, arrives: &mut dyn FnMut(Arrival)) {
        let mut taken = self.crossings.take(self.part, std::mem::take(&mut self.taken));
        let mut rest = taken.drain(..);
        while let Some(Crossing { from, to, at, content }) = rest.next() {
            let soon = |ahead: usize| {
                rest.as_slice().get(ahead).map(|soon| &self.mailboxes[self.index(soon.to)])
            };
            soon(2 * CROSSINGS_AHEAD).into_iter().for_each(Mailbox::prefetch_to_add);
            soon(CROSSINGS_AHEAD).into_iter().for_each(Mailbox::prefetch_last);
            let travelled = Travelled { at, far: true };
            let is_event = matches!(content, Crossed::Value(_));
            match content {
                Crossed::Value(content) => self.mailbox(to).add_value(Arriving {
                    at,
                    origin: Origin::new(from, true),
                    content,
                }),
                Crossed::Control(control) => {
                    let handle = self.controls.insert(control);
                    self.mailbox(to).add_control(travelled.with(from, handle));
                }
                Crossed::Write(put) => {
                    let handle = self.writes.insert((from, put));
                    self.mailbox(to).add_write(travelled.with(from, handle));
                }
            }
            arrives(Arrival { to, at, is_event });
        }
        drop(rest);
        self.taken = taken;
    }

    /// An empty list for what a step sends.
    pub(super) fn take_list(&mut self) -> VecDeque<(u32, ValueMessage<E>)> {
        self.lists.pop().unwrap_or_default()
    }

    /// A PE sends a control message when its step ends.
    pub(super) fn send_control(&mut self, pe: u32, to: u32, control: Control) {
        let index = self.index(pe);
        let controls = &mut self.mailboxes[index].outbox.controls;
        if controls.capacity() == 0 {
            *controls = self.control_lists.pop().unwrap_or_default();
        }
        controls.push((to, control));
    }

    /// A PE writes a block when its step ends.
    pub(super) fn write(&mut self, pe: u32, to: u32, put: Put) {
        let index = self.index(pe);
        let writes = &mut self.mailboxes[index].outbox.writes;
        if writes.capacity() == 0 {
            *writes = self.write_lists.pop().unwrap_or_default();
        }
        writes.push((to, put));
    }

    /// Opens the mailbox of a PE.
    fn open(&mut self, pe: u32, now: Time, idle: Time) -> Opened {
        let index = self.index(pe);
        let Network { machine, mailboxes, writes, payload, .. } = self;
        let mailbox = &mut mailboxes[index];
        let opened = mailbox.open(now, idle, machine, |message| payload_bytes(*payload, message));
        mailbox.arrived_writes().for_each(|write| writes.prefetch(write.content));
        opened
    }

    /// Passes the values that have arrived at a PE to `take`, which must not use the network.
    pub(super) fn receive_values(&mut self, pe: u32, to: &mut impl TakeValue<E>) {
        let mailbox = self.mailbox(pe);
        while let Some(value) = mailbox.take_value() {
            to.take(value);
        }
    }

    pub(super) fn take_control(&mut self, pe: u32) -> Option<Control> {
        let control = self.mailbox(pe).take_control()?;
        Some(self.controls.remove(control))
    }

    pub(super) fn take_write(&mut self, pe: u32) -> Option<(u32, Put)> {
        let write = self.mailbox(pe).take_write()?;
        Some(self.writes.remove(write))
    }

    /// The last bound of PE `from` that has reached PE `to`.
    pub(super) fn bound(&self, from: u32, to: u32) -> u64 {
        let now = self.mailboxes[self.index(to)].now();
        self.bounds[self.index(from)].read(from, to, now, &self.machine)
    }

    /// The bound of PE `from` for a round, if it has reached PE `to`.
    pub(super) fn bound_of_round(&self, from: u32, to: u32, round: u64) -> Option<u64> {
        let now = self.mailboxes[self.index(to)].now();
        self.bounds[self.index(from)].read_round((from, to), round, now, &self.machine)
    }

    /// How many PEs are on other nodes than this one.
    fn far_pes(&self, pe: u32) -> u64 {
        let first = self.machine.node(pe) * self.machine.cores;
        u64::from(self.pes - (first + self.machine.cores).min(self.pes) + first)
    }

    /// What the step of a PE has sent.
    fn sent(&self, pe: u32) -> Sent {
        let machine = &*self.machine;
        let outbox = &self.mailboxes[self.index(pe)].outbox;
        let mut sent = Sent::default();
        for (to, message) in &outbox.values {
            let far = self.distances.is_far(pe, *to);
            sent.messages += 1;
            sent.far += u64::from(far);
            let through_memory = || self.through_memory(message, machine.level(far));
            let unit = machine.mailboxes(far);
            sent.sending +=
                unit.map_or_else(through_memory, MailboxUnit::sending) + machine.costs.send;
        }
        for (to, _) in &outbox.controls {
            sent.gvt += machine.level(self.distances.is_far(pe, *to)).overhead;
        }
        let bounds = u64::from(outbox.bound.is_some()) + u64::from(outbox.round.is_some());
        // One write for those that share memory, and one for each other.
        let writes = outbox.writes.len() as u64
            + if bounds > 0 { bounds * (1 + self.far_pes(pe)) } else { 0 };
        sent.gvt += machine.costs.remote_write * writes;
        sent.others = outbox.controls.len() as u64 + writes;
        sent
    }

    /// The bytes of a message beside the message itself.
    fn payload_bytes(&self, message: &ValueMessage<E>) -> u64 {
        payload_bytes(self.payload, message)
    }

    /// What a message through memory or a network card costs its sender.
    fn through_memory(&self, message: &ValueMessage<E>, level: &Level) -> Time {
        level.overhead + level.copying(self.payload_bytes(message))
    }

    /// When something from PE `from` arrives at PE `to`, if its bytes take so long within a node, and
    /// between nodes.
    fn travel(&mut self, from: u32, to: u32, now: Time, lengths: [Time; 2]) -> Travelled {
        let machine = &*self.machine;
        let far = self.distances.is_far(from, to);
        let level = machine.level(far);
        let length = lengths[usize::from(far)];
        let mut starts = now;
        if far {
            let node = self.distances.node(from) - self.distances.node(self.first);
            let card = &mut self.cards[node as usize];
            starts = starts.max(*card);
            *card = starts + level.gap + length;
        }
        let left = starts + length;
        let index = self.index(from);
        self.bounds[index].note_left(far, left);
        Travelled { at: left + self.distances.latency(machine, from, to), far }
    }

    /// Sends the messages of a PE one after the other, until one has to wait.
    fn send_values(
        &mut self,
        pe: u32,
        now: Time,
        outbox: &mut Outbox<E>,
        arrives: &mut dyn FnMut(Arrival),
    ) -> Departed {
        let mut until = now;
        while let Some((to, content)) = outbox.values.pop_front() {
            let far = self.distances.is_far(pe, to);
            let mut in_slot = false;
            if let Some(unit) = self.machine.mailboxes(far).copied() {
                in_slot = self.mailbox(to).slots.take(unit.slots);
                let deadline = outbox.waits.unwrap_or(until + unit.wait);
                if !in_slot {
                    self.mailbox_use.waits += u64::from(outbox.waits.is_none());
                    if deadline > until {
                        self.mailbox(to).slots.wait(pe);
                        outbox.waits = Some(deadline);
                        outbox.values.push_front((to, content));
                        let publishing = Time::ZERO;
                        return Departed { until: deadline, publishing, waits: Some(until) };
                    }
                    self.mailbox_use.failures += 1;
                    until += self.through_memory(&content, &self.machine.near);
                }
                outbox.waits = None;
                self.mailbox_use.messages += u64::from(in_slot);
            }
            let payload = self.payload_bytes(&content);
            let level = self.machine.level(far);
            // Where payloads are shared, only the message itself travels within a node.
            let is_shared = !far && level.copy_per_byte == 0.0;
            let lengths = if in_slot {
                [level.bytes(OFFSET_BYTES); 2]
            } else if payload == 0 || is_shared {
                self.message_lengths
            } else {
                [level.bytes(size_of::<ValueMessage<E>>() as u64 + payload); 2]
            };
            let Travelled { at, .. } = self.travel(pe, to, until, lengths);
            if !self.has(to) {
                self.leave(Crossing { from: pe, to, at, content: Crossed::Value(content) });
                continue;
            }
            let origin = Origin::new(pe, far).with_slot(in_slot);
            self.mailbox(to).add_value(Arriving { at, origin, content });
            arrives(Arrival { to, at, is_event: true });
        }
        Departed { until, publishing: Time::ZERO, waits: None }
    }

    /// What the step of a PE has sent leaves.
    fn depart(&mut self, pe: u32, now: Time, arrives: &mut dyn FnMut(Arrival)) -> Departed {
        let mut outbox = std::mem::take(&mut self.mailbox(pe).outbox);
        let receivers = || outbox.values.iter().map(|(to, _)| *to).filter(|to| self.has(*to));
        receivers().for_each(|to| self.mailboxes[self.index(to)].prefetch_to_add());
        receivers().for_each(|to| self.mailboxes[self.index(to)].prefetch_last());
        let mut departed = self.send_values(pe, now, &mut outbox, arrives);
        if departed.waits.is_some() {
            self.mailbox(pe).outbox = outbox;
            return departed;
        }
        if outbox.values.capacity() > 0 {
            self.lists.push(std::mem::take(&mut outbox.values));
        }
        let now = departed.until;
        self.send_controls(pe, now, &mut outbox, arrives);
        let bound = outbox.bound.take();
        let round = outbox.round.take();
        self.mailbox(pe).outbox = outbox;
        if bound.is_some() || round.is_some() {
            departed.until = self.publish(pe, now, bound, round);
            departed.publishing = departed.until.since(now);
            let network = &*self;
            let others = (0..network.pes).filter(|to| *to != pe);
            for to in others {
                let bounds = &network.bounds[network.index(pe)];
                if let Some(at) = bounds.next((pe, to), now, &network.machine) {
                    arrives(Arrival { to, at, is_event: false });
                }
            }
        }
        departed
    }

    /// Sends control messages and blocks. Their lists go to the next PE that sends any, in whose turn
    /// they are still in the cache.
    fn send_controls(
        &mut self,
        pe: u32,
        now: Time,
        outbox: &mut Outbox<E>,
        arrives: &mut dyn FnMut(Arrival),
    ) {
        if outbox.controls.capacity() > 0 {
            let mut controls = std::mem::take(&mut outbox.controls);
            for (to, content) in controls.drain(..) {
                let travelled = self.travel(pe, to, now, self.control_lengths);
                if !self.has(to) {
                    let content = Crossed::Control(content);
                    self.leave(Crossing { from: pe, to, at: travelled.at, content });
                    continue;
                }
                let handle = self.controls.insert(content);
                self.mailbox(to).add_control(travelled.with(pe, handle));
                arrives(Arrival { to, at: travelled.at, is_event: false });
            }
            self.control_lists.push(controls);
        }
        if outbox.writes.capacity() > 0 {
            let mut writes = std::mem::take(&mut outbox.writes);
            for (to, put) in writes.drain(..) {
                let travelled = self.travel(pe, to, now, self.control_lengths);
                if !self.has(to) {
                    let content = Crossed::Write(put);
                    self.leave(Crossing { from: pe, to, at: travelled.at, content });
                    continue;
                }
                let handle = self.writes.insert((pe, put));
                self.mailbox(to).add_write(travelled.with(pe, handle));
                arrives(Arrival { to, at: travelled.at, is_event: false });
            }
            self.write_lists.push(writes);
        }
    }

    /// Publishes bounds of a PE, behind all that it has sent. Returns when the card has sent them to
    /// all nodes.
    ///
    /// The PE waits for that. Otherwise it could publish faster than the card sends, and what it
    /// publishes would arrive later and later, behind bounds that nobody needs any more.
    fn publish(
        &mut self,
        pe: u32,
        now: Time,
        bound: Option<u64>,
        round: Option<(u64, u64)>,
    ) -> Time {
        let far_pes = self.far_pes(pe);
        let machine = &*self.machine;
        let card = &mut self.cards[(machine.node(pe) - machine.node(self.first)) as usize];
        let mut written = now;
        if far_pes > 0 {
            let each = machine.far.gap + machine.far.bytes(BOUND_BYTES);
            written = written.max(*card) + each * far_pes;
            *card = written;
        }
        let reached = Time::picoseconds(
            now.as_picoseconds().saturating_sub(self.latency_most.as_picoseconds()),
        );
        let index = self.index(pe);
        let bounds = &mut self.bounds[index];
        bounds.note_left(false, now);
        bounds.note_left(true, written);
        bound.into_iter().for_each(|bound| bounds.publish(bound, reached));
        round.into_iter().for_each(|(round, bound)| bounds.publish_round(round, bound));
        written
    }

    /// When the next bound of another PE reaches this one, after `now`.
    fn next_bound(&self, pe: u32, now: Time) -> Option<Time> {
        let earliest = now + Time::picoseconds(1);
        let others = (0..).zip(&self.bounds).filter(|(from, _)| *from != pe);
        others.filter_map(|(from, bounds)| bounds.next((from, pe), earliest, &self.machine)).min()
    }
}

impl<E: Send> ModelledWires for ModelledNetwork<E> {
    fn pes(&self) -> Range<u32> {
        let network = self.get();
        network.crossings.pes(network.part)
    }

    fn hand_over(&self) -> Option<Time> {
        self.get().hand_over()
    }

    fn take_over(&self, arrives: &mut dyn FnMut(Arrival)) {
        self.get().take_over(arrives);
    }

    fn open(&self, pe: u32, now: Time, idle: Time) -> Opened {
        self.get().open(pe, now, idle)
    }

    fn sent(&self, pe: u32) -> Sent {
        self.get().sent(pe)
    }

    fn depart(&self, pe: u32, now: Time, arrives: &mut dyn FnMut(Arrival)) -> Departed {
        self.get().depart(pe, now, arrives)
    }

    fn has_room(&self, pe: u32) -> Vec<u32> {
        self.get().mailbox(pe).slots.take_waiting()
    }

    fn mailbox_use(&self) -> MailboxUse {
        self.get().mailbox_use
    }

    fn prefetch(&self, pe: u32) {
        let network = self.get();
        prefetch_all(&network.mailboxes[network.index(pe)]);
    }

    fn prefetch_arrivals(&self, pe: u32) {
        let network = self.get();
        network.mailboxes[network.index(pe)].prefetch_arrivals();
    }

    fn next(&self, pe: u32, now: Time, events: bool, bounds: bool) -> Option<Time> {
        let network = self.get();
        let mail = network.mailboxes[network.index(pe)].first(events);
        let bound = if bounds { network.next_bound(pe, now) } else { None };
        mail.into_iter().chain(bound).min()
    }
}

impl<E> Drop for Network<E> {
    /// What has not been received, as the run has failed. Payloads may panic when they are dropped.
    fn drop(&mut self) {
        let mailboxes = self.mailboxes.iter_mut();
        mailboxes.flat_map(Mailbox::drain).for_each(|value| _ = try_drop(value));
        let leaving = self.leaving.drain(..).flatten();
        let crossing = leaving.chain(self.crossings.take(self.part, Vec::new()));
        crossing.for_each(|crossing| _ = try_drop(crossing));
    }
}
