//! Payloads that two processes share. In a program of its own, as tests count what is mapped.
#![cfg(all(target_os = "linux", not(any(miri, loom))))]

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use warpline_memory::{
    Consumer, IsPortable, Member, Payload, Producer, Region, RegionTicket, ring_in,
};

const TICKET: &str = "WARPLINE_TEST_TICKET";
const ROUNDS: usize = 10_000;
/// Of all classes of sizes, and beyond those of a process alone.
const LENGTHS: [usize; 7] = [0, 1, 40, 100, 1500, 65_536, 300_000];

/// One test at a time counts what is mapped.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many pieces of memory that processes share are mapped.
fn mapped() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().matches("memfd:warpline").count()
}

/// The ends of one of the two processes.
struct Ends {
    to: Producer<Payload>,
    from: Consumer<Payload>,
    /// By place: how many processes have come so far.
    met: warpline_memory::Common<[AtomicU64]>,
    since: Instant,
    _member: Member,
}

impl Ends {
    fn new(region: &Region, me: usize) -> Self {
        region.share_payloads();
        let rings = [
            ring_in(region, Some(IsPortable::PROOF), 16),
            ring_in(region, Some(IsPortable::PROOF), 16),
        ];
        let [(to_second, from_first), (to_first, from_second)] = rings;
        let (to, from) = if me == 0 { (to_second, from_second) } else { (to_first, from_first) };
        let met = region.place_list(2, |_| AtomicU64::new(0));
        Ends { to, from, met, since: Instant::now(), _member: region.enter() }
    }

    /// Waits until the other has come as far.
    fn meet(&self, place: usize) {
        self.met[place].fetch_add(1, Ordering::SeqCst);
        while self.met[place].load(Ordering::SeqCst) < 2 {
            self.wait();
        }
    }

    fn wait(&self) {
        yield_now();
        assert!(
            self.since.elapsed() < Duration::from_secs(120),
            "the other process does not answer"
        );
    }

    fn send(&mut self, mut payload: Payload) {
        payload.make_common();
        while let Err(back) = self.to.write(payload) {
            payload = back;
            self.wait();
        }
        self.to.publish();
    }

    fn receive(&mut self) -> Payload {
        loop {
            if let Some(payload) = self.from.drain().and_then(|mut arrived| arrived.next()) {
                return payload;
            }
            self.wait();
        }
    }
}

fn pattern(round: usize) -> Vec<u8> {
    (0..LENGTHS[round % LENGTHS.len()]).map(|index| (round * 7 + index) as u8).collect()
}

/// Where a few of the zeros are something else in a round.
fn places(round: usize) -> [usize; 3] {
    let last = LENGTHS[round % LENGTHS.len()] - 1;
    [0, last, round * 1009 % (last + 1)]
}

/// Zeros, a few of which are something else.
fn sparse(round: usize) -> Vec<u8> {
    let mut bytes = vec![0; LENGTHS[round % LENGTHS.len()]];
    places(round).into_iter().for_each(|place| bytes[place] = 0xff);
    bytes
}

/// The same as a payload, in memory that held something else before.
fn sparse_payload(round: usize) -> Payload {
    let mut payload = Payload::zeroed(LENGTHS[round % LENGTHS.len()]);
    places(round).into_iter().for_each(|place| payload.write_at(place, &[0xff]));
    payload
}

/// The other process sends back what it gets, and keeps some of it for a while.
#[test]
#[ignore = "the other process of `payloads_go_back_and_forth`"]
fn other_process() {
    let ticket: RegionTicket = std::env::var(TICKET).expect("a ticket").parse().unwrap();
    let mut ends = Ends::new(&Region::join(&ticket, 1).unwrap(), 1);
    ends.meet(0);
    let mut kept = Vec::new();
    for round in 0..ROUNDS {
        let payload = ends.receive();
        assert_eq!(payload.len(), LENGTHS[round % LENGTHS.len()]);
        if round % 3 == 0 {
            kept.push(payload.clone());
        }
        if kept.len() > 20 {
            kept.clear();
        }
        ends.send(payload);
    }
    drop(kept);
    ends.meet(1);
}

#[test]
fn payloads_go_back_and_forth() {
    let _alone = alone();
    // Made before anybody shares anything.
    let old = Payload::from(pattern(5));
    let (region, ticket) = Region::create(2).unwrap();
    let mut ends = Ends::new(&region, 0);
    let mut other = Command::new(std::env::current_exe().unwrap());
    other
        .args(["--exact", "other_process", "--include-ignored"])
        .env(TICKET, ticket.to_string())
        .stdout(Stdio::null());
    let mut other = other.spawn().unwrap();
    ends.meet(0);
    let before = resident();
    for round in 0..ROUNDS {
        let is_sparse = round % 4 > 1 && LENGTHS[round % LENGTHS.len()] > 0;
        let payload = match round {
            5 => old.clone(),
            _ if is_sparse => sparse_payload(round),
            _ => Payload::from(pattern(round)),
        };
        let address = payload.as_ptr();
        ends.send(payload);
        let back = ends.receive();
        assert!(
            round == 5 || back.is_empty() || back.as_ptr() == address,
            "it was copied in round {round}"
        );
        assert!(*back == *if is_sparse { sparse(round) } else { pattern(round) }, "round {round}");
    }
    // What the other process has freed is used again: without that, this would be 500 MB more.
    assert!(resident() < before + (100 << 20), "{} bytes before, {} after", before, resident());
    ends.meet(1);
    assert!(other.wait().unwrap().success());
    region.unshare_payloads();
    drop(ends);
    drop(region);
    let own = Payload::from(pattern(1));
    assert_eq!((&*own, &*old), (&*pattern(1), &*pattern(5)));
}

/// The memory of this process, shared memory included, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kilobytes = status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()
    });
    kilobytes.unwrap() << 10
}

#[test]
fn memory_that_was_shared_goes_with_its_last_payload() {
    let _alone = alone();
    let (region, _) = Region::create(1).unwrap();
    region.share_payloads();
    region.share_payloads(); // again changes nothing
    let member = region.enter();
    let mut kept: Vec<Payload> =
        LENGTHS.iter().enumerate().map(|(round, _)| Payload::from(pattern(round))).collect();
    kept[0].make_common();
    let clones = kept.clone();
    drop(Payload::zeroed(5000));
    assert!(mapped() > 1);
    drop(member);
    region.unshare_payloads();
    drop(region);
    assert_eq!(mapped(), 1, "nothing but payloads stays");
    let own = Payload::from(pattern(3));
    drop(clones);
    for (round, payload) in kept.iter().enumerate().chain([(3, &own)]) {
        assert_eq!(**payload, *pattern(round));
    }
    let empty = kept.remove(0);
    drop(kept);
    assert_eq!((mapped(), &*empty, &*own), (0, &[][..], &*pattern(3)));
}

/// Whatever another thread of the program does meanwhile, blocks go back to where they came from.
#[test]
fn runs_begin_and_end_while_others_use_payloads() {
    let _alone = alone();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut kept = Vec::new();
            for round in (0..).take_while(|_| !over.load(Ordering::Relaxed)) {
                kept.push((round, Payload::from(pattern(round % 5))));
                if kept.len() > 50 {
                    kept.drain(..25)
                        .for_each(|(round, payload)| assert_eq!(*payload, *pattern(round % 5)));
                }
            }
        });
        for _ in 0..300 {
            let (region, _) = Region::create(1).unwrap();
            region.share_payloads();
            let member = region.enter();
            let kept = Payload::from(pattern(4));
            yield_now();
            region.unshare_payloads();
            drop((member, region));
            assert_eq!(*kept, *pattern(4));
        }
        over.store(true, Ordering::Relaxed);
        other.join().unwrap();
    });
    assert_eq!(mapped(), 0);
}

/// Each thread's payloads lie where it takes part, whoever drops them, and wherever.
#[test]
fn several_regions_are_shared_at_once() {
    let _alone = alone();
    let regions = [0, 1].map(|_| Region::create(1).unwrap().0);
    regions.iter().for_each(Region::share_payloads);
    let (from_first, to_second) = std::sync::mpsc::sync_channel::<Payload>(8);
    let (from_second, to_first) = std::sync::mpsc::sync_channel::<Payload>(8);
    let work = |region: &Region,
                to: std::sync::mpsc::SyncSender<Payload>,
                from: std::sync::mpsc::Receiver<Payload>| {
        let _member = region.enter();
        let mut addresses = Vec::new();
        for round in 0..ROUNDS {
            let payload = Payload::from(pattern(1 + round % 4));
            addresses.push(payload.as_ptr().addr());
            to.send(payload).unwrap();
            let mut other = from.recv().unwrap();
            assert_eq!(*other, *pattern(1 + round % 4));
            let elsewhere = other.as_ptr();
            other.make_common();
            assert_ne!(other.as_ptr(), elsewhere, "it lies in the other region");
            assert_eq!(*other, *pattern(1 + round % 4));
        }
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    };
    let [first, second] = &regions;
    let (used, others) = std::thread::scope(|scope| {
        let other = scope.spawn(|| work(second, from_second, to_second));
        (work(first, from_first, to_first), other.join().unwrap())
    });
    // What the other thread has freed is used again.
    assert!(
        used.len() < ROUNDS / 10 && others.len() < ROUNDS / 10,
        "{} {}",
        used.len(),
        others.len()
    );
    assert!(used.last() < others.first() || others.last() < used.first());
    regions.iter().for_each(Region::unshare_payloads);
    drop(regions);
    assert_eq!(mapped(), 0);
}

/// Who waits for a lock unwinds when a process of its own run is gone, and only then.
#[test]
fn locks_of_one_run_are_deserted_without_the_other() {
    let _alone = alone();
    let regions = [0, 1].map(|_| Region::create(1).unwrap().0);
    let locks = regions.each_ref().map(|region| region.place(warpline_memory::SpinLock::new(0)));
    let waits = |index: usize| {
        let _member = regions[index].enter();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| *locks[index].lock() += 1)).is_ok()
    };
    let guards = locks.each_ref().map(|lock| lock.lock());
    let ended = std::thread::scope(|scope| {
        let threads = [0, 1].map(|index| scope.spawn(move || waits(index)));
        regions[0].desert_locks();
        let [first, second] = threads;
        let first = first.join().unwrap();
        drop(guards);
        [first, second.join().unwrap()]
    });
    assert_eq!(ended, [false, true]);
}
