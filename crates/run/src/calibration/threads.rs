//! What threads take to tell each other something, by the wires that PEs have: lines of bounds, and
//! rings.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use warpline_memory::{Lines, Region, lines, ring};

use super::sample::Sample;

/// A message as long as most events.
type Short = [u64; 8];
/// A message that is long enough for its bytes to matter.
type Long = [u64; 512];
/// Looks at a wire after which a thread lets others have its core.
const LOOKS: u32 = 1 << 10;
/// Messages that a ring holds, and that are sent at once.
const RING: usize = 1024;
const BURST: usize = 64;
/// PEs whose bounds are read in turn.
const READ_PES: u32 = 4096;

/// Figures of the wires between two threads, in seconds.
#[derive(Clone, Debug)]
pub(super) struct Wires {
    /// From before a word is written until another core has read it.
    pub(super) one_way: Sample,
    /// Reading a word that another core has written.
    pub(super) read: Sample,
    /// Writing a word that another core has read.
    pub(super) write: Sample,
    /// A short message, for its sender and for its receiver.
    pub(super) message: Sample,
    /// Of long messages.
    pub(super) bytes_per_second: Sample,
}

impl Wires {
    pub(super) fn measured(times: usize, quick: bool) -> Self {
        let rounds = if quick { 200 } else { 2_000 };
        let messages = if quick { 20_000 } else { 100_000 };
        Wires {
            one_way: Sample::of(times, || ping_pong(rounds) / 2.0),
            read: Sample::of(times, read_afresh),
            write: Sample::of(times, || write_watched(messages)),
            message: Sample::of(times, || stream::<Short>(messages, [1; 8])),
            bytes_per_second: Sample::of(times, || {
                size_of::<Long>() as f64 / stream::<Long>(messages / 10, [1; 512])
            }),
        }
    }
}

/// Waits until something is there.
fn wait<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let mut looks = 0;
    loop {
        if let Some(found) = look() {
            return found;
        }
        looks += 1;
        if looks % LOOKS == 0 {
            thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// The views of two threads.
fn two_lines() -> [Lines; 2] {
    let mut both = lines(&Region::own(), 2).into_iter();
    std::array::from_fn(|_| both.next().expect("a view for each"))
}

/// Seconds for a word to go to another thread, and another word back.
fn ping_pong(rounds: u64) -> f64 {
    let [mut here, mut there] = two_lines();
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            for round in 1..=rounds {
                wait(|| (there.read(0) >= round).then_some(()));
                there.write(round);
            }
        });
        start.wait();
        let started = Instant::now();
        for round in 1..=rounds {
            here.write(round);
            wait(|| (here.read(1) >= round).then_some(()));
        }
        started.elapsed().as_secs_f64() / rounds as f64
    })
}

/// Seconds to read a word that another thread has just written, out of many in no order.
fn read_afresh() -> f64 {
    let mut views = lines(&Region::own(), READ_PES);
    // Each word says which to read next: a step that has no factor in common with their number.
    let step = 1_531;
    thread::scope(|scope| {
        scope.spawn(|| {
            for (pe, view) in (0..).zip(&mut views) {
                view.write((pe + step) % u64::from(READ_PES));
            }
        });
    });
    let view = &views[0];
    let started = Instant::now();
    let last = (0..READ_PES).fold(0, |pe, _| view.read(pe as u32));
    let seconds = started.elapsed().as_secs_f64();
    std::hint::black_box(last);
    seconds / f64::from(READ_PES)
}

/// Seconds to write a word that another thread keeps reading.
fn write_watched(rounds: u64) -> f64 {
    let [mut here, there] = two_lines();
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            wait(|| (there.read(0) >= rounds).then_some(()));
        });
        start.wait();
        let started = Instant::now();
        (1..=rounds).for_each(|round| here.write(round));
        started.elapsed().as_secs_f64() / rounds as f64
    })
}

/// Seconds for a message of many that go through a ring, one behind the other.
fn stream<T: Copy + Send>(messages: u64, message: T) -> f64 {
    let (mut producer, mut consumer) = ring::<T>(RING);
    let start = Barrier::new(2);
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut into = Vec::with_capacity(RING);
            start.wait();
            let mut received = 0;
            while received < messages {
                received += wait(|| {
                    let some = consumer.drain_into(&mut into, BURST);
                    (some > 0).then_some(some as u64)
                });
                std::hint::black_box(&into);
                into.clear();
            }
        });
        start.wait();
        let started = Instant::now();
        let burst = vec![message; BURST];
        let mut left = messages;
        while left > 0 {
            let most = (BURST as u64).min(left) as usize;
            left -= wait(|| {
                let some = producer.push_some(&burst[..most]);
                (some > 0).then_some(some as u64)
            });
        }
        _ = receiver.join();
        started.elapsed().as_secs_f64() / messages as f64
    })
}
