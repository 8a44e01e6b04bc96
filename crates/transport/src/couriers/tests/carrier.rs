//! Wires between the processes of a test.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use warpline_base::random::mix64;

use crate::couriers::carrier::{Address, Carrier};

/// Pieces on their way, by receiver.
pub(super) type Wires = Arc<Mutex<Vec<(Address, VecDeque<Vec<u8>>)>>>;

/// Brings pieces to other processes of a test, late, and refuses some.
pub(super) struct TestCarrier {
    pub(super) me: Address,
    pub(super) wires: Wires,
    pub(super) chance: u64,
    /// It refuses one of this many pieces.
    pub(super) refuses: u64,
    /// Whether it takes nothing and brings nothing.
    pub(super) stuck: Arc<Mutex<bool>>,
}

impl TestCarrier {
    fn below(&mut self, bound: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.chance) % bound
    }
}

impl Carrier for TestCarrier {
    fn has_room(&mut self, _: Address) -> Result<bool, String> {
        Ok(!*self.stuck.lock().unwrap() && self.below(self.refuses) > 0)
    }

    fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String> {
        // Even after `has_room` has said so, there may be none.
        if self.below(self.refuses) == 0 {
            return Ok(false);
        }
        let mut wires = self.wires.lock().unwrap();
        let (_, wire) = wires.iter_mut().find(|(address, _)| *address == to).expect("a receiver");
        wire.push_back(piece.to_vec());
        Ok(true)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        let some = self.below(4) as usize;
        if *self.stuck.lock().unwrap() {
            return Ok(false);
        }
        let mut wires = self.wires.lock().unwrap();
        let (_, wire) =
            wires.iter_mut().find(|(address, _)| *address == self.me).expect("this one");
        let some = some.min(wire.len());
        wire.drain(..some).for_each(|piece| take(&piece));
        Ok(some > 0)
    }

    fn progress(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}
