//! What the processes of an LP share, and how they draw and write down what they do.

use std::future::Future;

use warpline::base::random::{Random, fold64};
use warpline::process::prelude::*;

use super::parameters::{NastyProcessesParameters, ProcessMistake};

pub(super) const ACTS: Counter = Counter::slot(0);
pub(super) const WAIT: Mean = Mean::slot(1);
pub(super) const IN_USE: TimeMean = TimeMean::slot(2);
pub(super) const LEVEL: TimeMean = TimeMean::slot(3);
pub(super) const LEFT: Counter = Counter::slot(4);
pub(super) const DEEDS: Table = Table(0);

/// The stream that decides what processes do.
const CHOICES: u8 = 1;
/// So many processes are known to others.
const KNOWN: usize = 8;

/// What a wait ends with whose time was up.
const LATE: u64 = 1;
/// What a wait ends with that was interrupted, beside how.
const INTERRUPTED: u64 = 2;

/// What LPs send each other.
#[derive(Clone, Debug, PartialEq, Portable)]
pub(crate) struct Message {
    pub(super) word: u64,
    /// How many acts it may bring about.
    pub(super) energy: u32,
}

/// What the processes of an LP share.
#[derive(Clone)]
pub(super) struct Yard {
    pub(super) sim: Sim<Message>,
    pub(super) parameters: Arc<NastyProcessesParameters>,
    /// A resource that is taken away.
    pub(super) till: Resource,
    /// A resource of which several units are held.
    pub(super) crew: Resource,
    /// A store with little room.
    pub(super) shelf: Store<u64>,
    /// A store whose least item is got first.
    pub(super) heap: Store<u64>,
    pub(super) tank: Container,
    pub(super) gate: Gate,
    /// What happens next.
    pub(super) signal: Shared<Signal<u64>>,
    /// Processes that were started, the last ones.
    known: Shared<Vec<Process<u64>>>,
    diary: Shared<Diary>,
}

/// What has happened in an LP so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Diary {
    pub(super) acts: u64,
    checksum: u64,
}

impl Yard {
    pub(super) fn new(sim: Sim<Message>, parameters: Arc<NastyProcessesParameters>) -> Self {
        let capacity = parameters.capacity;
        let room = capacity as usize;
        let yard = Yard {
            sim,
            till: Resource::new(sim, "till", capacity).observe_wait(WAIT),
            crew: Resource::new(sim, "crew", capacity).observe_use(IN_USE),
            shelf: Store::limited(sim, "shelf", room),
            heap: Store::ordered(sim, "heap", room, u64::cmp),
            tank: Container::new(sim, "tank", 2.0 * f64::from(capacity), 1.0).observe_level(LEVEL),
            gate: Gate::new(sim, "gate"),
            signal: Shared::new(sim, Signal::new(sim, "signal")),
            known: Shared::new(sim, Vec::new()),
            diary: Shared::new(sim, Diary::default()),
            parameters,
        };
        let (till, crew, diary, shelf) = (yard.till, yard.crew, yard.diary, yard.shelf);
        let rows = yard.parameters.rows;
        sim.at_end(move |end| {
            end.count(LEFT, (end.waiting(till) + end.waiting(crew)) as u64);
            let items = end.items(shelf).fold(0, |sum, item| fold64(sum, *item));
            let checksum = end.shared(diary).map_or(0, |diary| diary.checksum);
            if rows {
                end.record(DEEDS, &["end".into(), fold64(checksum, items).into()]);
            }
        });
        yard
    }

    /// Writes down what has come of an act.
    pub(super) fn note(&self, act: u32, word: u64) {
        let now = self.sim.now().to_bits();
        let diary = self.diary.with(|diary| {
            diary.acts += 1;
            diary.checksum = fold64(fold64(diary.checksum, now), fold64(u64::from(act), word));
            *diary
        });
        self.sim.count(ACTS, 1);
        if self.parameters.rows && diary.checksum.is_multiple_of(3) {
            self.sim.record(DEEDS, &[i64::from(act).into(), diary.checksum.into()]);
        }
    }

    pub(super) fn diary(&self) -> Diary {
        self.diary.get()
    }

    /// Whether the next act is the mistake that was asked for.
    pub(super) fn mistake(&self) -> ProcessMistake {
        let parameters = &self.parameters;
        let is_here = self.sim.id().0 == parameters.lps / 2;
        let is_now = is_here && self.diary().acts + 1 == parameters.mistake_at;
        if is_now { parameters.mistake } else { ProcessMistake::None }
    }

    /// Starts a process that others know.
    pub(super) fn start(
        &self,
        process: impl Future<Output = u64> + Send + 'static,
    ) -> Process<u64> {
        let process = match self.below(3) {
            0 => self.sim.spawn_after(self.delay(), process),
            1 => self.sim.spawn_named("worker", process),
            _ => self.sim.spawn(process),
        };
        self.known.with(|known| {
            if known.len() == KNOWN {
                known.remove(0);
            }
            known.push(process);
        });
        process
    }

    /// A process of this LP, most often another one, which may have ended.
    pub(super) fn somebody(&self) -> Option<Process<u64>> {
        let many = self.known.with(|known| known.len());
        let chosen = self.below(many.max(1) as u32) as usize;
        self.known.with(|known| known.get(chosen).copied())
    }

    /// Somebody else.
    pub(super) fn another(&self) -> Option<Process<u64>> {
        let this = self.sim.this_process();
        self.somebody().filter(|process| process.without_value() != this)
    }

    pub(super) fn draw<R>(&self, draw: impl FnOnce(&mut Random) -> R) -> R {
        self.sim.draw_from(CHOICES, draw)
    }

    pub(super) fn below(&self, bound: u32) -> u32 {
        self.draw(|random| random.below(bound))
    }

    pub(super) fn chance(&self, share: f64) -> bool {
        self.draw(|random| random.bernoulli(share))
    }

    /// The delay of a message, beyond the lookahead.
    pub(super) fn delay(&self) -> f64 {
        let now = self.sim.now();
        let parameters = &self.parameters;
        self.draw(|random| {
            if random.bernoulli(parameters.zero) {
                0.0
            } else {
                parameters.delays.draw(now, random)
            }
        })
    }

    /// How long a sleep or a time-out takes.
    pub(super) fn pause(&self) -> f64 {
        if self.chance(self.parameters.never) { f64::MAX - self.sim.now() } else { self.delay() }
    }

    /// Waits for something, perhaps for a limited time, and perhaps until it is interrupted.
    pub(super) async fn wait<F: Future>(&self, future: F) -> Result<F::Output, u64> {
        let sim = self.sim;
        let told = |why: Interrupted| fold64(INTERRUPTED, word_of(&format!("{why:?}")));
        match (self.chance(self.parameters.patience), self.chance(0.5)) {
            (true, true) => sim.interruptible(future).await.map_err(told),
            (true, false) => Ok(future.await),
            (false, true) => {
                let limited = sim.timeout(self.pause(), future);
                sim.interruptible(limited).await.map_err(told)?.ok_or(LATE)
            }
            (false, false) => sim.timeout(self.pause(), future).await.ok_or(LATE),
        }
    }
}

/// A number that stands for a text.
fn word_of(text: &str) -> u64 {
    text.bytes().fold(0, |sum, byte| fold64(sum, u64::from(byte)))
}
