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
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use crate::{
        Buffers, Common, Consumer, Handle, IsPortable, Payload, PoolKind, PoolSettings, Producer,
        Region, RegionTicket, SpinLock, SubPool, buffers_in, pass_over_ring, ring_in,
    };

    const TICKET: &str = "WARPLINE_TEST_TICKET";
    const ROUNDS: u64 = 50_000;
    const AHEAD: u64 = 64;

    /// Waits a moment for the other process, but not for ever: it may have failed.
    fn wait(since: Instant) {
        std::thread::yield_now();
        assert!(since.elapsed() < Duration::from_secs(60), "the other process does not answer");
    }

    /// What two processes exchange, as one of them sees it.
    struct Exchange {
        me: u32,
        started: Common<AtomicU64>,
        count: Common<SpinLock<u64>>,
        to: Producer<Handle>,
        from: Consumer<Handle>,
        view: Buffers<u64>,
    }

    impl Exchange {
        /// One for each kind of pool. The first process places them before there is another one.
        fn place_all(region: &Region, me: u32) -> [Self; 3] {
            let kinds =
                [PoolKind::Partitioned(SubPool::Unlimited), PoolKind::Sender, PoolKind::Receiver];
            kinds.map(|kind| Exchange::place(region, me, kind))
        }

        fn place(region: &Region, me: u32, kind: PoolKind) -> Self {
            let started = region.place(AtomicU64::new(0));
            let count = region.place(SpinLock::new(0u64));
            // Each may be that far ahead of what it has received, and the other likewise.
            let ring = || ring_in(region, Some(IsPortable::PROOF), 2 * AHEAD as usize);
            let [(to_second, from_first), (to_first, from_second)] = [ring(), ring()];
            let mut views: Vec<Buffers<u64>> = buffers_in(
                region,
                Some(IsPortable::PROOF),
                2,
                PoolSettings { kind, ..PoolSettings::default() },
            );
            let view = views.remove(me as usize);
            let (to, from) =
                if me == 0 { (to_second, from_second) } else { (to_first, from_first) };
            Exchange { me, started, count, to, from, view }
        }

        /// Each sends values to the other, in buffers that go back and forth, and both count under
        /// a lock.
        fn run(self) {
            let Exchange { me, started, count, mut to, mut from, mut view } = self;
            let mut since = Instant::now();
            started.fetch_add(1, Ordering::SeqCst);
            while started.load(Ordering::SeqCst) < 2 {
                wait(since);
            }
            let mut sent = 0;
            let mut received = 0;
            while sent < ROUNDS || received < ROUNDS {
                if sent < ROUNDS && sent < received + AHEAD {
                    let handle = view.insert(1 - me, 1000 * sent + u64::from(me));
                    if !to.push(handle) {
                        panic!("a ring with room is full");
                    }
                    *count.lock() += 1;
                    sent += 1;
                }
                let arrived: Vec<Handle> = from.drain().into_iter().flatten().collect();
                if arrived.is_empty() {
                    wait(since);
                } else {
                    since = Instant::now();
                }
                for handle in arrived {
                    assert_eq!(*view.accept(handle), 1000 * received + u64::from(1 - me));
                    view.release(handle);
                    received += 1;
                    if received.is_multiple_of(1000) {
                        view.tidy(0);
                    }
                }
            }
            assert!(view.books().places < ROUNDS / 10, "buffers are used again");
            started.fetch_add(1, Ordering::SeqCst);
            while started.load(Ordering::SeqCst) < 4 {
                wait(since);
            }
            assert_eq!(*count.lock(), 2 * ROUNDS);
        }
    }

    /// The other process, which is this program once more.
    #[test]
    #[ignore = "the other process of `processes_share_what_lies_in_a_region`"]
    fn other_process() {
        let ticket: RegionTicket = std::env::var(TICKET).expect("a ticket").parse().unwrap();
        Exchange::place_all(&Region::join(&ticket, 1).unwrap(), 1)
            .into_iter()
            .for_each(Exchange::run);
    }

    #[test]
    fn processes_share_what_lies_in_a_region() {
        let (region, ticket) = Region::create(2).unwrap();
        assert_eq!(ticket.to_string().parse::<RegionTicket>().unwrap(), ticket);
        let exchanges = Exchange::place_all(&region, 0);
        let mut other = Command::new(std::env::current_exe().unwrap());
        other
            .args(["--exact", "region::segment::tests::other_process", "--include-ignored"])
            .env(TICKET, ticket.to_string());
        let mut other = other.stdout(std::process::Stdio::null()).spawn().unwrap();
        exchanges.into_iter().for_each(Exchange::run);
        assert!(other.wait().unwrap().success());
    }

    #[test]
    fn what_cannot_be_joined_is_refused() {
        let (region, ticket) = Region::create(1).unwrap();
        assert!(Region::join(&ticket, 1).is_err(), "there is one process");
        assert!(Region::join(&ticket, 0).is_err(), "it is mapped here already");
        drop(region);
        assert!(Region::join(&ticket, 0).is_err(), "the files are gone");
        for text in ["", "1:zz:3:4", "1:10", "x"] {
            assert!(
                text.parse::<RegionTicket>().unwrap_err().to_string().contains("no shared memory")
            );
        }
        assert!(Region::create(0).is_err() && Region::create(super::PROCESSES_MOST + 1).is_err());
    }

    /// What is placed has memory at once: a page that the system cannot provide later would end the
    /// process.
    #[test]
    fn the_common_part_is_provided_when_it_is_placed() {
        let (region, _) = Region::create(1).unwrap();
        let segment = region.segment().unwrap();
        let provided = || {
            std::fs::metadata(format!("/proc/self/fd/{}", segment.files[0].descriptor()))
                .unwrap()
                .blocks()
                * 512
        };
        assert_eq!(provided(), 0);
        let first = segment.place(3 * super::STEP, 64);
        assert!((3..5).contains(&(provided() as usize / super::STEP)), "{}", provided());
        let second = segment.place(100, 64);
        assert_eq!(second.addr().get(), first.addr().get() + 3 * super::STEP);
        assert!(provided() as usize <= 5 * super::STEP, "{}", provided());
    }

    /// A process that leaves a ring out finds what comes after it where the others do.
    #[test]
    fn a_ring_that_is_left_out_keeps_its_place() {
        let after = |place: fn(&Region)| {
            let (region, _) = Region::create(1).unwrap();
            place(&region);
            let segment = region.segment().unwrap();
            segment.place(1, 1).addr().get() - segment.start.addr().get()
        };
        let whole = after(|region| drop(ring_in::<Handle>(region, Some(IsPortable::PROOF), 100)));
        assert_eq!(whole, after(|region| pass_over_ring::<Handle>(region, 100)));
        assert_eq!(whole, crate::ring_bytes::<Handle>(100));
        // A ring has room for at least two values.
        type Long = [u64; 16];
        let least = after(|region| drop(ring_in::<Long>(region, Some(IsPortable::PROOF), 1)));
        assert_eq!(least, crate::ring_bytes::<Long>(1));
    }

    #[test]
    fn the_heap_grows_and_what_is_not_in_it_is_elsewhere() {
        let (region, _) = Region::create(2).unwrap();
        let segment = region.segment().unwrap();
        let piece = segment.grow(100_000, 64).unwrap();
        let second = segment.grow(10, 4096).unwrap();
        assert!(
            second.addr().get() >= piece.addr().get() + 100_000 && second.addr().get() % 4096 == 0
        );
        assert!(
            crate::alloc::files::is_in_any(piece.addr().get())
                && !crate::alloc::files::is_in_any(std::ptr::from_ref(&segment).addr())
        );
        assert!(segment.grow(super::HEAP_BYTES, 64).is_none());
        let _ = Payload::empty();
    }
}
