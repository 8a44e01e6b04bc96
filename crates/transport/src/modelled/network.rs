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
use super::crossings::{Border, Crossed, Crossing};
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
    border: Border<E>,
    /// By PE of this part.
    mailboxes: Vec<Mailbox<E>>,
    /// What is on its way to any PE beside events and anti-messages: control messages, and blocks
    /// with the PEs that have written them.
    controls: Pool<Control>,
    writes: Pool<(u32, Put)>,
    /// By PE of this part.
    bounds: Vec<Bounds>,
    /// By node of this part: until when its network card is busy.
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
    /// The network of a part of the machine.
    pub(super) fn new(machine: &Arc<Machine>, border: Border<E>, payload: fn(&E) -> u64) -> Self {
        let count = border.own().len() as u32;
        ModelledNetwork(Arc::new(Mutex::new(Network {
            machine: machine.clone(),
            distances: Distances::new(machine),
            mailboxes: table(count, "mailboxes"),
            controls: Pool::default(),
            writes: Pool::default(),
            bounds: table(count, "bounds"),
            cards: vec![Time::ZERO; machine.nodes(count) as usize],
            latency_most: machine.latency_most(border.pes()),
            border,
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
    origin: Origin,
}

impl Travelled {
    /// What arrives then, and lies at a place: not an event.
    fn with(self, handle: Handle) -> Arriving<Handle> {
        let Travelled { at, origin } = self;
        Arriving { at, origin, content: handle }
    }

    /// What arrives then at a PE of another part.
    fn crossing<E>(self, to: u32, content: Crossed<E>) -> Crossing<E> {
        let Travelled { at, origin } = self;
        Crossing { to, at, origin, content }
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
    #[inline]
    pub(super) fn mailbox(&mut self, pe: u32) -> &mut Mailbox<E> {
        &mut self.mailboxes[self.border.index(pe)]
    }

    /// Takes what other parts have handed over.
    fn take_over(&mut self, arrives: &mut dyn FnMut(Arrival)) {
        let mut taken = self.border.take();
        let mut rest = taken.drain(..);
        while let Some(Crossing { to, at, origin, content }) = rest.next() {
            let soon = |ahead: usize| {
                rest.as_slice().get(ahead).map(|soon| &self.mailboxes[self.border.index(soon.to)])
            };
            soon(2 * CROSSINGS_AHEAD).into_iter().for_each(Mailbox::prefetch_to_add);
            soon(CROSSINGS_AHEAD).into_iter().for_each(Mailbox::prefetch_last);
            let is_event = matches!(content, Crossed::Value(_));
            self.add(to, Travelled { at, origin }, content);
            arrives(Arrival { to, at, is_event });
        }
        drop(rest);
        self.border.give_back(taken);
    }

    /// Adds something to the mailbox of a PE of this part.
    #[inline(always)]
    fn add(&mut self, to: u32, travelled: Travelled, content: Crossed<E>) {
        let Travelled { at, origin } = travelled;
        match content {
            Crossed::Value(content) => {
                self.mailbox(to).add_value(Arriving { at, origin, content });
            }
            Crossed::Control(control) => {
                let handle = self.controls.insert(control);
                self.mailbox(to).add_control(travelled.with(handle));
            }
            Crossed::Write(put) => {
                let handle = self.writes.insert((origin.pe(), put));
                self.mailbox(to).add_write(travelled.with(handle));
            }
        }
    }

    /// Something leaves for a PE: it is on its way to its mailbox, or to another part.
    #[inline(always)]
    fn leave(
        &mut self,
        to: u32,
        travelled: Travelled,
        content: Crossed<E>,
        arrives: &mut dyn FnMut(Arrival),
    ) {
        if !self.border.has(to) {
            return self.border.leave(travelled.crossing(to, content));
        }
        let is_event = matches!(content, Crossed::Value(_));
        self.add(to, travelled, content);
        arrives(Arrival { to, at: travelled.at, is_event });
    }

    /// An empty list for what a step sends.
    pub(super) fn take_list(&mut self) -> VecDeque<(u32, ValueMessage<E>)> {
        self.lists.pop().unwrap_or_default()
    }

    /// A PE sends a control message when its step ends.
    pub(super) fn send_control(&mut self, pe: u32, to: u32, control: Control) {
        let index = self.border.index(pe);
        let controls = &mut self.mailboxes[index].outbox.controls;
        if controls.capacity() == 0 {
            *controls = self.control_lists.pop().unwrap_or_default();
        }
        controls.push((to, control));
    }

    /// A PE writes a block when its step ends.
    pub(super) fn write(&mut self, pe: u32, to: u32, put: Put) {
        let index = self.border.index(pe);
        let writes = &mut self.mailboxes[index].outbox.writes;
        if writes.capacity() == 0 {
            *writes = self.write_lists.pop().unwrap_or_default();
        }
        writes.push((to, put));
    }

    /// Opens the mailbox of a PE.
    fn open(&mut self, pe: u32, now: Time, idle: Time) -> Opened {
        let index = self.border.index(pe);
        let Network { machine, mailboxes, writes, payload, .. } = self;
        let mailbox = &mut mailboxes[index];
        let opened = mailbox.open(now, idle, machine, |message| payload_bytes(*payload, message));
        mailbox.arrived_writes().for_each(|write| writes.prefetch(write.content));
        opened
    }

    /// Gives `to` the values that have arrived at a PE. It must not use the network.
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
        let now = self.mailboxes[self.border.index(to)].now();
        self.bounds[self.border.index(from)].read(from, to, now, &self.machine)
    }

    /// The bound of PE `from` for a round, if it has reached PE `to`.
    pub(super) fn bound_of_round(&self, from: u32, to: u32, round: u64) -> Option<u64> {
        let now = self.mailboxes[self.border.index(to)].now();
        self.bounds[self.border.index(from)].read_round((from, to), round, now, &self.machine)
    }

    /// How many PEs are on other nodes than this one.
    fn far_pes(&self, pe: u32) -> u64 {
        let first = self.machine.node(pe) * self.machine.cores;
        u64::from(self.border.pes() - (first + self.machine.cores).min(self.border.pes()) + first)
    }

    /// What the step of a PE has sent.
    fn sent(&self, pe: u32) -> Sent {
        let machine = &*self.machine;
        let outbox = &self.mailboxes[self.border.index(pe)].outbox;
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
            let node = self.distances.node(from) - self.distances.node(self.border.own().start);
            let card = &mut self.cards[node as usize];
            starts = starts.max(*card);
            *card = starts + level.gap + length;
        }
        let left = starts + length;
        let index = self.border.index(from);
        self.bounds[index].note_left(far, left);
        let at = left + self.distances.latency(machine, from, to);
        Travelled { at, origin: Origin::new(from, far) }
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
            let mut travelled = self.travel(pe, to, until, lengths);
            travelled.origin = travelled.origin.with_slot(in_slot);
            self.leave(to, travelled, Crossed::Value(content), arrives);
        }
        Departed { until, publishing: Time::ZERO, waits: None }
    }

    /// What the step of a PE has sent leaves.
    fn depart(&mut self, pe: u32, now: Time, arrives: &mut dyn FnMut(Arrival)) -> Departed {
        let mut outbox = std::mem::take(&mut self.mailbox(pe).outbox);
        let receivers =
            || outbox.values.iter().map(|(to, _)| *to).filter(|to| self.border.has(*to));
        receivers().for_each(|to| self.mailboxes[self.border.index(to)].prefetch_to_add());
        receivers().for_each(|to| self.mailboxes[self.border.index(to)].prefetch_last());
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
            let others = (0..network.border.pes()).filter(|to| *to != pe);
            for to in others {
                let bounds = &network.bounds[network.border.index(pe)];
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
                self.leave(to, travelled, Crossed::Control(content), arrives);
            }
            self.control_lists.push(controls);
        }
        if outbox.writes.capacity() > 0 {
            let mut writes = std::mem::take(&mut outbox.writes);
            for (to, put) in writes.drain(..) {
                let travelled = self.travel(pe, to, now, self.control_lengths);
                self.leave(to, travelled, Crossed::Write(put), arrives);
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
        let card =
            &mut self.cards[(machine.node(pe) - machine.node(self.border.own().start)) as usize];
        let mut written = now;
        if far_pes > 0 {
            let each = machine.far.gap + machine.far.bytes(BOUND_BYTES);
            written = written.max(*card) + each * far_pes;
            *card = written;
        }
        let reached = Time::picoseconds(
            now.as_picoseconds().saturating_sub(self.latency_most.as_picoseconds()),
        );
        let index = self.border.index(pe);
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
        network.border.own()
    }

    fn hand_over(&self) -> Option<Time> {
        self.get().border.hand_over()
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
        prefetch_all(&network.mailboxes[network.border.index(pe)]);
    }

    fn prefetch_arrivals(&self, pe: u32) {
        let network = self.get();
        network.mailboxes[network.border.index(pe)].prefetch_arrivals();
    }

    fn next(&self, pe: u32, now: Time, events: bool, bounds: bool) -> Option<Time> {
        let network = self.get();
        let mail = network.mailboxes[network.border.index(pe)].first(events);
        let bound = if bounds { network.next_bound(pe, now) } else { None };
        mail.into_iter().chain(bound).min()
    }
}

impl<E> Drop for Network<E> {
    /// What has not been received, as the run has failed. Payloads may panic when they are dropped.
    fn drop(&mut self) {
        let mailboxes = self.mailboxes.iter_mut();
        mailboxes.flat_map(Mailbox::drain).for_each(|value| _ = try_drop(value));
        self.border.drain().for_each(|crossing| _ = try_drop(crossing));
    }
}
