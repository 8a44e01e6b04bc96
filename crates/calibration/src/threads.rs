//! What threads take to tell each other something, by the wires that PEs have: lines of bounds, and
//! rings. Everything is timed in short pieces, the fastest of which counts: in others, the system may
//! have taken one of the threads from its core.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use warpline_memory::{Lines, Region, lines, ring};
use warpline_transport::pin;

use super::cores::cores;
use super::sample::Sample;

/// A message as long as most events.
type Short = [u64; 8];
/// A message that is long enough for its bytes to matter.
type Long = [u64; 512];
/// Looks at a wire after which a thread lets others have its core.
const LOOKS: u32 = 1 << 10;
/// Messages that a ring holds, and that are sent at once.
const RING: usize = 256;
const BURST: usize = 64;
/// Rounds, words or rings full of messages in a piece.
const PIECE: u32 = 16;
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
        let pieces = if quick { 20 } else { 100 };
        Wires {
            one_way: Sample::of(times, || ping_pong(pieces) / 2.0),
            read: Sample::of(times, read_afresh),
            write: Sample::of(times, || write_watched(pieces)),
            message: Sample::of(times, || stream::<Short>(pieces, [1; 8])),
            bytes_per_second: Sample::of(times, || {
                size_of::<Long>() as f64 / stream::<Long>(pieces, [1; 512])
            }),
        }
    }
}

/// Times pieces, each of which does something so many times. Returns the seconds of one time in the
/// fastest piece.
fn time(pieces: u32, times: u32, mut piece: impl FnMut(u32)) -> f64 {
    let mut next = 0;
    let all = Sample::of(pieces as usize, || {
        let started = Instant::now();
        piece(next);
        next += 1;
        started.elapsed().as_secs_f64() / f64::from(times)
    });
    all.quantile(0.0)
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

/// Does two things at a time, each on a core of its own if there are two, and returns what the first
/// one found.
fn on_two_cores<T: Send>(first: impl FnOnce() -> T + Send, second: impl FnOnce() + Send) -> T {
    let start = &Barrier::new(2);
    thread::scope(|scope| {
        let first = scope.spawn(move || {
            pin(0, cores());
            start.wait();
            first()
        });
        scope.spawn(move || {
            pin(1, cores());
            start.wait();
            second();
        });
        first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Seconds for a word to go to another thread, and another word back.
fn ping_pong(pieces: u32) -> f64 {
    let [mut here, mut there] = two_lines();
    let last = u64::from(pieces * PIECE);
    let calls = move || {
        time(pieces, PIECE, |piece| {
            for round in piece * PIECE + 1..=(piece + 1) * PIECE {
                here.write(round.into());
                wait(|| (here.read(1) >= round.into()).then_some(()));
            }
        })
    };
    let answers = move || {
        for round in 1..=last {
            wait(|| (there.read(0) >= round).then_some(()));
            there.write(round);
        }
    };
    on_two_cores(calls, answers)
}

/// Seconds to read a word that another thread has just written, out of many in no order.
fn read_afresh() -> f64 {
    let mut views = lines(&Region::own(), READ_PES);
    let [mut here, mut there] = two_lines();
    let reader = views.pop().expect("a view for each PE");
    // Each word says which to read next: a step that has no factor in common with their number.
    let step = 1_531;
    let reads = move || {
        wait(|| (here.read(1) == 1).then_some(()));
        let mut pe = 0;
        let seconds = time(READ_PES / PIECE, PIECE, |_| {
            (0..PIECE).for_each(|_| pe = reader.read(pe as u32));
        });
        here.write(1);
        seconds
    };
    let writes = move || {
        for (pe, view) in (0..).zip(&mut views) {
            view.write((pe + step) % u64::from(READ_PES - 1));
        }
        there.write(1);
        // It keeps its core meanwhile.
        wait(|| (there.read(0) == 1).then_some(()));
    };
    on_two_cores(reads, writes)
}

/// Seconds to write a word that another thread keeps reading.
fn write_watched(pieces: u32) -> f64 {
    let [mut here, there] = two_lines();
    let words = PIECE * PIECE;
    let writes = move || {
        let seconds = time(pieces, words, |piece| {
            (0..words).for_each(|word| here.write(u64::from(piece ^ word)));
        });
        here.write(u64::MAX);
        seconds
    };
    on_two_cores(writes, move || wait(|| (there.read(0) == u64::MAX).then_some(())))
}

/// Seconds for a message of many that go through a ring, one behind the other.
fn stream<T: Copy + Send>(pieces: u32, message: T) -> f64 {
    let (mut producer, mut consumer) = ring::<T>(RING);
    let messages = PIECE * RING as u32;
    let sends = move || {
        let burst = [message; BURST];
        time(pieces, messages, |_| {
            let mut left = messages as usize;
            while left > 0 {
                left -= wait(|| {
                    let some = producer.push_some(&burst[..left.min(BURST)]);
                    (some > 0).then_some(some)
                });
            }
        })
    };
    let receives = move || {
        let mut into = Vec::with_capacity(RING);
        let mut left = u64::from(pieces) * u64::from(messages);
        while left > 0 {
            left -= wait(|| {
                let some = consumer.drain_into(&mut into, BURST);
                (some > 0).then_some(some as u64)
            });
            std::hint::black_box(&into);
            into.clear();
        }
    };
    on_two_cores(sends, receives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_take_some_time() {
        let Wires { one_way, read, message, bytes_per_second, .. } = Wires::measured(3, true);
        for figure in [one_way, read, message, bytes_per_second] {
            assert!(figure.median() > 0.0, "{figure:?}");
        }
    }

    #[test]
    fn pieces_are_numbered() {
        let mut pieces = Vec::new();
        let seconds = time(4, 2, |piece| pieces.push(piece));
        assert_eq!(pieces, [0, 1, 2, 3]);
        assert!(seconds >= 0.0);
    }
}
