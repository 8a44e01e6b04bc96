//! The slots of a mailbox in hardware, and who waits for one.

/// The slots of a mailbox that are taken. A message takes one when it is sent, and frees it when it
/// is received.
///
/// Invariant: those who wait have found all slots taken since somebody looked last.
#[derive(Debug, Default)]
pub(super) struct Slots {
    taken: u32,
    waiting: Vec<u32>,
}

impl Slots {
    /// Takes one of `all`, if one is free.
    pub(super) fn take(&mut self, all: u32) -> bool {
        let has_room = self.taken < all;
        self.taken += u32::from(has_room);
        has_room
    }

    /// A message has been received that had a slot, or had none.
    pub(super) fn free(&mut self, in_slot: bool) {
        self.taken -= u32::from(in_slot);
    }

    /// A PE waits for one.
    pub(super) fn wait(&mut self, pe: u32) {
        self.waiting.push(pe);
    }

    /// Those who wait, and should look again. They come in the order in which they began to.
    pub(super) fn take_waiting(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_mailbox_has_room_again_when_a_message_is_received() {
        let mut slots = Slots::default();
        assert_eq!([slots.take(2), slots.take(2), slots.take(2)], [true, true, false]);
        slots.wait(7);
        slots.free(false);
        assert!(!slots.take(2), "a message that came another way frees none");
        slots.free(true);
        assert!(slots.take(2) && !slots.take(2));
        assert_eq!((slots.take_waiting(), slots.take_waiting()), (vec![7], vec![]));
    }
}
