//! Messages in a segment of Boost.Interprocess. Offset pointers to them travel.

use warpline_rivals::{Message, Segment};

use super::carrier::Carrier;

pub(super) struct Boost {
    /// Stays as long as the program, as messages borrow it.
    segment: &'static Segment,
    me: u32,
    /// Whether messages that are passed on stay where they are, instead of being allocated anew.
    keeps: bool,
}

impl Boost {
    pub(super) fn new(segment: &'static Segment, me: usize, keeps: bool) -> Self {
        Boost { segment, me: me as u32, keeps }
    }

    fn new_message(&self, bytes: usize) -> Message<'static> {
        self.segment.message(bytes).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Carrier for Boost {
    type Message = Message<'static>;

    fn make(&mut self, bytes: &[u8]) -> Message<'static> {
        let mut message = self.new_message(bytes.len());
        message.copy_from_slice(bytes);
        message
    }

    fn pass_on(&mut self, used: Message<'static>, start: [u8; 8]) -> Message<'static> {
        let mut message = if self.keeps {
            used
        } else {
            let bytes = used.len();
            drop(used);
            self.new_message(bytes)
        };
        message[..8].copy_from_slice(&start);
        message
    }

    fn free(&mut self, _: Message<'static>) {}

    fn send(
        &mut self,
        to: usize,
        time: u64,
        message: Message<'static>,
    ) -> Result<(), Message<'static>> {
        self.segment.send(to as u32, time, message).map_err(|(message, _)| message)
    }

    fn receive(&mut self, take: &mut impl FnMut(u64, Message<'static>)) {
        self.segment.receive(self.me, take).unwrap_or_else(|error| panic!("{error}"));
    }
}
