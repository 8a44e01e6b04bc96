use warpline::{Context, Init, Journaled, Level, LpId, Model, Queue, Reverse};

use super::parcel::{Errand, Owned, Parcel};
use super::recipe::LpKind;
use super::statistics::LEVELS;
use super::timer_memory::Timers;

/// The stream from which changes of state are drawn. Stream 0 is for draws that are made again when
/// an event is undone.
const CHANGES: u8 = 2;
/// The most payloads that a `Memory` keeps.
const REMEMBERED: usize = 6;
/// The most bytes that a `Memory` keeps.
const MOST_BYTES: usize = 100;
/// The most inhabitants of a `Colony`.
const ROOM: u32 = 12;

/// The state of an LP of a [`RandomModel`](super::RandomModel).
#[derive(Clone, Debug, PartialEq, Journaled)]
pub struct State {
    /// Events handled.
    pub(super) seen: u64,
    /// Loans taken and not yet given back.
    owed: u32,
    /// A checksum of all events in their order.
    pub(super) checksum: u64,
    /// The sum of the first draws of all events.
    luck: u64,
    pub(super) timers: Timers,
    pub(super) own: LpMemory,
}

/// The part of the state that depends on the kind of the LP.
#[derive(Clone, Debug, PartialEq, Journaled)]
pub(super) enum LpMemory {
    Forwarder { last: f64, errands: u16, jitter: u32 },
    Memory { queue: Queue<u64>, bytes: Queue<u8> },
    Accumulator { total: f64, mean: f64, level: Level },
    Colony { alive: u32, births: i64, births_of: Queue<u64>, level: Level },
}

impl State {
    pub(super) fn new(kind: LpKind, lp: &mut Init<impl Model>) -> Self {
        let own = match kind {
            LpKind::Forwarder => LpMemory::Forwarder { last: -1.0, errands: 0, jitter: 0 },
            LpKind::Memory => LpMemory::Memory { queue: Queue::default(), bytes: Queue::default() },
            LpKind::Accumulator => LpMemory::Accumulator {
                total: 0.0,
                mean: 0.0,
                level: Level::new(1.0, LEVELS.at(0), lp),
            },
            LpKind::Colony => LpMemory::Colony {
                alive: 0,
                births: 0,
                births_of: Queue::default(),
                level: Level::default(),
            },
        };
        State { seen: 0, owed: 0, checksum: 0, luck: 0, timers: Timers::default(), own }
    }

    /// Takes an event in.
    ///
    /// # Panics
    /// If a loan is given back that was never given, which cannot happen in the right order of
    /// events.
    pub(super) fn absorb<const W: usize, O: Owned>(
        &mut self,
        parcel: &Parcel<W, O>,
        lp: &mut Context<impl Model>,
    ) {
        *lp.change(&mut self.seen) += 1;
        *lp.change(&mut self.checksum) =
            self.checksum.rotate_left(9) ^ parcel.word() ^ lp.now().to_bits();
        *lp.change(&mut self.luck) = self.luck.wrapping_add(lp.random().next_u64());
        match parcel.errand {
            Errand::Lend => *lp.change(&mut self.owed) += 1,
            Errand::Return => {
                *lp.change(&mut self.owed) =
                    self.owed.checked_sub(1).expect("a loan comes before its return")
            }
            Errand::Spread | Errand::Recall(_) | Errand::Loop | Errand::Timeout => {}
        }
        self.own.absorb(parcel, lp);
    }

    /// Undoes [`absorb`](Self::absorb).
    pub(super) fn release<const W: usize, O: Owned>(
        &mut self,
        parcel: &Parcel<W, O>,
        lp: &mut Reverse<impl Model>,
    ) {
        self.own.release(parcel, lp);
        match parcel.errand {
            Errand::Lend => self.owed -= 1,
            Errand::Return => self.owed += 1,
            Errand::Spread | Errand::Recall(_) | Errand::Loop | Errand::Timeout => {}
        }
        self.luck = self.luck.wrapping_sub(lp.random().next_u64());
        self.checksum = (self.checksum ^ parcel.word() ^ lp.now().to_bits()).rotate_right(9);
        self.seen -= 1;
    }
}

/// What happened to a `Colony` at an event.
const NOTHING: u8 = 0;
const BIRTH: u8 = 1;
const DEATH: u8 = 2;

impl LpMemory {
    fn absorb<const W: usize, O: Owned>(
        &mut self,
        parcel: &Parcel<W, O>,
        lp: &mut Context<impl Model>,
    ) {
        match self {
            LpMemory::Forwarder { last, errands, jitter } => {
                lp.save(*last);
                *lp.change(last) = lp.now();
                *lp.change(errands) += u16::from(parcel.errand != Errand::Spread);
                *lp.change(jitter) = jitter.wrapping_add(lp.stream(CHANGES).below(1000));
            }
            LpMemory::Memory { queue, bytes } => {
                queue.push_back(parcel.word(), lp);
                let full = queue.len() > REMEMBERED;
                if let Some(oldest) = queue.front().copied().filter(|_| full) {
                    lp.save(oldest);
                    queue.pop_front(lp);
                }
                lp.save(full);
                let fits = bytes.len() + parcel.load.bytes().len() <= MOST_BYTES;
                if fits {
                    parcel.load.bytes().iter().for_each(|&byte| bytes.push_back(byte, lp));
                }
                lp.save(fits);
            }
            LpMemory::Accumulator { total, mean, level } => {
                lp.save(*total);
                lp.save(*mean);
                let value = lp.stream(CHANGES).normal(1.0, 3.0) + parcel.word() as f64 * 1e-18;
                *lp.change(total) += value * 1.000_000_1;
                *lp.change(mean) += (value - *mean) * 0.3;
                level.set(value, LEVELS.at(0), lp);
            }
            LpMemory::Colony { alive, births, births_of, level } => {
                let birth = lp.stream(CHANGES).bernoulli(0.55);
                let fate = match *alive {
                    0 if !birth => NOTHING,
                    ROOM if birth => NOTHING,
                    _ => [DEATH, BIRTH][usize::from(birth)],
                };
                if fate == BIRTH {
                    *lp.change(alive) += 1;
                    *lp.change(births) += 1;
                    births_of.push_back(parcel.word(), lp);
                } else if fate == DEATH
                    && let Some(dead) = births_of.pop_back(lp)
                {
                    *lp.change(alive) -= 1;
                    lp.save(dead);
                }
                lp.save(fate);
                level.set(f64::from(*alive), LEVELS.at(1), lp);
            }
        }
    }

    fn release<const W: usize, O: Owned>(
        &mut self,
        parcel: &Parcel<W, O>,
        lp: &mut Reverse<impl Model>,
    ) {
        match self {
            LpMemory::Forwarder { last, errands, jitter } => {
                *jitter = jitter.wrapping_sub(lp.stream(CHANGES).below(1000));
                *errands -= u16::from(parcel.errand != Errand::Spread);
                *last = lp.restore();
            }
            LpMemory::Memory { queue, bytes } => {
                if lp.restore::<bool>() {
                    parcel.load.bytes().iter().for_each(|_| _ = bytes.pop_back(lp));
                }
                if lp.restore::<bool>() {
                    queue.push_front(lp.restore(), lp);
                }
                queue.pop_back(lp);
            }
            LpMemory::Accumulator { total, mean, level } => {
                level.unset(lp);
                *mean = lp.restore();
                *total = lp.restore();
            }
            LpMemory::Colony { alive, births, births_of, level } => {
                level.unset(lp);
                match lp.restore::<u8>() {
                    BIRTH => {
                        births_of.pop_back(lp);
                        *alive -= 1;
                        *births -= 1;
                    }
                    DEATH => {
                        *alive += 1;
                        births_of.push_back(lp.restore(), lp);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The item of statistics that it counts for.
    pub(super) fn item(&self) -> u32 {
        match self {
            LpMemory::Forwarder { .. } => 0,
            LpMemory::Memory { .. } => 1,
            LpMemory::Accumulator { .. } => 2,
            LpMemory::Colony { .. } => 3,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        ["forwarder", "memory", "accumulator", "colony"][self.item() as usize]
    }
}

/// The LP that recalls the loans of another.
pub(super) fn creditor(of: LpId, lps: u32) -> LpId {
    LpId((of.0 + 1) % lps)
}
