//! Chooses the engine of each segment of a run, and when it changes.

use std::time::{Duration, Instant};

use warpline_base::LpId;
use warpline_base::random::Random;

use crate::Synchronisation;
use crate::machine::core_time::CoreTime;
use crate::policy::engine_choice::{Engine, EngineChoice};
use crate::policy::{self, Facts, Policy};

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) now: Instant,
    pub(crate) virtual_time: f64,
    pub(crate) committed: u64,
    /// Pending events, where that is known.
    pub(crate) pending: Option<usize>,
    /// The work of the busiest PE compared with the mean, where that is known.
    pub(crate) unevenness: Option<f64>,
    /// The time of all threads of the segment, where that is known.
    pub(crate) core_time: CoreTime,
}

impl Reading {
    /// A reading of which no more is known.
    pub(crate) fn new(now: Instant, virtual_time: f64, committed: u64) -> Self {
        Reading {
            now,
            virtual_time,
            committed,
            pending: None,
            unevenness: None,
            core_time: CoreTime::default(),
        }
    }
}

/// Chooses the engine of each segment of a run, and says when a segment is over.
pub(crate) enum EngineSelector {
    /// One engine for the whole run.
    Fixed(Engine),
    /// The one that suits it best, as far as is known.
    Auto(Box<Auto>),
    /// Another one after a random number of events, for tests.
    Random(Box<RandomChanges>),
}

impl EngineSelector {
    /// The engine of the next segment. `may_wait` says whether so many conservative PEs can be
    /// used.
    pub(crate) fn next(&mut self, may_wait: impl Fn(u32) -> bool) -> EngineChoice {
        match self {
            EngineSelector::Fixed(engine) => (*engine).into(),
            EngineSelector::Auto(auto) => auto.policy.choice(),
            EngineSelector::Random(changes) => changes.next(may_wait).into(),
        }
    }

    /// Whether the run has one engine, so that nothing need be noted about changes.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, EngineSelector::Fixed(_))
    }

    /// How many events a segment has: in all if it is sequential, and on any PE if it is parallel.
    pub(crate) fn events(&self) -> Option<u64> {
        match self {
            EngineSelector::Fixed(_) | EngineSelector::Auto(_) => None,
            EngineSelector::Random(changes) => Some(changes.events),
        }
    }

    /// A segment begins to execute events.
    pub(crate) fn begin(&mut self, at: Reading) {
        if let EngineSelector::Auto(auto) = self {
            let reading = auto.reading(at);
            auto.policy.begin(reading);
        }
    }

    /// Whether the run should change to another engine now.
    pub(crate) fn is_over(&mut self, at: Reading) -> bool {
        match self {
            EngineSelector::Fixed(_) | EngineSelector::Random(_) => false,
            EngineSelector::Auto(auto) => {
                let reading = auto.reading(at);
                auto.policy.is_over(reading)
            }
        }
    }

    /// How soon it wants to be asked again.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self {
            EngineSelector::Fixed(_) | EngineSelector::Random(_) => None,
            EngineSelector::Auto(auto) => auto.policy.patience().map(Duration::from_secs_f64),
        }
    }

    /// A segment has ended. Returns why there was one, and its rate if that was measured.
    pub(crate) fn end(&mut self, at: Reading) -> (String, Option<f64>) {
        match self {
            EngineSelector::Fixed(_) => Default::default(),
            EngineSelector::Auto(auto) => {
                let reading = auto.reading(at);
                auto.policy.end(reading)
            }
            EngineSelector::Random(_) => ("at random, for a test".to_owned(), None),
        }
    }
}

/// The clock of a [`Policy`].
pub(crate) struct Auto {
    policy: Policy,
    /// When the event loop began.
    looped: Option<Instant>,
}

impl Auto {
    pub(crate) fn new(facts: Facts) -> Self {
        Auto { policy: Policy::new(facts), looped: None }
    }

    fn reading(&mut self, at: Reading) -> policy::Milestone {
        let Reading { now, virtual_time, committed, pending, unevenness, core_time } = at;
        let looped = *self.looped.get_or_insert(now);
        let seconds = now.saturating_duration_since(looped).as_secs_f64();
        policy::Milestone { seconds, virtual_time, committed, pending, unevenness, core_time }
    }
}

/// Changes of the engine at random moments.
pub(crate) struct RandomChanges {
    random: Random,
    /// The first engine, until it has been chosen.
    first: Option<Engine>,
    pes_most: u32,
    /// How many events the segment has.
    events: u64,
}

impl RandomChanges {
    /// The longest segment has two to this power of events.
    const LENGTHS: u32 = 11;

    pub(crate) fn new(seed: u64, first: Engine, pes_most: u32) -> Self {
        RandomChanges {
            random: Random::new(seed, LpId(0), 0),
            first: Some(first),
            pes_most,
            events: 0,
        }
    }

    fn next(&mut self, may_wait: impl Fn(u32) -> bool) -> Engine {
        let RandomChanges { random, pes_most, .. } = self;
        let most = 1 << random.below(Self::LENGTHS);
        self.events = 1 + u64::from(random.below(most));
        let kind = random.below(4);
        let pes = 1 + random.below(*pes_most);
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
            for sync in [
                Synchronisation::Sequential,
                Synchronisation::Conservative,
                Synchronisation::Optimistic,
            ] {
                let pes = |pes| found.contains(&Engine { sync, pes });
                let possible = may_wait || sync != Synchronisation::Conservative;
                assert_eq!(
                    [1, 2, 3, 4].map(pes),
                    [possible, possible && pes(2), possible && pes(2), false],
                    "{sync:?}"
                );
                assert_eq!(pes(2), possible && sync != Synchronisation::Sequential);
            }
        }
    }
}
