use warpline_memory::{DropEach, MakeRoom};

use crate::mail::wires::{Message, Port, ValueMessage};

/// What queues hold, as error messages put it.
pub(super) const UNSENT: &str = "messages that other PEs have no room for";

/// What waits to be handed over to one PE.
pub(super) struct SendQueue<E> {
    messages: Vec<Message>,
    /// How many of them have been handed over.
    sent: usize,
    /// The first messages by value that found no room, in reverse order.
    first_values: DropEach<ValueMessage<E>>,
    /// The messages by value behind them.
    values: DropEach<ValueMessage<E>>,
}

impl<E> SendQueue<E> {
    pub(super) fn new() -> Self {
        SendQueue {
            messages: Vec::new(),
            sent: 0,
            first_values: DropEach::default(),
            values: DropEach::default(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, message: Message) {
        self.messages.make_room(1, UNSENT);
        self.messages.push(message);
    }

    pub(super) fn push_value(&mut self, message: ValueMessage<E>) {
        self.values.make_room(1, UNSENT);
        self.values.push(message);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && !self.has_values()
    }

    #[inline]
    pub(super) fn has_values(&self) -> bool {
        !self.first_values.is_empty() || !self.values.is_empty()
    }

    /// How much memory there is for messages, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Message>() * self.messages.capacity()
            + size_of::<ValueMessage<E>>() * (self.first_values.capacity() + self.values.capacity())
    }

    pub(super) fn give_back_room(&mut self) {
        self.messages.shrink_to_fit();
        self.first_values.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Hands over as many messages as there is room for, and returns how many.
    pub(super) fn hand_over(&mut self, to: u32, port: &mut impl Port<E>) -> usize {
        let taken =
            if self.messages.is_empty() { 0 } else { port.send(to, &self.messages[self.sent..]) };
        self.sent += taken;
        // However many wait, each is moved only once or twice.
        if 2 * self.sent >= self.messages.len() {
            self.messages.drain(..self.sent);
            self.sent = 0;
        }
        taken + self.hand_over_values(to, port)
    }

    fn hand_over_values(&mut self, to: u32, port: &mut impl Port<E>) -> usize {
        let mut taken = 0;
        loop {
            if self.first_values.is_empty() {
                std::mem::swap(&mut self.first_values, &mut self.values);
                self.first_values.reverse();
            }
            let Some(message) = self.first_values.pop() else { return taken };
            match port.send_value(to, || message) {
                Ok(()) => taken += 1,
                Err(message) => {
                    self.first_values.push(message);
                    return taken;
                }
            }
        }
    }
}
