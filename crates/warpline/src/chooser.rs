//! Which engine a run is on, and when it changes to another.

use std::time::{Duration, Instant};

use warpline_base::LpId;
use warpline_base::random::Random;

use crate::Synchronisation;

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Engine {
    /// How it keeps LPs in step: one of those that run, not the choice among them.
    pub(crate) sync: Synchronisation,
    /// The number of its PEs; 1 for the sequential one.
    pub(crate) pes: u32,
}

impl Engine {
    pub(crate) const SEQUENTIAL: Engine = Engine { sync: Synchronisation::Sequential, pes: 1 };

    pub(crate) fn is_sequential(self) -> bool {
        self.sync == Synchronisation::Sequential
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) now: Instant,
    pub(crate) virtual_time: f64,
    pub(crate) committed: u64,
}

/// Chooses the engine of each segment of a run, and says when a segment is over.
pub(crate) enum Chooser {
    /// One engine for the whole run.
    Fixed(Engine),
    /// Another one after a random number of events, for tests.
    Random(Box<RandomChanges>),
}

impl Chooser {
    /// The engine of the next segment, and why. `may_wait` tells whether conservative PEs, of this number, can be used.
    pub(crate) fn next(&mut self, may_wait: impl Fn(u32) -> bool) -> (Engine, String) {
        match self {
            Chooser::Fixed(engine) => (*engine, String::new()),
            Chooser::Random(changes) => (changes.next(may_wait), "at random, for a test".to_owned()),
        }
    }

    /// Whether the run has one engine, which nobody needs to be told about.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Chooser::Fixed(_))
    }

    /// How many events a segment has: of all, if it is sequential, and of any PE if it is parallel.
    pub(crate) fn events(&self) -> Option<u64> {
        match self {
            Chooser::Fixed(_) => None,
            Chooser::Random(changes) => Some(changes.events),
        }
    }

    /// Whether the run should change to another engine now.
    pub(crate) fn is_over(&mut self, _: Reading) -> bool {
        match self {
            Chooser::Fixed(_) | Chooser::Random(_) => false,
        }
    }

    /// How soon it wants to be asked again.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self {
            Chooser::Fixed(_) | Chooser::Random(_) => None,
        }
    }
}

/// Changes of the engine at random moments.
pub(crate) struct RandomChanges {
    random: Random,
    /// The first engine, until it has been given out.
    first: Option<Engine>,
    pes_most: u32,
    /// How many events the segment has.
    events: u64,
}

impl RandomChanges {
    /// The longest segment has two to this power of events.
    const LENGTHS: u32 = 11;

    pub(crate) fn new(seed: u64, first: Engine, pes_most: u32) -> Self {
        RandomChanges { random: Random::new(seed, LpId(0), 0), first: Some(first), pes_most, events: 0 }
    }

    fn next(&mut self, may_wait: impl Fn(u32) -> bool) -> Engine {
        let RandomChanges { random, pes_most, .. } = self;
        let most = 1 << random.below(Self::LENGTHS);
        self.events = 1 + u64::from(random.below(most));
        let (kind, pes) = (random.below(4), 1 + random.below(*pes_most));
        let drawn = match kind {
            0 => Engine::SEQUENTIAL,
            1 if may_wait(pes) => Engine { sync: Synchronisation::Conservative, pes },
            _ => Engine { sync: Synchronisation::Optimistic, pes },
        };
        self.first.take().unwrap_or(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_changes_begin_with_the_engine_of_the_run_and_lead_to_all() {
        let first = Engine { sync: Synchronisation::Conservative, pes: 7 };
        for may_wait in [false, true] {
            let mut changes = RandomChanges::new(1, first, 3);
            assert_eq!(changes.next(|_| may_wait), first);
            let found: Vec<Engine> = (0..200).map(|_| changes.next(|_| may_wait)).collect();
            for sync in [Synchronisation::Sequential, Synchronisation::Conservative, Synchronisation::Optimistic] {
                let pes = |pes| found.contains(&Engine { sync, pes });
                let possible = may_wait || sync != Synchronisation::Conservative;
                assert_eq!([1, 2, 3, 4].map(pes), [possible, possible && pes(2), possible && pes(2), false], "{sync:?}");
                assert_eq!(pes(2), possible && sync != Synchronisation::Sequential);
            }
        }
    }
}
