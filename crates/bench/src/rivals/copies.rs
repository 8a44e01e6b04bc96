//! Messages in memory of each process's own, copied into a ring and out of it.

use warpline_memory::Payload;

use super::carrier::Carrier;
use super::zero_copy::Rings;

pub(super) struct Copies {
    rings: Rings,
    /// Memory of messages that were used, which spares the allocator.
    free: Vec<Vec<u8>>,
}

impl Copies {
    pub(super) fn new(rings: Rings) -> Self {
        Copies { rings, free: Vec::new() }
    }
}

fn copy_into(free: &mut Vec<Vec<u8>>, bytes: &[u8]) -> Vec<u8> {
    let mut message = free.pop().unwrap_or_default();
    message.clear();
    message.extend_from_slice(bytes);
    message
}

impl Carrier for Copies {
    type Message = Vec<u8>;

    fn make(&mut self, bytes: &[u8]) -> Vec<u8> {
        copy_into(&mut self.free, bytes)
    }

    fn pass_on(&mut self, mut used: Vec<u8>, start: [u8; 8]) -> Vec<u8> {
        used[..8].copy_from_slice(&start);
        used
    }

    fn free(&mut self, used: Vec<u8>) {
        self.free.push(used);
    }

    fn send(&mut self, to: usize, time: u64, message: Vec<u8>) -> Result<(), Vec<u8>> {
        match self.rings.send(to, time, Payload::from(&message[..])) {
            Ok(()) => {
                self.free.push(message);
                Ok(())
            }
            Err(_) => Err(message),
        }
    }

    fn receive(&mut self, take: &mut impl FnMut(u64, Vec<u8>)) {
        let free = &mut self.free;
        self.rings.receive(|time, payload| take(time, copy_into(free, &payload)));
    }
}
