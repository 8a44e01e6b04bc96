//! Bytes that messages carry.

pub(crate) mod area;
mod block;
mod chunks;
mod classes;
mod clean;
mod free_list;
pub(crate) mod held;
#[cfg(all(test, loom))]
mod loom_tests;
mod returned;
#[cfg(feature = "serde")]
mod serde;
pub(crate) mod shared;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::Cell;
use std::cmp;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::ptr::{self, NonNull};
use std::slice;

pub(crate) use self::block::give_back;
use self::clean::Clean;
use self::free_list::Block;
#[cfg(all(test, not(loom)))]
pub(crate) use self::free_list::{Block as PrivateBlock, FreeList as PrivateList};
use self::shared::{Memory, Place};
use crate::prefetch_write;
use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// Bytes that a message carries, as many as it needs: shared by all that hold them, and never
/// copied on their way from LP to LP.
///
/// A payload is one pointer. A clone is another one to the same bytes and takes as long for 64 KiB
/// as for one byte, so an LP passes on what it has received by cloning it into what it sends. The
/// bytes do not change, except through [`make_mut`](Self::make_mut) and
/// [`write_at`](Self::write_at).
///
/// A payload made [of zeros](Self::zeroed) and then written where it matters also takes as long for
/// 64 KiB as for one byte: only what was written in the same memory before is cleared.
///
/// Up to 64 KiB, memory comes from what the thread has freed before, in steady state without
/// calling the allocator. With its count and length, 16 bytes, a payload takes one cache line of 64
/// bytes, or one more than a power of two.
///
/// ```
/// use warpline_memory::Payload;
/// let mut frame = Payload::zeroed(1500);
/// frame.write_at(0, &[8, 0]);
/// let mut copy = frame.clone();
/// assert_eq!((frame.len(), &frame[..4]), (1500, &[8, 0, 0, 0][..]));
/// assert_eq!(frame.as_ptr(), copy.as_ptr());
/// copy.make_mut()[0] = 9; // the bytes are shared, and so copied first
/// assert_eq!((frame[0], copy[0]), (8, 9));
/// ```
///
/// # Panics
/// If there is no memory to make or copy a payload, it [unwinds](crate::Exhausted::unwind), and the
/// run ends with an error.
#[repr(transparent)]
pub struct Payload {
    /// The beginning of a [`Header`], whose block this payload holds together with its clones; if
    /// there are no bytes, [`EMPTY`].
    len: NonNull<usize>,
}

/// What lies in front of the bytes.
#[repr(C)]
struct Header {
    /// The number of bytes, at least one.
    len: usize,
    /// How many payloads hold the block.
    count: AtomicU32,
    /// What is known to be zeros in the block. Like the bytes, it changes only while one payload
    /// holds them alone; the last one reads it.
    clean: Cell<Clean>,
    /// Stands for the bytes, so that loom sees who reads and who writes them.
    bytes: UnsafeCell<()>,
}

const HEADER_BYTES: usize = size_of::<Header>();

/// The length of all payloads without bytes, which have no header.
static EMPTY: usize = 0;

/// The most clones at a time, so that they do not overflow the count. Only leaked ones can be so
/// many: events with them would take 100 GB.
const MOST_CLONES: u32 = i32::MAX as u32;

/// How many bytes `Debug` shows.
const SHOWN: usize = 8;

// SAFETY: the bytes change only while one payload alone holds them and is borrowed exclusively;
// they are plain data, and their memory may be freed by any thread. The count is atomic.
unsafe impl Send for Payload {}
// SAFETY: as above; a shared payload gives access to read the bytes, and to count clones.
unsafe impl Sync for Payload {}

impl Payload {
    /// An empty payload, which takes no memory.
    #[inline]
    pub fn empty() -> Self {
        Payload { len: NonNull::from(&EMPTY) }
    }

    /// This many zeros. Up to 64 KiB, the time that it takes grows with what was written into the
    /// memory before, and not with the length.
    pub fn zeroed(len: usize) -> Self {
        // SAFETY: all bytes are zeros then.
        unsafe { Self::made(len, |block, bytes| block.clear(bytes)) }
    }

    /// This many bytes, which `fill` writes. It finds zeros. Where only a few are to be written,
    /// [`write_at`](Self::write_at) takes less time.
    pub fn filled(len: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut payload = Self::zeroed(len);
        fill(payload.make_mut());
        payload
    }

    /// The bytes, to be changed. If others hold them too, they are copied first.
    pub fn make_mut(&mut self) -> &mut [u8] {
        let all = 0..self.count_bytes();
        self.part_mut(all)
    }

    /// Writes these bytes over those from `offset` on. If others hold them too, they are copied
    /// first.
    ///
    /// # Panics
    /// If the payload ends before they do.
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset.checked_add(bytes.len()).filter(|end| *end <= self.len());
        let end = end.unwrap_or_else(|| {
            panic!(
                "{} bytes at {offset} lie beyond the end of a payload of {}",
                bytes.len(),
                self.len()
            )
        });
        self.part_mut(offset..end).copy_from_slice(bytes);
    }

    /// Part of the bytes, which must exist, to be changed. If others hold the bytes too, all are
    /// copied first.
    fn part_mut(&mut self, part: Range<usize>) -> &mut [u8] {
        // Acquire pairs with the Release of `drop`: all others who held the bytes have read them
        // for the last time.
        if self.header().is_some_and(|header| header.count.load(Ordering::Acquire) > 1) {
            *self = Payload::from(&**self);
        }
        if let Some(header) = self.header() {
            let written = HEADER_BYTES + part.start..HEADER_BYTES + part.end;
            header.bytes.with_mut(|_| header.clean.set(header.clean.get().without(written)));
        }
        // SAFETY: there are as many bytes, which `made` has initialised. Nobody else holds them,
        // and nobody will while this payload is borrowed, since only it could be cloned.
        unsafe { slice::from_raw_parts_mut(self.bytes().add(part.start), part.len()) }
    }

    /// Makes sure that all processes of the run in which this thread
    /// [takes part](crate::Region::enter) can read it: bytes that lie elsewhere are copied.
    #[inline]
    pub fn make_common(&mut self) {
        if Memory::current().is_none()
            || matches!(shared::place_of(self.len.cast()), Place::Shared(_))
        {
            return;
        }
        if !self.is_empty() {
            *self = Payload::from(&**self);
        } else if let Some(len) = shared::empty() {
            *self = Payload { len };
        }
    }

    /// Asks the processor to fetch the first bytes, because they will soon be read or passed on. It
    /// affects only speed.
    #[inline(always)]
    pub fn prefetch(&self) {
        // SAFETY: the pointer leads to a length, in a header that this payload holds or in `EMPTY`;
        // neither is ever changed.
        prefetch_write(unsafe { self.len.as_ref() });
    }

    /// A payload of this many bytes in a block that `write` fills.
    ///
    /// # Safety
    /// `write` initialises as many bytes of the block as it is told to, except the header, notes
    /// what is clean then, and does not panic.
    unsafe fn made(len: usize, write: impl FnOnce(&mut Block, usize)) -> Self {
        if len == 0 {
            return Self::empty();
        }
        let bytes = HEADER_BYTES.saturating_add(len);
        let mut block = block::take_block(bytes);
        write(&mut block, bytes);
        let header = block.start().cast::<Header>();
        let fields = Header {
            len,
            count: AtomicU32::new(1),
            clean: Cell::new(block.clean()),
            bytes: UnsafeCell::new(()),
        };
        // SAFETY: the block has room for the header, is aligned to a line, and belongs to nobody
        // else.
        unsafe { header.write(fields) };
        Payload { len: header.cast() }
    }

    #[inline(always)]
    fn count_bytes(&self) -> usize {
        // SAFETY: the pointer leads to a length, in a header that this payload holds or in `EMPTY`;
        // neither is ever changed.
        unsafe { self.len.read() }
    }

    /// The header, if there are bytes.
    #[inline(always)]
    fn header(&self) -> Option<&Header> {
        // SAFETY: if there are bytes, the length is that of a header, which stays as long as this
        // payload holds it; the pointer to it is the one that the block came with. It is borrowed
        // shared only, and its count is atomic.
        (self.count_bytes() > 0).then(|| unsafe { self.len.cast::<Header>().as_ref() })
    }

    /// Where the bytes begin; if there are none, some address.
    #[inline(always)]
    fn bytes(&self) -> *mut u8 {
        self.len.as_ptr().cast::<u8>().wrapping_add(HEADER_BYTES)
    }
}

impl Deref for Payload {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if let Some(header) = self.header() {
            header.bytes.with(|_| ());
        }
        // SAFETY: there are this many bytes, which `made` has initialised, and which nobody writes
        // while this payload is borrowed: whoever writes them holds them alone, and is borrowed
        // exclusively.
        unsafe { slice::from_raw_parts(self.bytes(), self.count_bytes()) }
    }
}

impl Clone for Payload {
    /// Another payload with the same bytes, without a copy of them.
    ///
    /// # Panics
    /// If there are more than `i32::MAX` of them.
    #[inline]
    fn clone(&self) -> Self {
        if let Some(header) = self.header() {
            // Relaxed: whoever gets the clone gets it from here, and this payload keeps the block
            // meanwhile.
            if header.count.fetch_add(1, Ordering::Relaxed) > MOST_CLONES {
                too_many();
            }
        }
        Payload { len: self.len }
    }
}

/// The clone that failed stays counted, so its block is never freed.
#[cold]
#[inline(never)]
fn too_many() -> ! {
    panic!("a payload cannot have more than {MOST_CLONES} clones")
}

impl Drop for Payload {
    #[inline]
    fn drop(&mut self) {
        let Some(header) = self.header() else { return };
        // Release pairs with the Acquires below and in `part_mut`: this payload has read the bytes
        // for the last time.
        if header.count.fetch_sub(1, Ordering::Release) > 1 {
            return;
        }
        // Acquire pairs with the Releases above, of all who held the block before.
        header.count.load(Ordering::Acquire);
        let clean = header.bytes.with_mut(|_| header.clean.get());
        let bytes = HEADER_BYTES + header.len;
        let block = Block::new(self.len.cast(), clean);
        // SAFETY: `made` took the block for as many bytes, and whoever wrote into it noted that in
        // `clean`. This payload was the last to hold it, and does not use it any more.
        unsafe { block::free_block(block, bytes) };
    }
}

impl Default for Payload {
    /// As [`empty`](Self::empty).
    #[inline]
    fn default() -> Self {
        Self::empty()
    }
}

/// Copies the bytes.
impl From<&[u8]> for Payload {
    fn from(bytes: &[u8]) -> Self {
        let len = bytes.len();
        let copy = |block: &mut Block, end| {
            // SAFETY: the block has as many bytes behind its header, and does not overlap with
            // others.
            unsafe {
                ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    block.start().as_ptr().add(HEADER_BYTES),
                    len,
                )
            };
            block.note_written(0..end);
        };
        // SAFETY: all bytes are written.
        unsafe { Self::made(len, copy) }
    }
}

/// Copies the bytes, once.
impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}

impl AsRef<[u8]> for Payload {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// By their bytes; clones need not be compared.
impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len || **self == **other
    }
}

impl Eq for Payload {}

/// As slices of bytes.
impl PartialOrd for Payload {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// As slices of bytes.
impl Ord for Payload {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        (**self).cmp(other)
    }
}

/// As slices of bytes.
impl Hash for Payload {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// The length and the first bytes, as events are shown in messages.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes", self.len())?;
        for (index, byte) in self.iter().take(SHOWN).enumerate() {
            write!(f, "{}{byte:02x}", if index == 0 { ": " } else { " " })?;
        }
        f.write_str(if self.len() > SHOWN { " …)" } else { ")" })
    }
}
