//! Many messages back and forth, at random and between two threads.

use std::collections::VecDeque;
use std::thread;

use super::tests::{pair, sum};
use super::*;
use crate::{CancelOutcome, Consumer, Producer, ring};

/// xorshift*: random enough to vary a test.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}

#[test]
fn books_balance_after_a_random_exchange() {
    let mut random = Random(7);
    let mut views = buffers(3);
    let mut live: [Vec<Handle>; 3] = Default::default();
    let mut flying: [VecDeque<Handle>; 3] = Default::default();
    for step in 0..if cfg!(miri) { 600 } else { 200_000u64 } {
        let pe = random.below(3);
        let view = &mut views[pe];
        let live = &mut live[pe];
        match random.below(4) {
            0 => {
                let to = random.below(3);
                let handle = view.insert(to as u32, step);
                if to == pe { live.push(handle) } else { flying[to].push_back(handle) }
            }
            1 if !live.is_empty() => {
                let handle = live.swap_remove(random.below(live.len()));
                assert!(*view.get(handle) <= step);
                view.release(handle);
            }
            _ => {
                if let Some(handle) = flying[pe].pop_front() {
                    view.accept(handle);
                    live.push(handle);
                }
            }
        }
    }
    let all = sum(&views);
    assert_eq!(all.live, live.iter().map(|live| live.len() as u64).sum::<u64>());
    assert_eq!(all.in_flight(), flying.iter().map(|flying| flying.len() as u64).sum::<u64>());
    assert_eq!(all.places, all.free + all.live + all.in_flight());
    assert!(all.free > 0 && all.given > 30);
}

/// The most messages that a PE has neither cancelled nor committed before it has sent all.
const UNDECIDED: usize = if cfg!(miri) { 10 } else { 30 };
/// The most that it has received and not begun.
const WAITING: usize = if cfg!(miri) { 5 } else { 15 };
/// The room in a ring between them.
const ROOM: usize = if cfg!(miri) { 32 } else { 1000 };

/// What travels through the rings.
#[derive(Clone, Copy)]
enum Parcel {
    Message(Handle),
    /// The sender has cancelled this message, which was processed already.
    Undo(Handle),
    /// The sender will not cancel this message any more.
    Commit(Handle),
}

/// Sends `count` messages to the other PE, of which it cancels a third after a while and commits
/// the others, and begins or undoes those that it receives. Returns how many of its messages it
/// cancelled before and after they were begun, and the same of those it received.
fn exchange(
    view: &mut Buffers<Box<u64>>,
    mut out: Producer<Parcel>,
    mut into: Consumer<Parcel>,
    count: u64,
) -> [[u64; 2]; 2] {
    fn begin(view: &mut Buffers<Box<u64>>, handle: Handle) -> u64 {
        let begun = view.begin(handle);
        if !begun {
            view.release(handle);
        }
        u64::from(!begun)
    }
    let other = 1 - view.me();
    let mut undecided = VecDeque::new();
    let mut unsent = VecDeque::new();
    let mut waiting = VecDeque::new();
    let mut notes = Vec::new();
    let mut sent = 0;
    let mut ended = 0;
    let mut cancels = [0; 2];
    let mut cancelled = [0; 2];
    while sent < count || ended < count || !undecided.is_empty() || !unsent.is_empty() {
        if sent < count && unsent.is_empty() {
            let before = undecided.back().map(|&(_, last)| last);
            let handle = view.insert_with(other, 0, before, || Box::new(sent));
            undecided.push_back((sent, handle));
            unsent.push_back(Parcel::Message(handle));
            sent += 1;
        }
        let decide = undecided.len() > UNDECIDED || (sent == count && unsent.is_empty());
        if let Some((number, handle)) = decide.then(|| undecided.pop_front()).flatten() {
            if number % 3 > 0 {
                unsent.push_back(Parcel::Commit(handle));
            } else if view.cancel(handle) == CancelOutcome::Processed {
                unsent.push_back(Parcel::Undo(handle));
                cancels[1] += 1;
            } else {
                cancels[0] += 1;
            }
        }
        while unsent.front().is_some_and(|&note| out.push(note)) {
            unsent.pop_front();
        }
        let full = !unsent.is_empty() || sent == count;
        if into.drain_into(&mut notes, 16) == 0 && (full || cfg!(miri)) {
            thread::yield_now();
        }
        for note in notes.drain(..) {
            match note {
                Parcel::Message(handle) => {
                    view.accept(handle);
                    assert_eq!((view.partner(handle), **view.get(handle) < count), (other, true));
                    waiting.push_back(handle);
                }
                Parcel::Undo(handle) => {
                    assert!(view.is_cancelled(handle) && !view.undo(handle));
                    view.release(handle);
                    cancelled[1] += 1;
                    ended += 1;
                }
                Parcel::Commit(handle) => {
                    for handle in waiting.drain(..) {
                        let dropped = begin(view, handle);
                        cancelled[0] += dropped;
                        ended += dropped;
                    }
                    view.release(handle);
                    ended += 1;
                }
            }
        }
        let late = waiting.len() > WAITING || sent == count;
        if let Some(handle) = late.then(|| waiting.pop_front()).flatten() {
            let dropped = begin(view, handle);
            cancelled[0] += dropped;
            ended += dropped;
        }
    }
    [cancels, cancelled]
}

#[test]
fn two_threads_exchange_buffers() {
    let count = if cfg!(miri) { 20 } else { 100_000 };
    let [mut a, mut b] = pair();
    let (a_out, b_in) = ring(ROOM);
    let (b_out, a_in) = ring(ROOM);
    let [by_a, by_b] = thread::scope(|scope| {
        let b = scope.spawn(|| exchange(&mut b, b_out, b_in, count));
        [exchange(&mut a, a_out, a_in, count), b.join().unwrap()]
    });
    assert_eq!((by_a[0], by_b[0]), (by_b[1], by_a[1]));
    let all = sum([&a, &b]);
    assert_eq!(
        (all.inserted, all.released, all.given, all.accepted),
        (2 * count, 2 * count, 2 * count, 2 * count)
    );
    assert_eq!((all.live, all.in_flight(), all.places), (0, 0, all.free));
}
