//! Control messages between the first process and each of the others: of any length, in pieces,
//! through rings in shared memory.

use std::collections::VecDeque;

use warpline_memory::{Consumer, IsPortable, Producer, Region, ring_in};
use warpline_model::Portable;

/// The bytes of a piece.
const PIECE: usize = 1000;
/// How many pieces a ring holds.
const PIECES: usize = 256;

/// A piece of a control message.
#[derive(Clone, Copy, Portable)]
struct Piece {
    len: u16,
    is_last: bool,
    bytes: [u8; PIECE],
}

/// The ends of this process.
#[derive(Debug, Default)]
pub(super) struct ControlEnds {
    /// The first process has one for each other, the others one for the first.
    to: Vec<Sender>,
    from: Vec<Receiver>,
}

/// Where control messages go in.
struct Sender(Producer<Piece>);

/// Where they come out.
struct Receiver {
    ring: Consumer<Piece>,
    /// Those that have been taken in.
    arrived: VecDeque<Vec<u8>>,
    /// What has been taken in of the next one.
    begun: Vec<u8>,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sender")
    }
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Receiver({} bytes)", self.begun.len())
    }
}

/// A control message that is being sent.
pub(super) struct Post<'l> {
    rest: &'l [u8],
    sent: bool,
}

impl<'l> Post<'l> {
    pub(super) fn new(message: &'l [u8]) -> Self {
        Post { rest: message, sent: false }
    }
}

/// The ends of process `number`.
pub(super) fn control_ends(region: &Region, number: u32, processes: u32) -> ControlEnds {
    let mut mine = ControlEnds { to: Vec::new(), from: Vec::new() };
    for other in 1..processes {
        let (to_first, at_first) = ring_in(region, Some(IsPortable::PROOF), PIECES);
        let (from_first, at_other) = ring_in(region, Some(IsPortable::PROOF), PIECES);
        let receiver = |ring| Receiver { ring, arrived: VecDeque::new(), begun: Vec::new() };
        if number == 0 {
            mine.to.push(Sender(from_first));
            mine.from.push(receiver(at_first));
        } else if number == other {
            mine.to.push(Sender(to_first));
            mine.from.push(receiver(at_other));
        }
    }
    mine
}

impl ControlEnds {
    /// Sends as much of a control message to a process as there is room for, and returns whether
    /// that was all of it.
    pub(super) fn send(&mut self, to: u32, post: &mut Post<'_>) -> bool {
        self.to[place(to)].send(post)
    }

    /// The next control message from a process, if all of it has arrived.
    pub(super) fn receive(&mut self, from: u32) -> Option<Vec<u8>> {
        self.from[place(from)].receive()
    }

    /// Takes in all that has arrived, so that there is room for more.
    pub(super) fn take_in(&mut self) {
        self.from.iter_mut().for_each(Receiver::take_in);
    }
}

/// Where the end to a process is: those of the first begin with that of process 1.
fn place(number: u32) -> usize {
    number.saturating_sub(1) as usize
}

impl Sender {
    /// Sends as much of a control message as there is room for, and returns whether that was all of
    /// it.
    fn send(&mut self, post: &mut Post<'_>) -> bool {
        while !post.sent {
            let (now, later) = post.rest.split_at(post.rest.len().min(PIECE));
            let mut piece =
                Piece { len: now.len() as u16, is_last: later.is_empty(), bytes: [0; PIECE] };
            piece.bytes[..now.len()].copy_from_slice(now);
            if !self.0.push(piece) {
                return false;
            }
            (post.rest, post.sent) = (later, later.is_empty());
        }
        true
    }
}

impl Receiver {
    /// Takes in all that has arrived, so that there is room for more.
    fn take_in(&mut self) {
        for piece in self.ring.drain().into_iter().flatten() {
            self.begun.extend_from_slice(&piece.bytes[..usize::from(piece.len)]);
            if piece.is_last {
                self.arrived.push_back(std::mem::take(&mut self.begun));
            }
        }
    }

    /// The next control message, if all of it has arrived.
    fn receive(&mut self) -> Option<Vec<u8>> {
        if self.arrived.is_empty() {
            self.take_in();
        }
        self.arrived.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_arrive_as_they_were() {
        let (producer, consumer) = ring_in(&Region::own(), Some(IsPortable::PROOF), PIECES);
        let (mut sender, mut receiver) = (
            Sender(producer),
            Receiver { ring: consumer, arrived: VecDeque::new(), begun: Vec::new() },
        );
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE * PIECES] {
            let message: Vec<u8> = (0..len).map(|index| (index / 7) as u8).collect();
            let mut post = Post::new(&message);
            let mut found = None;
            while !sender.send(&mut post) {
                assert_eq!(receiver.receive(), None, "it has not arrived yet");
            }
            found = found.or_else(|| receiver.receive());
            assert_eq!(found.as_deref(), Some(&message[..]), "{len} bytes");
            assert_eq!(receiver.receive(), None);
        }
    }
}
