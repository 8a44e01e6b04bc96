//! Two processes that share a segment.

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
        let (to, from) = if me == 0 { (to_second, from_second) } else { (to_first, from_first) };
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
    Exchange::place_all(&Region::join(&ticket, 1).unwrap(), 1).into_iter().for_each(Exchange::run);
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
        assert!(text.parse::<RegionTicket>().unwrap_err().to_string().contains("no shared memory"));
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
    assert!(second.addr().get() >= piece.addr().get() + 100_000 && second.addr().get() % 4096 == 0);
    assert!(
        crate::alloc::files::is_in_any(piece.addr().get())
            && !crate::alloc::files::is_in_any(std::ptr::from_ref(&segment).addr())
    );
    assert!(segment.grow(super::HEAP_BYTES, 64).is_none());
    let _ = Payload::empty();
}
