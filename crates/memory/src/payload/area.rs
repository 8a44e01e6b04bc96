//! The part of a segment in which payloads lie by themselves, as only they may be kept beyond the
//! run.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::returned::Returned;
use crate::alloc::files::{self, File};

/// The most processes.
pub(crate) const PROCESSES_MOST: u32 = 128;
/// How much address space there is for the payloads of all processes of a run.
pub(crate) const AREA_BYTES: usize = 256 << 30;
/// What a process takes of it at a time; more if one payload needs more.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// What lies at the beginning. All of it is zeros at first.
#[repr(C)]
struct Header {
    /// How many pieces are taken, in addition to those for the header.
    pieces: AtomicUsize,
    /// How many blocks threads have taken and not given back, in all processes.
    out: AtomicIsize,
    /// By process: blocks that others have freed.
    returned: [Returned; PROCESSES_MOST as usize],
    /// By piece: the process that has taken it.
    owners: [AtomicU8; AREA_BYTES / PIECE_BYTES],
}

/// The pieces that the header takes.
const HEADER_PIECES: usize = size_of::<Header>().div_ceil(PIECE_BYTES);

/// Memory for payloads, in one process. It is unmapped when nobody has it any more.
#[derive(Debug)]
pub(crate) struct Area {
    start: NonNull<u8>,
    process: u32,
    /// How much of it is mapped.
    mapped: AtomicUsize,
    /// `None` once no more is taken of it.
    file: Mutex<Option<File>>,
}

// SAFETY: it gives no access but to atomics and by raw pointers, whose users argue for themselves.
unsafe impl Send for Area {}
// SAFETY: likewise.
unsafe impl Sync for Area {}

impl Area {
    /// Maps the file over address space.
    ///
    /// # Safety
    /// `AREA_BYTES` from `start` on are reserved for it alone, and are its own if that succeeds.
    pub(crate) unsafe fn over(start: NonNull<u8>, file: File, process: u32) -> io::Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { files::map_over(start, AREA_BYTES, &file)? };
        Ok(Area {
            start,
            process,
            mapped: AtomicUsize::new(AREA_BYTES),
            file: Mutex::new(Some(file)),
        })
    }

    /// Has the system provide the header; `None` if it has no memory.
    pub(crate) fn begin(&self) -> Option<()> {
        self.allocate(0, size_of::<Header>())
    }

    fn allocate(&self, start: usize, bytes: usize) -> Option<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.allocate(start, bytes)
    }

    fn header(&self) -> &Header {
        // SAFETY: it lies at the beginning, which stays mapped; its zeros are valid, and nothing in
        // it changes but atomics.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// Its first address, which is a multiple of `PIECE_BYTES`.
    pub(crate) fn address(&self) -> usize {
        self.start.addr().get()
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// Blocks of a process that others have freed.
    pub(super) fn returned(&self, process: u32) -> &Returned {
        &self.header().returned[process as usize]
    }

    /// Takes memory for this process, which is zeros; `None` if there is none.
    pub(crate) fn take(&self, bytes: usize) -> Option<NonNull<u8>> {
        let header = self.header();
        let pieces = bytes.div_ceil(PIECE_BYTES);
        let most = AREA_BYTES / PIECE_BYTES - HEADER_PIECES;
        let claim = |taken: usize| taken.checked_add(pieces).filter(|taken| *taken <= most);
        // Relaxed: the counter only hands out numbers.
        let first = HEADER_PIECES
            + header.pieces.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).ok()?;
        // If the system has no memory, it says so now; later it would end the process.
        self.allocate(first * PIECE_BYTES, bytes)?;
        for owner in &header.owners[first..first + pieces] {
            // Relaxed: whoever gets a block from here gets it from a thread that has done this
            // before.
            owner.store(self.process as u8, Ordering::Relaxed);
        }
        // SAFETY: the area has these pieces.
        Some(unsafe { self.start.add(first * PIECE_BYTES) })
    }

    /// The process that has taken the memory at an address.
    pub(crate) fn owner(&self, address: usize) -> u32 {
        self.header().owners[(address - self.address()) / PIECE_BYTES]
            .load(Ordering::Relaxed)
            .into()
    }

    /// Notes that threads have taken so many blocks.
    pub(crate) fn note_taken(&self, blocks: usize) {
        self.header().out.fetch_add(blocks as isize, Ordering::Relaxed);
    }

    /// Notes that threads have given back so many blocks. Returns how many are out.
    pub(crate) fn note_given(&self, blocks: usize) -> isize {
        self.header().out.fetch_sub(blocks as isize, Ordering::AcqRel) - blocks as isize
    }

    /// Unmaps what nobody has taken, or will, as the run is over.
    pub(crate) fn trim(&self) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let used = (HEADER_PIECES + self.header().pieces.load(Ordering::Relaxed)) * PIECE_BYTES;
        let mapped = self.mapped.swap(used, Ordering::Relaxed);
        if used < mapped {
            // SAFETY: nothing there has ever been taken, and nothing will be.
            unsafe { files::unmap(self.start.add(used), mapped - used) };
        }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: all of it was mapped here, and there is no payload in it any more.
        unsafe { files::unmap(self.start, *self.mapped.get_mut()) };
    }
}
