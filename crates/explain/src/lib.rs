//! The critical path of a model: the longest chain of events of which each has to wait for the one
//! before it.
//!
//! An event begins when both the previous event of its LP and the event that sent it have been
//! executed. It takes as long as it costs. An engine that executes every event once, after all
//! events that it depends on, cannot finish before the end of the longest such chain, however many
//! cores it has (Berry and Jefferson, *Critical path analysis of distributed simulation*, 1985).
//! Only lazy cancellation may do better, because it may keep what an event sent on a wrong state
//! (Jefferson and Reiher, *Supercritical speedup*, 1991).
//!
//! The path is found in the order of a sequential run, event by event: an LP remembers when its
//! last event ends, and a pending event when the one that sent it does. This takes memory for LPs,
//! for pending events, and for a bounded number of links of chains.

mod chains;
mod findings;
mod ideal;
mod seen;
#[cfg(test)]
mod tests;

use warpline_base::LpId;
use warpline_memory::{Handle, MakeRoom, list_of};
use warpline_model::engine::Lookahead;

use self::chains::{CAUSES, ChainEnd, Chains};
pub use self::findings::{BusiestPe, CoreFindings, Findings, LpDelay, LpWork, PathFindings, Slice};
use self::ideal::IdealCores;
use self::seen::SeenDelay;
use warpline_kernel::Partition;

/// The number of slices into which the run is divided.
pub const SLICES: usize = 60;

/// The number of core counts that are tried.
pub const CORE_COUNTS: usize = 4;

/// The critical path of a run, up to the event executed last.
pub struct CriticalPath {
    lookahead: Lookahead,
    end: f64,
    lps: Vec<LpEnd>,
    /// The causes of pending events, by handle.
    pending: Vec<Cause>,
    chains: Chains,
    cores: [IdealCores; CORE_COUNTS],
    slices: [SliceEnd; SLICES],
    events: u64,
    work: u64,
    length: u64,
    executed: Executed,
}

/// What is recorded about an LP.
#[derive(Clone, Default)]
struct LpEnd {
    /// When its last event ends.
    finish: u64,
    /// The longest chain that ends with that event.
    chain: Option<ChainEnd>,
    /// The cost of its events.
    work: u64,
    /// The least delay with which it sent to another LP.
    delay: Option<SeenDelay>,
}

/// What is recorded about the event that sent a pending one. All zero for an LP's initialisation,
/// which costs nothing.
#[derive(Clone, Default)]
struct Cause {
    /// When it ends.
    finish: u64,
    /// The longest chain that ends with it.
    chain: Option<ChainEnd>,
    /// When it ends, for each number of cores.
    on_cores: [u64; CORE_COUNTS],
}

/// A slice of the run, in model time.
#[derive(Clone, Copy, Default)]
struct SliceEnd {
    work: u64,
    /// The length of the critical path of everything before the end of the slice.
    length: u64,
}

/// The event executed last.
#[derive(Clone, Copy, Default)]
struct Executed {
    time: f64,
    finish: u64,
    chain: Option<ChainEnd>,
    on_cores: [u64; CORE_COUNTS],
}

impl CriticalPath {
    /// The memory per LP, in bytes.
    pub const BYTES_PER_LP: usize = size_of::<LpEnd>();

    /// Prepares to find the path of a run to `end` (model time). Each of `cores` is a number of
    /// cores with the partition of the LPs among them.
    ///
    /// # Panics
    /// If there is no memory for a record per LP: by
    /// [unwinding](warpline_memory::Exhausted::unwind).
    pub fn new(
        lps: u32,
        end: f64,
        lookahead: Lookahead,
        cores: [(u32, Partition); CORE_COUNTS],
    ) -> Self {
        CriticalPath {
            cores: cores.map(|(cores, partition)| IdealCores::new(cores, partition, &lookahead)),
            lookahead,
            end,
            lps: list_of(LpEnd::default(), lps as usize, CAUSES),
            pending: Vec::new(),
            chains: Chains::default(),
            slices: [SliceEnd::default(); SLICES],
            events: 0,
            work: 0,
            length: 0,
            executed: Executed::default(),
        }
    }

    /// Records that `lp` executed the event with this handle at this model time, at a `cost` of at
    /// least 1.
    ///
    /// # Panics
    /// If there is no memory for it: by [unwinding](warpline_memory::Exhausted::unwind).
    pub fn execute(&mut self, event: Handle, lp: LpId, time: f64, cost: u64) {
        self.chains.make_room();
        let cause =
            self.pending.get_mut(event.bits() as usize).map(std::mem::take).unwrap_or_default();
        let record = &mut self.lps[lp.index()];
        let finish = record.finish.max(cause.finish) + cost;
        // If both are equally long, the path stays with the LP.
        let chain = if cause.finish > record.finish {
            self.chains.follow_message(record.chain, cause.chain, lp, cost)
        } else {
            self.chains.follow_own(record.chain, cause.chain, lp, cost)
        };
        record.finish = finish;
        record.chain = Some(chain);
        record.work += cost;
        let mut on_cores = cause.on_cores;
        for (cores, ready) in self.cores.iter_mut().zip(&mut on_cores) {
            *ready = cores.execute(lp, time, *ready, cost);
        }
        self.length = self.length.max(finish);
        let slice = &mut self.slices[((time / self.end * SLICES as f64) as usize).min(SLICES - 1)];
        slice.work += cost;
        slice.length = self.length;
        self.events += 1;
        self.work += cost;
        self.executed = Executed { time, finish, chain: Some(chain), on_cores };
    }

    /// Records that the event executed last (before the first event: the initialisation of `from`)
    /// sent the event with this handle to `to`, to happen at `time`.
    ///
    /// # Panics
    /// If there is no memory for it: by [unwinding](warpline_memory::Exhausted::unwind).
    pub fn send(&mut self, event: Handle, from: LpId, to: LpId, time: f64) {
        let place = event.bits() as usize;
        if place >= self.pending.len() {
            self.pending.make_room(place + 1 - self.pending.len(), CAUSES);
            self.pending.resize(place + 1, Cause::default());
        }
        let Executed { time: now, finish, chain, on_cores } = self.executed;
        if let Some(chain) = chain {
            self.chains.hold(chain);
        }
        self.pending[place] = Cause { finish, chain, on_cores };
        if from != to {
            let seen = SeenDelay { from, to, delay: time - now, sent: now };
            let least = &mut self.lps[from.index()].delay;
            if least.is_none_or(|least| seen.delay < least.delay) {
                *least = Some(seen);
            }
            self.cores.iter_mut().for_each(|cores| cores.send(&seen));
        }
    }

    /// Records that the event executed last has cancelled the event with this handle.
    pub fn cancel(&mut self, event: Handle) {
        if let Some(cause) = self.pending.get_mut(event.bits() as usize) {
            self.chains.release(std::mem::take(cause).chain);
        }
    }

    /// The findings up to the event executed last.
    pub fn findings(&self) -> Findings {
        let last = self.lps.iter().rev().max_by_key(|lp| lp.finish);
        let (links, path_lps) = self.chains.summary(last.and_then(|lp| lp.chain));
        let mut load = Vec::new();
        let mut delays = Vec::new();
        for (lp, record) in (0..).map(LpId).zip(&self.lps) {
            if record.work > 0 {
                load.push(LpWork { lp, work: record.work });
            }
            delays.extend(record.delay.map(|seen| seen.finding(&self.lookahead)));
        }
        load.sort_by_key(|one| (std::cmp::Reverse(one.work), one.lp));
        delays.sort_by(|a: &LpDelay, b: &LpDelay| {
            a.seen.total_cmp(&b.seen).then(a.from.cmp(&b.from))
        });
        Findings {
            events: self.events,
            work: self.work,
            path: PathFindings {
                length: self.length,
                events: links.events,
                messages: links.messages,
                lps: path_lps,
            },
            slices: self.slices(),
            cores: self.cores.iter().map(|cores| cores.findings(self.work, self.length)).collect(),
            load,
            delays,
        }
    }

    fn slices(&self) -> Vec<Slice> {
        let mut length = 0;
        let bound = |number: usize| self.end * number as f64 / SLICES as f64;
        let slice = |(number, slice): (usize, &SliceEnd)| {
            let before = length;
            length = length.max(slice.length);
            Slice {
                from: bound(number),
                to: bound(number + 1),
                work: slice.work,
                path: length - before,
            }
        };
        self.slices.iter().enumerate().map(slice).collect()
    }
}
