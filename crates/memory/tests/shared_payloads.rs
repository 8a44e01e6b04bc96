//! Payloads that two processes share. In a program of its own, as all payloads of a program lie in
//! one place.
#![cfg(all(target_os = "linux", not(any(miri, loom))))]

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use warpline_memory::{
    Consumer, IsPortable, Payload, Producer, Region, RegionTicket, ring_in, share_payloads,
    unshare_payloads,
};

const TICKET: &str = "WARPLINE_TEST_TICKET";
const ROUNDS: usize = 10_000;
/// Of all classes of sizes, and beyond those of a process alone.
const LENGTHS: [usize; 7] = [0, 1, 40, 100, 1500, 65_536, 300_000];

/// Payloads of a program lie in one place at a time.
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
}

impl Ends {
    fn new(region: &Region, me: usize) -> Self {
        share_payloads(region);
        let rings = [
            ring_in(region, Some(IsPortable::PROOF), 16),
            ring_in(region, Some(IsPortable::PROOF), 16),
        ];
        let [(to_second, from_first), (to_first, from_second)] = rings;
        let (to, from) = if me == 0 { (to_second, from_second) } else { (to_first, from_first) };
        Ends { to, from, met: region.place_list(2, |_| AtomicU64::new(0)), since: Instant::now() }
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
    unshare_payloads(&region);
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
    share_payloads(&region);
    share_payloads(&region); // again changes nothing
    let mut kept: Vec<Payload> =
        LENGTHS.iter().enumerate().map(|(round, _)| Payload::from(pattern(round))).collect();
    kept[0].make_common();
    let clones = kept.clone();
    drop(Payload::zeroed(5000));
    assert!(mapped() > 1);
    unshare_payloads(&region);
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
            share_payloads(&region);
            let kept = Payload::from(pattern(4));
            yield_now();
            unshare_payloads(&region);
            drop(region);
            assert_eq!(*kept, *pattern(4));
        }
        over.store(true, Ordering::Relaxed);
        other.join().unwrap();
    });
    assert_eq!(mapped(), 0);
}
