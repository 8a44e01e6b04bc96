//! The mapping of a [`Region`](crate::Region) in one process.

use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use super::ticket::RegionTicket;
use crate::Exhausted;
use crate::alloc::files::{self, File};
use crate::payload::area::{AREA_BYTES, Area, PROCESSES_MOST};
use crate::sync::Arc;

/// How much address space the common part has, and each heap. Memory is taken only where something
/// is written.
const COMMON_BYTES: usize = 64 << 30;
const HEAP_BYTES: usize = 256 << 30;
/// The common part is taken in steps of this many bytes.
const STEP: usize = 1 << 20;
/// Nothing in the common part shares a line with anything else, nor the pair of lines that
/// processors fetch together.
pub(crate) const APART: usize = 128;

/// A segment of shared memory.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Where its common part begins.
    start: NonNull<u8>,
    /// What lies before that, for payloads.
    area: Arc<Area>,
    process: u32,
    processes: u32,
    placed: Mutex<Placed>,
    /// How many bytes of this process's heap are taken.
    grown: Mutex<usize>,
    /// The file of the common part, then those of the heaps.
    files: Vec<File>,
    /// In this process: a process is gone, and nobody may unlock any more what is locked.
    deserted: std::sync::Arc<AtomicBool>,
}

/// How far the common part is used.
#[derive(Debug, Default)]
struct Placed {
    /// How many bytes are taken.
    taken: usize,
    /// How many bytes the system has provided.
    provided: usize,
}

// SAFETY: it gives no access but by raw pointers, whose users argue for themselves; its numbers are
// behind locks.
unsafe impl Send for Segment {}
// SAFETY: likewise.
unsafe impl Sync for Segment {}

/// The bytes of a segment for this many processes, without its area for payloads.
fn bytes(processes: u32) -> usize {
    COMMON_BYTES + processes as usize * HEAP_BYTES
}

/// Address space that is reserved, and nobody's yet.
struct Reserved {
    start: NonNull<u8>,
    bytes: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: nobody else knows of it.
        unsafe { files::unmap(self.start, self.bytes) };
    }
}

/// The first aligned piece of this size that begins at `taken` or later; `None` if it would end
/// beyond `most`.
fn next(taken: usize, bytes: usize, align: usize, most: usize) -> Option<Range<usize>> {
    let start = taken.checked_next_multiple_of(align)?;
    let end = start.checked_add(bytes).filter(|end| *end <= most)?;
    Some(start..end)
}

impl Segment {
    pub(crate) fn create(processes: u32) -> io::Result<(Self, RegionTicket)> {
        if !(1..=PROCESSES_MOST).contains(&processes) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("1 to {PROCESSES_MOST} processes can share memory, not {processes}"),
            ));
        }
        let heaps = (0..processes).map(|_| HEAP_BYTES);
        let all = [AREA_BYTES, COMMON_BYTES]
            .into_iter()
            .chain(heaps)
            .map(files::file)
            .collect::<io::Result<Vec<_>>>()?;
        let bytes = AREA_BYTES + bytes(processes);
        let reserved = Reserved { start: files::reserve(bytes)?, bytes };
        let numbers = all.iter().map(File::descriptor).collect();
        let ticket = RegionTicket::new(std::process::id(), numbers, reserved.start.addr().get());
        Ok((Segment::over(all, reserved, 0)?, ticket))
    }

    pub(crate) fn join(ticket: &RegionTicket, process: u32) -> io::Result<Self> {
        let processes = ticket.processes();
        if process >= processes {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("there is no process {process} of {processes}"),
            ));
        }
        let all = ticket
            .files()
            .iter()
            .map(|file| files::open(ticket.owner(), *file))
            .collect::<io::Result<Vec<_>>>()?;
        let bytes = AREA_BYTES + bytes(processes);
        let reserved = Reserved { start: files::reserve_at(ticket.address(), bytes)?, bytes };
        Segment::over(all, reserved, process)
    }

    /// Maps the files over address space that is reserved for them.
    #[cfg_attr(
        any(not(target_os = "linux"), miri),
        allow(
            unreachable_code,
            unused_mut,
            unused_variables,
            reason = "there are no files in memory, so it is never called"
        )
    )]
    fn over(mut all: Vec<File>, mut reserved: Reserved, process: u32) -> io::Result<Self> {
        files::map_zero()?;
        // SAFETY: these bytes are reserved, and nothing else is there; from here on they are the
        // area's.
        let area = unsafe { Area::over(reserved.start, all.remove(0), process)? };
        // SAFETY: more bytes are reserved.
        reserved.start = unsafe { reserved.start.add(AREA_BYTES) };
        reserved.bytes -= AREA_BYTES;
        let mut at = 0;
        for (number, file) in all.iter().enumerate() {
            let bytes = if number == 0 { COMMON_BYTES } else { HEAP_BYTES };
            // SAFETY: these bytes are reserved, and nothing else is there.
            unsafe { files::map_over(reserved.start.add(at), bytes, file)? };
            at += bytes;
        }
        let start = reserved.start;
        // The segment unmaps it from here on.
        std::mem::forget(reserved);
        Ok(Segment {
            start,
            area: Arc::new(area),
            process,
            processes: all.len() as u32 - 1,
            placed: Mutex::default(),
            grown: Mutex::new(0),
            files: all,
            deserted: std::sync::Arc::default(),
        })
    }

    /// Where payloads lie.
    pub(crate) fn area(&self) -> &Arc<Area> {
        &self.area
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// Whether a process is gone, as this one has found.
    pub(crate) fn deserted(&self) -> &std::sync::Arc<AtomicBool> {
        &self.deserted
    }

    /// Takes bytes of the common part: the same ones in every process, if all take the same in the
    /// same order. They are zeros, unless the first process has written something else already.
    ///
    /// # Panics
    /// If there is no room, it [unwinds](Exhausted::unwind).
    pub(crate) fn place(&self, bytes: usize, align: usize) -> NonNull<u8> {
        let lack = || Exhausted::Memory { what: "what processes share", bytes };
        let mut placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        let Placed { taken, provided } = &mut *placed;
        let Some(piece) = next(*taken, bytes, align.max(APART), COMMON_BYTES) else {
            lack().unwind()
        };
        // If the system has no memory, it says so now; later it would end a process. The first
        // process does this for all, as the others begin after it.
        if self.process == 0 && piece.end > *provided {
            let more = (piece.end - *provided).next_multiple_of(STEP).min(COMMON_BYTES - *provided);
            self.files[0].allocate(*provided, more).unwrap_or_else(|| lack().unwind());
            *provided += more;
        }
        *taken = piece.end;
        // SAFETY: the piece lies within the common part.
        unsafe { self.start.add(piece.start) }
    }

    /// Takes bytes of this process's heap, which are zeros; `None` if there is no memory.
    pub(crate) fn grow(&self, bytes: usize, align: usize) -> Option<NonNull<u8>> {
        let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = next(*grown, bytes, align, HEAP_BYTES)?;
        // If the system has no memory, it says so now; later it would end the process.
        self.files[1 + self.process as usize].allocate(piece.start, bytes)?;
        *grown = piece.end;
        let before = COMMON_BYTES + self.process as usize * HEAP_BYTES;
        // SAFETY: the piece lies within the heap.
        Some(unsafe { self.start.add(before + piece.start) })
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: all of it was mapped here. Nobody uses it any more, as whoever has something in
        // it keeps the segment.
        unsafe { files::unmap(self.start, bytes(self.processes)) };
    }
}

#[cfg(all(test, target_os = "linux", not(any(miri, loom))))]
mod tests;
