//! Control messages between the first process and each of the others, through rings in shared
//! memory. They have any length and travel in pieces.

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

/// This process's ends of the rings: the first process has a pair for each other one, the others
/// have one for the first.
#[derive(Debug, Default)]
pub(super) struct ControlEnds {
    to: Vec<Sender>,
    from: Vec<Receiver>,
}

/// Where control messages go in.
struct Sender(Producer<Piece>);

/// Where they come out.
struct Receiver {
    ring: Consumer<Piece>,
    /// Messages that have been taken in.
    arrived: VecDeque<Vec<u8>>,
    /// The pieces of the next one that have been taken in.
    begun: Vec<u8>,
}

impl Receiver {
    fn new(ring: Consumer<Piece>) -> Self {
        Receiver { ring, arrived: VecDeque::new(), begun: Vec::new() }
    }
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
    is_sent: bool,
}

impl<'l> Post<'l> {
    pub(super) fn new(message: &'l [u8]) -> Self {
        Post { rest: message, is_sent: false }
    }
}

/// The ends of process `number`.
pub(super) fn control_ends(region: &Region, number: u32, processes: u32) -> ControlEnds {
    let mut mine = ControlEnds { to: Vec::new(), from: Vec::new() };
    for other in 1..processes {
        let (to_first, at_first) = ring_in(region, Some(IsPortable::PROOF), PIECES);
        let (from_first, at_other) = ring_in(region, Some(IsPortable::PROOF), PIECES);
        if number == 0 {
            mine.to.push(Sender(from_first));
            mine.from.push(Receiver::new(at_first));
        } else if number == other {
            mine.to.push(Sender(to_first));
            mine.from.push(Receiver::new(at_other));
        }
    }
    mine
}

impl ControlEnds {
    /// Sends a process as much of a control message as there is room for, and returns whether that
    /// was all of it.
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

/// The place of the ends to a process. The first process has those to process 1 at place 0.
fn place(number: u32) -> usize {
    number.saturating_sub(1) as usize
}

impl Sender {
    /// Sends as much of a control message as there is room for, and returns whether that was all of
    /// it.
    fn send(&mut self, post: &mut Post<'_>) -> bool {
        while !post.is_sent {
            let (now, later) = post.rest.split_at(post.rest.len().min(PIECE));
            let mut piece =
                Piece { len: now.len() as u16, is_last: later.is_empty(), bytes: [0; PIECE] };
            piece.bytes[..now.len()].copy_from_slice(now);
            if !self.0.push(piece) {
                return false;
            }
            post.rest = later;
            post.is_sent = later.is_empty();
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
        let mut sender = Sender(producer);
        let mut receiver = Receiver::new(consumer);
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE * PIECES] {
            let message: Vec<u8> = (0..len).map(|index| (index / 7) as u8).collect();
            let mut post = Post::new(&message);
            while !sender.send(&mut post) {
                assert_eq!(receiver.receive(), None, "it has not arrived yet");
            }
            assert_eq!(receiver.receive().as_deref(), Some(&message[..]), "{len} bytes");
            assert_eq!(receiver.receive(), None);
        }
    }
}
