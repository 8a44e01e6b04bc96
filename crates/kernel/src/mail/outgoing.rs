//! What waits to be handed over to other PEs.
//!
//! *Apart or together.* Among few PEs each receiver has a queue of its own, so that what has no
//! room at one of them holds nothing else up. Queues for all pairs of many PEs would take more
//! memory than the model. So beyond [`APART_MOST`] a PE has one list for all, and sorts it when it
//! hands over: of the few hundred messages of a step, hardly two go to the same PE then.

use warpline_memory::{APART_MOST, ApartList, DropEach, MakeRoom};

use crate::mail::send_queue::{SendQueue, UNSENT};
use crate::mail::wires::{Message, Port, ValueMessage};

/// Messages to other PEs that have yet to be handed over.
pub(super) enum Outgoing<E> {
    /// By receiving PE.
    Apart(ApartList<SendQueue<E>>),
    Together(Together<E>),
}

/// Messages to any PE, with their receivers.
pub(super) struct Together<E> {
    messages: Vec<(u32, Message)>,
    values: DropEach<(u32, ValueMessage<E>)>,
    /// Those to one PE, as a port takes them; empty but while they are handed over.
    batch: Vec<Message>,
}

impl<E> Outgoing<E> {
    /// Nothing, of a PE among `pes`.
    pub(super) fn new(pes: u32) -> Self {
        if pes <= APART_MOST {
            return Outgoing::Apart(ApartList::from_fn(pes as usize, |_| SendQueue::new()));
        }
        Outgoing::Together(Together {
            messages: Vec::new(),
            values: DropEach::default(),
            batch: Vec::new(),
        })
    }

    #[inline]
    pub(super) fn push(&mut self, to: u32, message: Message) {
        match self {
            Outgoing::Apart(queues) => queues[to as usize].push(message),
            Outgoing::Together(all) => {
                all.messages.make_room(1, UNSENT);
                all.messages.push((to, message));
            }
        }
    }

    pub(super) fn push_value(&mut self, to: u32, message: ValueMessage<E>) {
        match self {
            Outgoing::Apart(queues) => queues[to as usize].push_value(message),
            Outgoing::Together(all) => {
                all.values.make_room(1, UNSENT);
                all.values.push((to, message));
            }
        }
    }

    /// Hands over as many messages as there is room for. Returns how many, and whether the port may
    /// be keeping some of them back.
    pub(super) fn hand_over(&mut self, port: &mut impl Port<E>) -> (usize, bool) {
        match self {
            Outgoing::Apart(queues) => hand_over_apart(queues, port),
            Outgoing::Together(all) => all.hand_over(port),
        }
    }

    /// How much memory there is for messages, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Outgoing::Apart(queues) => queues.iter().map(SendQueue::bytes).sum(),
            Outgoing::Together(all) => all.bytes(),
        }
    }

    pub(super) fn give_back_room(&mut self) {
        match self {
            Outgoing::Apart(queues) => queues.iter_mut().for_each(SendQueue::give_back_room),
            Outgoing::Together(all) => {
                all.messages.shrink_to_fit();
                all.values.shrink_to_fit();
                all.batch.shrink_to_fit();
            }
        }
    }
}

fn hand_over_apart<E>(
    queues: &mut ApartList<SendQueue<E>>,
    port: &mut impl Port<E>,
) -> (usize, bool) {
    let mut handed_over = 0;
    let mut has_values = false;
    for (to, queue) in (0..).zip(queues.iter_mut()) {
        if !queue.is_empty() {
            has_values |= queue.has_values();
            handed_over += queue.hand_over(to, port);
        }
    }
    (handed_over, has_values)
}

impl<E> Together<E> {
    fn hand_over(&mut self, port: &mut impl Port<E>) -> (usize, bool) {
        let has_values = !self.values.is_empty();
        (self.hand_over_messages(port) + self.hand_over_values(port), has_values)
    }

    fn hand_over_messages(&mut self, port: &mut impl Port<E>) -> usize {
        let Together { messages, batch, .. } = self;
        // It keeps the order of those to one PE.
        messages.sort_by_key(|(to, _)| *to);
        let before = messages.len();
        let mut kept = 0;
        let mut next = 0;
        while let Some(&(to, _)) = messages.get(next) {
            let count = messages[next..].iter().take_while(|(other, _)| *other == to).count();
            batch.make_room(count, UNSENT);
            batch.extend(messages[next..next + count].iter().map(|(_, message)| *message));
            let sent = port.send(to, batch);
            batch.clear();
            messages.copy_within(next + sent..next + count, kept);
            kept += count - sent;
            next += count;
        }
        messages.truncate(kept);
        before - kept
    }

    fn hand_over_values(&mut self, port: &mut impl Port<E>) -> usize {
        let waiting = self.values.take();
        let mut handed_over = 0;
        // What comes later for the same receiver must not overtake.
        let mut refused: Vec<u32> = Vec::new();
        for (to, message) in waiting {
            let has_refused = refused.contains(&to);
            let sent = if has_refused { Err(message) } else { port.send_value(to, || message) };
            match sent {
                Ok(()) => handed_over += 1,
                Err(message) => {
                    if !has_refused {
                        refused.make_room(1, UNSENT);
                        refused.push(to);
                    }
                    self.values.make_room(1, UNSENT);
                    self.values.push((to, message));
                }
            }
        }
        handed_over
    }

    fn bytes(&self) -> usize {
        size_of::<(u32, Message)>() * self.messages.capacity()
            + size_of::<(u32, ValueMessage<E>)>() * self.values.capacity()
            + size_of::<Message>() * self.batch.capacity()
    }
}
