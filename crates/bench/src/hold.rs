//! The pending event sets alone: nanoseconds per hold (one entry out, one in) by size and
//! distribution of increments.

use std::cmp::Ordering;
use std::time::Instant;

use warpline::base::random::Random;
use warpline::base::{LpId, VirtualTime};
use warpline::pending::{Entry, Heap, Ladder, PendingSet, Ties};
use warpline_memory::Handle;

/// A tie-break that is never needed, as times are distinct.
struct ByHandle;

impl Ties for ByHandle {
    fn order(&self, a: Handle, b: Handle) -> Ordering {
        a.cmp(&b)
    }
}

#[derive(Clone, Copy)]
enum Increments {
    /// Uniform in [0.95, 1.05].
    Narrow,
    /// Exponential with mean 1.
    Exponential,
    /// Nine in ten about 0.1, one in ten about 9.
    Bimodal,
    /// Exponential, beside one entry in a far future that never comes.
    Outlier,
}

impl Increments {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Increments::Narrow => 0.95 + 0.1 * random.uniform(),
            Increments::Exponential | Increments::Outlier => random.exponential(1.0),
            Increments::Bimodal => {
                (if random.bernoulli(0.9) { 0.1 } else { 9.0 }) * (0.95 + 0.1 * random.uniform())
            }
        }
    }
}

pub(crate) fn compare() {
    println!("Pending event sets, nanoseconds per hold\n");
    println!("{:>10} {:<12} {:>8} {:>8}", "entries", "increments", "heap", "ladder");
    for size in [10, 100, 1_000, 100_000, 10_000_000] {
        for (name, increments) in [
            ("narrow", Increments::Narrow),
            ("exponential", Increments::Exponential),
            ("bimodal", Increments::Bimodal),
            ("outlier", Increments::Outlier),
        ] {
            let rounds = if size > 1_000_000 { 1 } else { 3 };
            let mut times: Vec<(f64, f64)> = (0..rounds)
                .map(|_| {
                    (nanoseconds::<Heap>(size, increments), nanoseconds::<Ladder>(size, increments))
                })
                .collect();
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let heap = times[rounds / 2].0;
            times.sort_by(|a, b| a.1.total_cmp(&b.1));
            println!("{size:>10} {name:<12} {heap:>8.0} {:>8.0}", times[rounds / 2].1);
        }
    }
}

fn nanoseconds<Q: PendingSet>(size: u32, increments: Increments) -> f64 {
    let mut pending = Q::default();
    let mut random = Random::new(1, LpId(0), 0);
    // Increments are drawn beforehand, so that the time of the generator is not counted.
    let drawn: Vec<f64> = (0..1 << 16).map(|_| increments.draw(&mut random)).collect();
    let entry = |now: f64, index: usize, handle| {
        let time = VirtualTime::new(now + drawn[index % drawn.len()]).expect("finite");
        Entry::new(time, 0, Handle::from_bits(handle))
    };
    for handle in 0..size {
        pending.push(entry(f64::from(handle) * 1e-9, handle as usize, handle), &ByHandle);
    }
    if let Increments::Outlier = increments {
        pending.push(
            Entry::new(VirtualTime::new(1e9).expect("finite"), 0, Handle::from_bits(size)),
            &ByHandle,
        );
    }
    let end = VirtualTime::new(f64::MAX).expect("finite");
    let holds = (4 * size as usize).clamp(1_000_000, 20_000_000);
    // The clock starts after a pass through all entries, in a steady state.
    let mut start = Instant::now();
    for hold in 0..size as usize + holds {
        if hold == size as usize {
            start = Instant::now();
        }
        let first = pending.pop_before(end, &ByHandle).expect("as many entries as ever");
        pending.push(
            entry(first.time().get(), hold.wrapping_mul(7), first.handle().bits()),
            &ByHandle,
        );
    }
    start.elapsed().as_secs_f64() * 1e9 / holds as f64
}
