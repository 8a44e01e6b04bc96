//! Bounds that processing elements (PEs) publish to each other without messages.

use crate::sync::{AtomicU64, Ordering};
use crate::{Apart, Common, Region, Shareable, prefetch_write};

/// One PE's view of the bounds that each PE writes for all others to read, on cache lines of its
/// own: registers like those of the Global Synchronization Unit of E. Lynch and G. Riley, "Hardware
/// supported time synchronization in multi-core architectures", PADS 2009. Whatever a PE did before
/// it wrote a bound happens before any read that finds the bound.
///
/// A PE has one bound that it overwrites at any time ([`write`](Self::write),
/// [`read`](Self::read)), and one for each of the rounds in which all PEs advance in step
/// ([`write_round`](Self::write_round), [`read_round`](Self::read_round)).
///
/// ```
/// let mut lines = warpline_memory::lines(&warpline_memory::Region::own(), 2);
/// lines[0].write(7);
/// assert_eq!((lines[1].read(0), lines[0].read(1)), (7, 0));
/// lines[0].write_round(1, 40);
/// assert_eq!((lines[1].read_round(0, 1), lines[0].read_round(1, 1)), (Some(40), None));
/// ```
#[derive(Debug)]
pub struct Lines {
    lines: Common<[Apart<Line>]>,
    me: usize,
}

/// The bounds of a PE.
#[derive(Debug)]
struct Line {
    bound: AtomicU64,
    /// The last round that has a bound.
    round: AtomicU64,
    /// The bounds of the last two rounds: one for even rounds, one for odd ones.
    of_rounds: [AtomicU64; 2],
}

// SAFETY: these are numbers.
unsafe impl Shareable for Line {}

/// The views of this many PEs. All bounds are 0, and there is none for any round yet.
pub fn lines(region: &Region, pes: u32) -> Vec<Lines> {
    let zero = || AtomicU64::new(0);
    let line = |_| Apart(Line { bound: zero(), round: zero(), of_rounds: [zero(), zero()] });
    let lines = region.place_list(pes as usize, line);
    (0..pes as usize).map(|me| Lines { lines: lines.clone(), me }).collect()
}

impl Lines {
    /// Prefetches the line of this PE, which is to be written soon.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_write(&self.lines[self.me]);
    }

    /// Writes this PE's bound.
    #[inline]
    pub fn write(&mut self, bound: u64) {
        // Release pairs with the Acquire of `read`.
        self.lines[self.me].0.bound.store(bound, Ordering::Release);
    }

    /// The bound that a PE wrote last, or an earlier one if that has not become visible yet.
    ///
    /// # Panics
    /// If there is no such PE.
    #[inline]
    pub fn read(&self, pe: u32) -> u64 {
        // Acquire pairs with the Release of `write`: what that PE sent before it can be received
        // now.
        self.lines[pe as usize].0.bound.load(Ordering::Acquire)
    }

    /// Writes this PE's bound for a round. Rounds are numbered from 1 without gaps, and a PE must
    /// have read the bounds of all others for the round before.
    #[inline]
    pub fn write_round(&mut self, round: u64, bound: u64) {
        let line = &self.lines[self.me].0;
        // Relaxed: this overwrites the bound of two rounds ago. All others read that before they
        // wrote their bounds for the last round, which this PE has read.
        line.of_rounds[round as usize % 2].store(bound, Ordering::Relaxed);
        // Release pairs with the Acquire of `read_round`.
        line.round.store(round, Ordering::Release);
    }

    /// The bound of a PE for a round, if it has been written. The round must be the last that this
    /// PE has written for: others may be one round further, but not two.
    ///
    /// # Panics
    /// If there is no such PE.
    #[inline]
    pub fn read_round(&self, pe: u32, round: u64) -> Option<u64> {
        let line = &self.lines[pe as usize].0;
        // Acquire pairs with the Release of `write_round`: the bound is there, and what that PE
        // sent before can be received now.
        (line.round.load(Ordering::Acquire) >= round)
            .then(|| line.of_rounds[round as usize % 2].load(Ordering::Relaxed))
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::ring;

    /// Why bounds need no counting of messages: a message is published before its sender's next
    /// bound, so a PE that reads the bound first and empties the ring afterwards has every message
    /// that the bound no longer covers.
    #[test]
    fn loom_messages_sent_before_a_bound_are_there_once_it_is_read() {
        loom::model(|| {
            let mut views = lines(&Region::own(), 2);
            let reader = views.remove(0);
            let mut writer = views.remove(0);
            let (mut producer, mut consumer) = ring(4);
            let sender = thread::spawn(move || {
                for n in 1..=2u64 {
                    producer.write(n).unwrap();
                    producer.publish();
                    writer.write(n);
                }
            });
            let bound = reader.read(1);
            let received = consumer.drain().map_or(0, |values| values.last().unwrap_or_default());
            assert!(
                received >= bound,
                "bound {bound} was read, but a message sent before it had not arrived"
            );
            sender.join().unwrap();
        });
    }

    /// Goes through rounds as PEs do: publishes a bound, and looks for that of the other PE. If
    /// that is not there yet, it stops: in another schedule it is there.
    fn go_in_step(
        rounds: u64,
        mut view: Lines,
        other: u32,
        mut before: impl FnMut(u64),
        mut after: impl FnMut(u64),
    ) {
        let me = 1 - other;
        for round in 1..=rounds {
            before(round);
            view.write_round(round, 10 * round + u64::from(me));
            let Some(bound) = view.read_round(other, round) else { return };
            assert_eq!(
                bound,
                10 * round + u64::from(other),
                "the bound of another round was read in round {round}"
            );
            after(round);
        }
    }

    /// One PE may be a round ahead of the other, which must still find the bound of its own round.
    #[test]
    fn loom_the_bound_read_is_that_of_its_round() {
        loom::model(|| {
            let mut views = lines(&Region::own(), 2);
            let reader = views.remove(0);
            let writer = views.remove(0);
            let other = thread::spawn(move || go_in_step(3, writer, 0, |_| {}, |_| {}));
            go_in_step(3, reader, 1, |_| {}, |_| {});
            other.join().unwrap();
        });
    }

    /// A PE that has found the bound of a round also finds every message sent before that bound.
    #[test]
    fn loom_messages_of_a_window_are_there_once_the_bound_is_found() {
        loom::model(|| {
            let mut views = lines(&Region::own(), 2);
            let reader = views.remove(0);
            let writer = views.remove(0);
            let (mut producer, mut consumer) = ring(4);
            let send = move |round: u64| {
                producer.write(round).unwrap();
                producer.publish();
            };
            let sender = thread::spawn(move || go_in_step(2, writer, 0, send, |_| {}));
            let mut last = 0;
            let receive = |round: u64| {
                last = consumer.drain().map_or(last, |values| values.last().unwrap_or(last));
                assert!(
                    last >= round,
                    "a message sent before the bound of round {round} had not arrived"
                );
            };
            go_in_step(2, reader, 1, |_| {}, receive);
            sender.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_lines_of_their_own() {
        let views = lines(&Region::own(), 3);
        let places: Vec<usize> =
            views[0].lines.iter().map(|line| std::ptr::from_ref(line).addr()).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 128));
        assert!(size_of::<Line>() <= 64, "a PE's bounds are read together");
    }
}
