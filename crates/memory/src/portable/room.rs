use crate::MakeRoom;

/// What lists of bytes hold, as errors call it.
const BYTES: &str = "values as bytes";

/// The end of a list of bytes, with room for a value that is being
/// [written](super::Portable::write).
///
/// Room is made once for a whole value, so that a number takes one store. That it suffices is a
/// promise of all who implement [`Portable`](super::Portable): nobody else gets hold of one.
#[derive(Debug)]
pub struct Room<'l> {
    list: &'l mut Vec<u8>,
    /// Where the next byte goes.
    end: *mut u8,
    /// The most bytes that the value takes, those of payloads aside.
    most: usize,
}

impl<'l> Room<'l> {
    /// Room for at most this many bytes.
    #[inline(always)]
    pub(super) fn new(list: &'l mut Vec<u8>, most: usize) -> Self {
        list.make_room(most, BYTES);
        let end = list.spare_capacity_mut().as_mut_ptr().cast();
        Room { list, end, most }
    }

    #[inline(always)]
    pub(super) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.check(N);
        // SAFETY: there is room for them, as the value takes no more than `most` bytes.
        unsafe {
            self.end.cast::<[u8; N]>().write_unaligned(bytes);
            self.end = self.end.add(N);
        }
    }

    #[inline(always)]
    pub(super) fn put_slice(&mut self, bytes: &[u8]) {
        self.check(bytes.len());
        // SAFETY: as above. The list is borrowed exclusively, so the bytes are not in it.
        unsafe {
            self.end.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.end = self.end.add(bytes.len());
        }
    }

    /// Puts bytes for which no room has been made, and makes room for what may follow.
    pub(super) fn put_payload(&mut self, bytes: &[u8]) {
        let len = self.len();
        // SAFETY: all bytes up to `end` have been written.
        unsafe { self.list.set_len(len) };
        self.list.make_room(bytes.len().saturating_add(self.most), BYTES);
        self.list.extend_from_slice(bytes);
        self.end = self.list.spare_capacity_mut().as_mut_ptr().cast();
    }

    /// Adds what was put to the list.
    #[inline(always)]
    pub(super) fn finish(self) {
        let len = self.len();
        // SAFETY: all bytes up to `end` have been written.
        unsafe { self.list.set_len(len) };
    }

    /// The length of the list, with what was put.
    #[inline(always)]
    fn len(&self) -> usize {
        self.end.addr() - self.list.as_ptr().addr()
    }

    #[inline(always)]
    fn check(&self, more: usize) {
        debug_assert!(
            self.list.capacity() - self.len() >= more,
            "a value takes more bytes than it promised"
        );
    }
}
