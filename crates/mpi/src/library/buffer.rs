//! Buffers of a fixed capacity, and the byte at their end that says what they hold.

use std::ops::{Deref, DerefMut};

use super::error::{Error, Result};

/// The last byte of a message that is a batch.
const BATCH: u8 = 0;
/// The last byte of a message that announces a large one. The eight bytes before it are the length.
const ANNOUNCEMENT: u8 = 1;
/// The length of an announcement, without its last byte.
const ANNOUNCEMENT_BYTES: usize = size_of::<u64>();

/// Room for one batch: bytes that are filled in, up to a fixed capacity, and then sent.
///
/// It comes from [`SendPool::take`](crate::SendPool::take) and goes to
/// [`SendPool::send`](crate::SendPool::send). While it is in flight, the pool has it, so nobody can
/// touch it.
#[derive(Debug)]
pub struct Buffer {
    /// Has room for one byte more than the capacity.
    bytes: Vec<u8>,
    capacity: usize,
}

impl Buffer {
    pub(crate) fn new(capacity: usize) -> Result<Buffer> {
        Ok(Buffer { bytes: room_for(received_length(capacity))?, capacity })
    }

    /// An empty buffer in the memory that [`Buffer::into_batch`] returned for one of the same
    /// capacity.
    pub(crate) fn reuse(mut bytes: Vec<u8>, capacity: usize) -> Buffer {
        bytes.clear();
        Buffer { bytes, capacity }
    }

    /// How many bytes it can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many bytes still fit.
    pub fn room(&self) -> usize {
        self.capacity - self.bytes.len()
    }

    /// Adds bytes at the end if all of them fit, and says whether they did. If not, nothing
    /// changes.
    #[must_use]
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.room();
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    /// Adds this many zeros at the end, to be overwritten, and returns them; or nothing, if they do
    /// not fit.
    #[inline]
    pub fn grow(&mut self, bytes: usize) -> Option<&mut [u8]> {
        let before = self.bytes.len();
        (bytes <= self.room()).then(|| {
            self.bytes.resize(before + bytes, 0);
            &mut self.bytes[before..]
        })
    }

    /// Removes all bytes.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn into_batch(mut self) -> Vec<u8> {
        self.bytes.push(BATCH);
        self.bytes
    }

    /// The message that goes before a large one. There is room for it, whatever the capacity.
    pub(crate) fn into_announcement(mut self, bytes: usize) -> Vec<u8> {
        self.bytes.clear();
        self.bytes.extend_from_slice(&(bytes as u64).to_le_bytes());
        self.bytes.push(ANNOUNCEMENT);
        self.bytes
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

/// The kinds of messages.
pub(crate) enum Received<'a> {
    Batch(&'a [u8]),
    /// A large message of this many bytes follows.
    Announcement(usize),
    /// A message that no pool has sent.
    Foreign,
}

impl Received<'_> {
    pub(crate) fn from(message: &[u8]) -> Received<'_> {
        match message.split_last() {
            Some((&BATCH, batch)) => Received::Batch(batch),
            Some((&ANNOUNCEMENT, length)) => {
                announced_length(length).map_or(Received::Foreign, Received::Announcement)
            }
            _ => Received::Foreign,
        }
    }
}

/// The length of a large message, if these are the bytes of an announcement.
fn announced_length(bytes: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(bytes.try_into().ok()?);
    usize::try_from(length).ok().filter(|&length| length <= crate::LONGEST_MESSAGE)
}

/// The longest message that a buffer of this capacity becomes, in bytes.
pub(crate) fn received_length(capacity: usize) -> usize {
    capacity.max(ANNOUNCEMENT_BYTES) + 1
}

/// An empty list with room for this many bytes.
pub(crate) fn room_for(bytes: usize) -> Result<Vec<u8>> {
    let mut list = Vec::new();
    list.try_reserve_exact(bytes).map_err(|_| Error::Memory { bytes })?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_takes_what_fits_and_no_more() {
        let mut buffer = Buffer::new(5).expect("there is memory");
        assert!(buffer.write(b"abc") && !buffer.write(b"def") && buffer.room() == 2);
        buffer.grow(2).expect("two bytes fit").copy_from_slice(b"de");
        assert!(buffer.grow(1).is_none() && buffer.write(b""));
        assert_eq!((&buffer[..], buffer.capacity()), (&b"abcde"[..], 5));
        buffer.clear();
        assert_eq!((buffer.len(), buffer.room()), (0, 5));
    }

    #[test]
    fn batches_and_announcements_are_told_apart() {
        for capacity in [0, 5, 100] {
            let full = || {
                let mut buffer = Buffer::new(capacity).expect("there is memory");
                buffer.grow(capacity).expect("it is the capacity").fill(ANNOUNCEMENT);
                buffer
            };
            let batch = full().into_batch();
            let announcement = full().into_announcement(1 << 20);
            assert!(batch.len().max(announcement.len()) <= received_length(capacity));
            assert!(
                matches!(Received::from(&batch), Received::Batch(found) if found == vec![ANNOUNCEMENT; capacity])
            );
            assert!(matches!(Received::from(&announcement), Received::Announcement(1_048_576)));
        }
    }

    #[test]
    fn a_message_that_no_pool_sends_is_foreign() {
        let too_long =
            Buffer::new(0).expect("there is memory").into_announcement(crate::LONGEST_MESSAGE + 1);
        for message in [&[][..], &[7], &[0, 0, ANNOUNCEMENT], &too_long] {
            assert!(matches!(Received::from(message), Received::Foreign));
        }
    }
}
