//! The requests of a rank: messages that it sends or receives and has not yet waited for.

use crate::call::Call;
use crate::packet::Content;

/// A request, by its place and by how often the place was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) place: u32,
    generation: u32,
}

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The communicator.
    pub(crate) context: u32,
    /// The sender, as a rank of the world; anybody if `None`.
    pub(crate) from: Option<u32>,
    /// The tag; any if `None`.
    pub(crate) tag: Option<u32>,
}

impl Pattern {
    #[inline]
    pub(crate) fn takes(&self, context: u32, from: u32, tag: u32) -> bool {
        self.context == context
            && self.from.is_none_or(|sender| sender == from)
            && self.tag.is_none_or(|wanted| wanted == tag)
    }
}

/// What a request is for.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// A message of at most so many bytes.
    Receive { pattern: Pattern, most: u64 },
    /// A message that was accepted and is on its way.
    Arriving,
    /// A message that waits for its receiver.
    Send { to: u32, tag: u32, content: Content },
    /// It is complete.
    Done,
    /// It was withdrawn before it matched a message.
    Cancelled,
}

/// What is known of a message that a request has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// The sender, as a rank of the world.
    pub(crate) from: u32,
    pub(crate) tag: u32,
    pub(crate) datatype: u8,
    pub(crate) bytes: u64,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    generation: u32,
    /// Whether the program waits for it now.
    pub(crate) is_awaited: bool,
    is_used: bool,
    pub(crate) work: Work,
    pub(crate) call: Call,
    /// When it began, and later when it was complete, in seconds.
    pub(crate) at: f64,
    pub(crate) received: Received,
    pub(crate) content: Option<Content>,
}

/// All requests of a rank.
///
/// Invariant: places in `free` are not used, and all others are.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Requests {
    pub(crate) fn add(&mut self, work: Work, call: Call, at: f64) -> Key {
        let slot = Slot {
            generation: 0,
            is_awaited: false,
            is_used: true,
            work,
            call,
            at,
            received: Received::default(),
            content: None,
        };
        match self.free.pop() {
            Some(place) => {
                let old = &mut self.slots[place as usize];
                let generation = old.generation.wrapping_add(1);
                *old = Slot { generation, ..slot };
                Key { place, generation }
            }
            None => {
                // There are many ranks, and most have one request at a time.
                if self.slots.len() < 4 {
                    self.slots.reserve_exact(1);
                }
                self.slots.push(slot);
                Key { place: self.slots.len() as u32 - 1, generation: 0 }
            }
        }
    }

    /// The request in this place, which is used.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> &mut Slot {
        &mut self.slots[place as usize]
    }

    /// The request of this key, if it has not been removed.
    #[inline]
    pub(crate) fn get(&mut self, key: Key) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(key.place as usize)?;
        (slot.is_used && slot.generation == key.generation).then_some(slot)
    }

    /// Removes a request, and returns what it has received.
    pub(crate) fn remove(&mut self, key: Key) -> Option<(Received, Option<Content>)> {
        let slot = self.get(key)?;
        slot.is_used = false;
        slot.is_awaited = false;
        slot.work = Work::Done;
        let taken = (slot.received, slot.content.take());
        self.free.push(key.place);
        Some(taken)
    }

    /// All requests that have not been removed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.is_used)
    }
}
