//! The speed-ups of ideal engines, in which only events take time.

use warpline_base::LpId;
use warpline_kernel::{Partition, Shortest};
use warpline_model::engine::Lookahead;

use super::findings::{BusiestPe, CoreFindings, speed_up};
use super::seen::SeenDelay;

/// Ideal engines with one PE per core, for one partition.
pub(super) struct IdealCores {
    cores: u32,
    partition: Partition,
    lookahead: Lookahead,
    /// The PEs of the engine that executes events in the order of time.
    pes: Vec<PeClock>,
    declared: Windows,
    seen: Windows,
    seen_delay: Option<SeenDelay>,
    /// The number of events sent from one PE to another.
    messages: u64,
}

#[derive(Clone, Copy, Default)]
struct PeClock {
    /// When its last event ends.
    finish: u64,
    work: u64,
}

impl IdealCores {
    pub(super) fn new(cores: u32, partition: Partition, lookahead: &Lookahead) -> Self {
        let shortest =
            Shortest::of(lookahead, &partition).map_or(f64::INFINITY, |shortest| shortest.delay);
        let pes = partition.pes() as usize;
        IdealCores {
            cores,
            partition,
            lookahead: lookahead.clone(),
            pes: vec![PeClock::default(); pes],
            declared: Windows::new(pes, shortest),
            seen: Windows::new(pes, f64::INFINITY),
            seen_delay: None,
            messages: 0,
        }
    }

    /// Executes an event of `lp` whose message arrives at `ready`. Returns when the event ends.
    pub(super) fn execute(&mut self, lp: LpId, time: f64, ready: u64, cost: u64) -> u64 {
        let number = self.partition.pe(lp) as usize;
        let pe = &mut self.pes[number];
        pe.finish = pe.finish.max(ready) + cost;
        pe.work += cost;
        self.declared.execute(number, time, cost);
        self.seen.execute(number, time, cost);
        pe.finish
    }

    /// Records a send from one LP to another.
    pub(super) fn send(&mut self, sent: &SeenDelay) {
        if self.partition.pe(sent.from) == self.partition.pe(sent.to) {
            return;
        }
        self.messages += 1;
        let least = self.seen_delay.map_or(f64::INFINITY, |least| least.delay);
        if sent.delay < least {
            self.seen_delay = Some(*sent);
            let width = rounded_down(sent.delay);
            if width < self.seen.width {
                self.seen.begin_again(width);
            }
        }
    }

    /// The speed-ups that these engines reach, given all work and the length of the critical path.
    pub(super) fn findings(&self, work: u64, path: u64) -> CoreFindings {
        let (busiest, most) = self
            .pes
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|(_, pe)| pe.work)
            .map_or((0, 0), |(pe, one)| (pe as u32, one.work));
        let lps = self.partition.lps(busiest);
        let last = self.pes.iter().map(|pe| pe.finish).max().unwrap_or(0);
        let pes = self.partition.pes();
        CoreFindings {
            cores: self.cores,
            pes,
            any_engine: speed_up(work, path).min(f64::from(pes)),
            these_blocks: speed_up(work, path.max(most)),
            in_order: speed_up(work, last),
            declared: self.declared.speed_up(),
            declared_delay: self.declared.width,
            seen: (self.seen.work >= work / 10).then(|| self.seen.speed_up()),
            seen_delay: self.seen_delay.map(|seen| seen.finding(&self.lookahead)),
            messages: self.messages,
            busiest: BusiestPe {
                pe: busiest,
                first: LpId(lps.start),
                last: LpId(lps.end - 1),
                work: most,
            },
        }
    }
}

/// A delay at most an eighth shorter, so that small improvements rarely restart the windows.
fn rounded_down(delay: f64) -> f64 {
    f64::from_bits(delay.to_bits() & !((1 << 49) - 1))
}

/// An engine that advances in windows: each PE executes its events of a window, and the next window
/// begins when all PEs are done.
struct Windows {
    /// In model time.
    width: f64,
    /// Where the current window ends, in model time; `None` before the first.
    end: Option<f64>,
    /// The number of the current window, from 1.
    number: u64,
    /// The greatest work of any PE in the current window.
    most: u64,
    /// By PE: the number of the last window in which it had work, and the work.
    pes: Vec<(u64, u64)>,
    /// The time that all earlier windows took.
    before: u64,
    /// The work in all windows.
    work: u64,
}

impl Windows {
    fn new(pes: usize, width: f64) -> Self {
        Windows { width, end: None, number: 0, most: 0, pes: vec![(0, 0); pes], before: 0, work: 0 }
    }

    /// Starts again with windows of another width.
    fn begin_again(&mut self, width: f64) {
        self.width = width;
        self.end = None;
        self.most = 0;
        self.before = 0;
        self.work = 0;
    }

    fn execute(&mut self, pe: usize, time: f64, cost: u64) {
        if self.end.is_none_or(|end| time >= end) {
            self.before += self.most;
            self.most = 0;
            self.number += 1;
            self.end = Some(time + self.width);
        }
        let (number, work) = &mut self.pes[pe];
        if *number != self.number {
            *number = self.number;
            *work = 0;
        }
        *work += cost;
        self.most = self.most.max(*work);
        self.work += cost;
    }

    fn speed_up(&self) -> f64 {
        speed_up(self.work, self.before + self.most)
    }
}
