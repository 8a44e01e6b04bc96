//! What is on its way to a PE, in the order of arrival, and what its step has sent.

use std::collections::VecDeque;

use warpline_kernel::ValueMessage;
use warpline_kernel::gvt::{Control, Put};
use warpline_machine::{Machine, MailboxUnit, Time};
use warpline_memory::prefetch_write;

use super::slots::Slots;

/// Something that arrives at a time.
#[derive(Debug)]
pub(super) struct Arriving<T> {
    pub(super) at: Time,
    /// Whether it comes from another node.
    pub(super) far: bool,
    /// Whether it has a slot of a mailbox in hardware.
    pub(super) in_slot: bool,
    /// What copying its payload costs the receiver.
    pub(super) copying: Time,
    pub(super) content: T,
}

/// What a PE finds in its mailbox at the beginning of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// When it has taken in everything: as it arrives, if the PE has nothing else to do.
    pub ready: Time,
    /// How long it took events and anti-messages in.
    pub receiving: Time,
    /// How long it dealt with messages about GVT.
    pub gvt: Time,
}

/// The mailbox of a PE, and its outbox.
#[derive(Debug)]
pub(super) struct Mailbox<E> {
    /// When it was opened last: what arrives later is not there yet.
    now: Time,
    values: VecDeque<Arriving<ValueMessage<E>>>,
    controls: VecDeque<Arriving<Control>>,
    writes: VecDeque<Arriving<(u32, Put)>>,
    pub(super) slots: Slots,
    pub(super) outbox: Outbox<E>,
}

/// What a step sends, which leaves when the step ends.
#[derive(Debug)]
pub(super) struct Outbox<E> {
    /// In the order in which they were sent.
    pub(super) values: VecDeque<(u32, ValueMessage<E>)>,
    /// Until when the first of them waits at most for room in a full mailbox, if it does.
    pub(super) waits: Option<Time>,
    pub(super) controls: Vec<(u32, Control)>,
    pub(super) writes: Vec<(u32, Put)>,
    /// The last bound published.
    pub(super) bound: Option<u64>,
    /// The last bound published for a round.
    pub(super) round: Option<(u64, u64)>,
}

impl<E> Default for Outbox<E> {
    fn default() -> Self {
        Outbox {
            values: VecDeque::new(),
            waits: None,
            controls: Vec::new(),
            writes: Vec::new(),
            bound: None,
            round: None,
        }
    }
}

impl<E> Default for Mailbox<E> {
    fn default() -> Self {
        Mailbox {
            now: Time::ZERO,
            values: VecDeque::new(),
            controls: VecDeque::new(),
            writes: VecDeque::new(),
            slots: Slots::default(),
            outbox: Outbox::default(),
        }
    }
}

/// Adds what arrives behind all that arrives no later. Most arrives behind all or nearly all.
fn insert<T>(queue: &mut VecDeque<Arriving<T>>, arriving: Arriving<T>) {
    let later = queue.iter().rev().take_while(|other| other.at > arriving.at).count();
    queue.insert(queue.len() - later, arriving);
}

/// Takes the first if it has arrived.
fn take<T>(queue: &mut VecDeque<Arriving<T>>, now: Time) -> Option<T> {
    let has_arrived = queue.front().is_some_and(|first| first.at <= now);
    if has_arrived { queue.pop_front().map(|first| first.content) } else { None }
}

impl<E> Mailbox<E> {
    /// When it was opened last.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Prefetches what an event that arrives is put behind.
    pub(super) fn prefetch_last(&self) {
        self.values.back().into_iter().for_each(prefetch_write);
    }

    pub(super) fn add_value(&mut self, value: Arriving<ValueMessage<E>>) {
        insert(&mut self.values, value);
    }

    pub(super) fn add_control(&mut self, control: Arriving<Control>) {
        insert(&mut self.controls, control);
    }

    pub(super) fn add_write(&mut self, write: Arriving<(u32, Put)>) {
        insert(&mut self.writes, write);
    }

    /// Opens it at a time for a PE that has had nothing to do since `idle`, and took in what
    /// arrived since then.
    pub(super) fn open(&mut self, now: Time, idle: Time, machine: &Machine) -> Opened {
        self.now = now;
        let mut opened = Opened { ready: idle, receiving: Time::ZERO, gvt: Time::ZERO };
        let costs = &machine.costs;
        let overheads = [machine.near.overhead, machine.far.overhead];
        let taken_in = |value: &Arriving<ValueMessage<E>>| {
            let unit = machine.mailboxes(value.far).filter(|_| value.in_slot);
            let through_memory = overheads[usize::from(value.far)] + value.copying;
            unit.map_or(through_memory, MailboxUnit::receiving) + costs.receive
        };
        let read = costs.register_read + costs.gvt_step;
        let has_arrived = |at: &Time| *at <= now;
        let mut controls =
            self.controls.iter().take_while(|other| has_arrived(&other.at)).peekable();
        let mut writes = self.writes.iter().take_while(|other| has_arrived(&other.at)).peekable();
        // Deals with all else that arrives before `at`, in order.
        let mut deal_before = |at: Time, opened: &mut Opened| loop {
            let control = controls.peek().map(|first| first.at);
            let write = writes.peek().map(|first| first.at);
            let Some(first) = control.into_iter().chain(write).min().filter(|first| *first < at)
            else {
                break;
            };
            let takes = if control == Some(first) {
                controls
                    .next()
                    .map_or(Time::ZERO, |other| overheads[usize::from(other.far)] + costs.gvt_step)
            } else {
                writes.next().map_or(Time::ZERO, |_| read)
            };
            opened.gvt += takes;
            opened.ready = opened.ready.max(first) + takes;
        };
        for value in self.values.iter().take_while(|value| has_arrived(&value.at)) {
            deal_before(value.at, &mut opened);
            let takes = taken_in(value);
            opened.receiving += takes;
            opened.ready = opened.ready.max(value.at) + takes;
        }
        deal_before(now + Time::picoseconds(1), &mut opened);
        opened.ready = opened.ready.max(now);
        opened
    }

    /// Takes the values that have arrived.
    pub(super) fn take_values(&mut self, into: &mut Vec<ValueMessage<E>>) {
        let arrived = self.values.iter().take_while(|value| value.at <= self.now).count();
        let slots = &mut self.slots;
        into.extend(self.values.drain(..arrived).map(|value| {
            slots.free(value.in_slot);
            value.content
        }));
    }

    pub(super) fn take_control(&mut self) -> Option<Control> {
        take(&mut self.controls, self.now)
    }

    pub(super) fn take_write(&mut self) -> Option<(u32, Put)> {
        take(&mut self.writes, self.now)
    }

    /// When the first thing that wakes the PE arrives; whether events do.
    pub(super) fn first(&self, events_wake: bool) -> Option<Time> {
        let value = self.values.front().map(|first| first.at).filter(|_| events_wake);
        let control = self.controls.front().map(|first| first.at);
        let write = self.writes.front().map(|first| first.at);
        [value, control, write].into_iter().flatten().min()
    }

    /// Everything that has not been received, or not left.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = ValueMessage<E>> {
        let arriving = self.values.drain(..).map(|value| value.content);
        arriving.chain(self.outbox.values.drain(..).map(|(_, value)| value))
    }
}
