//! Messages in memory of each process's own, which MPI copies to another. The receiver copies once
//! more than in a program written only for MPI, to take a message out of the buffer in which it was
//! received.

use std::ops::Deref;

use warpline_mpi::{Buffer, Comm, ReceiveLimits, Receiver, Result, SendLimits, SendPool, Tag};

use super::carrier::Carrier;

const TAG: Tag = Tag::new(0);
/// The most messages in flight.
const IN_FLIGHT: usize = 256;
/// Buffers that are ready for messages to arrive.
const BUFFERS: usize = 64;
const TIME_BYTES: usize = size_of::<u64>();

/// A time, and the bytes of a message.
pub(super) struct Timed(Buffer);

impl Deref for Timed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0[TIME_BYTES..]
    }
}

pub(super) struct Mpi<'m> {
    pool: SendPool<'m>,
    receiver: Receiver<'m>,
    /// Buffers of messages that were used.
    free: Vec<Buffer>,
}

impl<'m> Mpi<'m> {
    pub(super) fn new(comm: &Comm<'m>, bytes: usize) -> Result<Self> {
        let capacity = TIME_BYTES + bytes.max(size_of::<u64>());
        let pool = SendPool::new(comm, SendLimits { capacity, batches: IN_FLIGHT, large: 1 })?;
        let receiver = Receiver::new(comm, TAG, ReceiveLimits { capacity, buffers: BUFFERS })?;
        Ok(Mpi { pool, receiver, free: Vec::new() })
    }
}

fn buffer(free: &mut Vec<Buffer>, pool: &mut SendPool<'_>) -> Buffer {
    let mut buffer =
        free.pop().unwrap_or_else(|| pool.take().unwrap_or_else(|error| panic!("{error}")));
    buffer.clear();
    buffer
}

fn write(buffer: &mut Buffer, bytes: &[u8]) {
    assert!(buffer.write(bytes), "a message is longer than was said");
}

impl Carrier for Mpi<'_> {
    type Message = Timed;

    fn make(&mut self, bytes: &[u8]) -> Timed {
        let mut buffer = buffer(&mut self.free, &mut self.pool);
        write(&mut buffer, &[0; TIME_BYTES]);
        write(&mut buffer, bytes);
        Timed(buffer)
    }

    fn pass_on(&mut self, mut used: Timed, start: [u8; 8]) -> Timed {
        used.0[TIME_BYTES..][..start.len()].copy_from_slice(&start);
        used
    }

    fn free(&mut self, used: Timed) {
        self.free.push(used.0);
    }

    fn send(&mut self, to: usize, time: u64, mut message: Timed) -> std::result::Result<(), Timed> {
        message.0[..TIME_BYTES].copy_from_slice(&time.to_le_bytes());
        let sent =
            self.pool.send(to as u32, TAG, message.0).unwrap_or_else(|error| panic!("{error}"));
        sent.refused().map_or(Ok(()), |buffer| Err(Timed(buffer)))
    }

    fn receive(&mut self, take: &mut impl FnMut(u64, Timed)) {
        let Mpi { pool, receiver, free } = self;
        let received = receiver.poll(|_, bytes| {
            let mut own = buffer(free, pool);
            write(&mut own, bytes);
            let (time, _) = bytes.split_first_chunk().expect("every message has a time");
            take(u64::from_le_bytes(*time), Timed(own));
        });
        received.unwrap_or_else(|error| panic!("{error}"));
    }
}
