//! What is on its way to a PE, in the order of arrival, and what its step has sent.

use std::collections::VecDeque;

use warpline_kernel::ValueMessage;
use warpline_kernel::gvt::{Control, Put};
use warpline_machine::{Machine, MailboxUnit, Time};
use warpline_memory::{Handle, prefetch_write};

use super::arrivals::{Arrivals, Arriving};
use super::slots::Slots;

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

/// The mailbox of a PE, and its outbox. Events that are on their way lie here, one behind the other,
/// as many arrive between two steps of a PE. All else lies in the pools of the network.
#[derive(Debug)]
pub(super) struct Mailbox<E> {
    /// When it was opened last: what arrives later is not there yet.
    now: Time,
    values: Arrivals<ValueMessage<E>>,
    controls: Arrivals<Handle>,
    writes: Arrivals<Handle>,
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
            values: Arrivals::default(),
            controls: Arrivals::default(),
            writes: Arrivals::default(),
            slots: Slots::default(),
            outbox: Outbox::default(),
        }
    }
}

impl<E> Mailbox<E> {
    /// When it was opened last.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Prefetches what an event that arrives is added to.
    pub(super) fn prefetch_to_add(&self) {
        prefetch_write(&self.values);
    }

    /// Prefetches what an event that arrives is put behind.
    pub(super) fn prefetch_last(&self) {
        self.values.prefetch_last();
    }

    pub(super) fn add_value(&mut self, value: Arriving<ValueMessage<E>>) {
        self.values.add(value);
    }

    pub(super) fn add_control(&mut self, control: Arriving<Handle>) {
        self.controls.add(control);
    }

    pub(super) fn add_write(&mut self, write: Arriving<Handle>) {
        self.writes.add(write);
    }

    /// Opens it at a time for a PE that has had nothing to do since `idle`, and took in what
    /// arrived since then. `payload` gives the bytes of a message beside the message itself.
    pub(super) fn open(
        &mut self,
        now: Time,
        idle: Time,
        machine: &Machine,
        payload: impl Fn(&ValueMessage<E>) -> u64,
    ) -> Opened {
        self.now = now;
        let mut opened = Opened { ready: idle, receiving: Time::ZERO, gvt: Time::ZERO };
        let costs = &machine.costs;
        let overheads = [machine.near.overhead, machine.far.overhead];
        let taken_in = |value: &Arriving<ValueMessage<E>>| {
            let unit =
                machine.mailboxes(value.origin.is_far()).filter(|_| value.origin.is_in_slot());
            let through_memory = || {
                let copying = machine.level(value.origin.is_far()).copying(payload(&value.content));
                overheads[usize::from(value.origin.is_far())] + copying
            };
            unit.map_or_else(through_memory, MailboxUnit::receiving) + costs.receive
        };
        let read = costs.register_read + costs.gvt_step;
        let mut controls = self.controls.until(now).peekable();
        let mut writes = self.writes.until(now).peekable();
        // Deals with all else that arrives before `at`, in order.
        let mut deal_before = |at: Time, opened: &mut Opened| loop {
            let control = controls.peek().map(|first| first.at);
            let write = writes.peek().map(|first| first.at);
            let Some(first) = control.into_iter().chain(write).min().filter(|first| *first < at)
            else {
                break;
            };
            let takes = if control == Some(first) {
                controls.next().map_or(Time::ZERO, |other| {
                    overheads[usize::from(other.origin.is_far())] + costs.gvt_step
                })
            } else {
                writes.next().map_or(Time::ZERO, |_| read)
            };
            opened.gvt += takes;
            opened.ready = opened.ready.max(first) + takes;
        };
        for value in self.values.until(now) {
            deal_before(value.at, &mut opened);
            let takes = taken_in(value);
            opened.receiving += takes;
            opened.ready = opened.ready.max(value.at) + takes;
        }
        deal_before(now + Time::picoseconds(1), &mut opened);
        opened.ready = opened.ready.max(now);
        opened
    }

    /// The writes that have arrived.
    pub(super) fn arrived_writes(&self) -> impl Iterator<Item = &Arriving<Handle>> {
        self.writes.until(self.now)
    }

    /// Prefetches what arrives first.
    pub(super) fn prefetch_arrivals(&self) {
        self.values.prefetch_first();
        self.controls.prefetch_first();
        self.writes.prefetch_first();
    }

    /// Takes the first value if it has arrived.
    pub(super) fn take_value(&mut self) -> Option<ValueMessage<E>> {
        let value = self.values.take(self.now)?;
        self.slots.free(value.origin.is_in_slot());
        Some(value.content)
    }

    pub(super) fn take_control(&mut self) -> Option<Handle> {
        Some(self.controls.take(self.now)?.content)
    }

    pub(super) fn take_write(&mut self) -> Option<Handle> {
        Some(self.writes.take(self.now)?.content)
    }

    /// All messages that have not been received, and all that have not been sent.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = ValueMessage<E>> {
        self.values.drain().chain(self.outbox.values.drain(..).map(|(_, value)| value))
    }

    /// When the first thing that wakes the PE arrives; whether events do.
    pub(super) fn first(&self, events_wake: bool) -> Option<Time> {
        let value = self.values.first().filter(|_| events_wake);
        [value, self.controls.first(), self.writes.first()].into_iter().flatten().min()
    }
}
