//! The yardstick: PHOLD in a bare loop around one 4-ary heap, without any engine.

use std::time::Instant;

use warpline::base::random::mix64;

const LOOKAHEAD: f64 = 0.1;

struct Lp {
    key: u64,
    draws: u64,
    events: u64,
    time_sum: f64,
}

impl Lp {
    fn next(&mut self) -> u64 {
        self.draws += 1;
        mix64(self.key.wrapping_add(self.draws.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    fn delay(&mut self) -> f64 {
        let uniform = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        LOOKAHEAD - (1.0 - uniform).ln()
    }
}

/// Replaces the least entry of a 4-ary heap: a pop and a push in one.
fn replace_least(heap: &mut [(u64, u32)], entry: (u64, u32)) {
    let mut hole = 0;
    loop {
        let first = 4 * hole + 1;
        let (least, child) = match heap.get(first..).and_then(|rest| rest.first_chunk::<4>()) {
            // Without a branch, which no processor could predict.
            Some(&[a, b, c, d]) => {
                let left = if b.0 < a.0 { (1, b) } else { (0, a) };
                let right = if d.0 < c.0 { (3, d) } else { (2, c) };
                if right.1.0 < left.1.0 { right } else { left }
            }
            None => match heap
                .get(first..)
                .into_iter()
                .flatten()
                .copied()
                .enumerate()
                .min_by_key(|child| child.1.0)
            {
                Some(least) => least,
                None => break,
            },
        };
        if child.0 >= entry.0 {
            break;
        }
        heap[hole] = child;
        hole = first + least;
    }
    heap[hole] = entry;
}

/// Events per second with `lps` LPs and `population` events for each.
pub(crate) fn rate(lps: usize, population: usize, events: u64) -> f64 {
    let mut lp: Vec<Lp> = (0..lps)
        .map(|id| Lp { key: mix64(id as u64), draws: 0, events: 0, time_sum: 0.0 })
        .collect();
    let mut receiver = Vec::new();
    let mut heap = Vec::new();
    for (id, lp) in (0u32..).zip(&mut lp) {
        for _ in 0..population {
            heap.push((lp.delay().to_bits(), receiver.len() as u32));
            receiver.push((id, 0u64));
        }
    }
    heap.sort_unstable();
    let start = Instant::now();
    for _ in 0..events {
        let (bits, index) = heap[0];
        let (me, payload) = receiver[index as usize];
        let this = &mut lp[me as usize];
        this.events += 1;
        this.time_sum += f64::from_bits(bits);
        let time = f64::from_bits(bits) + this.delay();
        let draw = this.next();
        receiver[index as usize] =
            (((u128::from(draw) * lps as u128) >> 64) as u32, payload ^ draw);
        replace_least(&mut heap, (time.to_bits(), index));
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(lp.iter().map(|lp| lp.events).sum::<u64>(), events);
    assert!(lp.iter().all(|lp| lp.time_sum >= 0.0));
    events as f64 / seconds
}
