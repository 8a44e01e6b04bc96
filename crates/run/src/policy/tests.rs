use std::time::Duration;

use super::limits::START;
use super::*;
use crate::machine::core_time::CoreTime;

/// A run whose engines have these rates, in events per second, at any model time.
struct World<R> {
    lps: u32,
    rate: R,
    /// Events per unit of model time.
    density: f64,
    /// Seconds that PEs go on before a segment ends, and from then until the next begins.
    lingers: f64,
    handover: f64,
    pending: usize,
    end: f64,
    lookahead: f64,
    /// Seconds between two counts that PEs tell.
    tells: f64,
    /// By how much parallel engines are slower until LPs have been shared out again, as one PE has
    /// so many times the mean work.
    uneven: f64,
    /// Seconds until a parallel engine has its full rate, of which it has a third at first.
    warm_up: f64,
    /// The share of a core that each thread of an engine is given, at any time in seconds. Rates
    /// are those on cores of their own.
    share: fn(Engine, f64) -> f64,
}

/// A stretch: its engine, and how long it took, in seconds.
type Stretch = (Engine, f64, String);

const CONSERVATIVE: Engine = Engine { sync: Synchronisation::Conservative, pes: 2 };
const OPTIMISTIC: Engine = Engine { sync: Synchronisation::Optimistic, pes: 2 };

/// A world with 1000 events per unit of time and cheap handovers, whose run takes about `seconds`
/// at ten million events per second.
fn world<R: Fn(Engine, f64) -> f64>(seconds: f64, rate: R) -> World<R> {
    World {
        lps: 1000,
        rate,
        density: 1000.0,
        lingers: 0.0,
        handover: 1e-3,
        pending: 1000,
        end: 1e4 * seconds,
        lookahead: 0.0,
        tells: 1e-4,
        uneven: 1.0,
        warm_up: 1e-9,
        share: |_, _| 1.0,
    }
}

impl<R: Fn(Engine, f64) -> f64> World<R> {
    fn facts(&self) -> Facts {
        let mut engines = vec![(OPTIMISTIC, self.lookahead)];
        if self.lookahead > 0.0 {
            engines.push((CONSERVATIVE, self.lookahead));
        }
        Facts { lps: self.lps, end: self.end, cores: 2, engines, lp_bytes: 32, event_bytes: 48 }
    }

    /// The stretches of a run, and how long it took.
    fn run(&self) -> (Vec<Stretch>, f64) {
        let mut policy = Policy::new(self.facts());
        let mut seconds = 0.0;
        let mut committed = 0.0;
        let mut stretches = Vec::<Stretch>::new();
        let mut core_time = CoreTime::default();
        loop {
            let engine = policy.choice().engine;
            let known =
                engine.is_sequential() || stretches.iter().any(|stretch| stretch.0 == engine);
            let uneven = if known { 1.0 } else { self.uneven };
            let began = seconds;
            let pending = engine.is_sequential().then_some(self.pending);
            let reading = |seconds: f64, committed: f64, told: f64, core_time| {
                let counted = if engine.is_sequential() { committed } else { told };
                Milestone {
                    seconds,
                    virtual_time: committed / self.density,
                    committed: counted as u64,
                    pending,
                    unevenness: Some(uneven),
                    core_time,
                }
            };
            policy.begin(reading(seconds, committed, committed, core_time));
            let mut told = committed;
            let mut told_at = seconds;
            let over = loop {
                let step = policy.patience().unwrap_or(0.02);
                let virtual_time = committed / self.density;
                let cold = if engine.is_sequential() {
                    0.0
                } else {
                    (1.0 - (seconds + step - began) / self.warm_up).max(0.0)
                };
                let share = (self.share)(engine, seconds);
                core_time.on_core += Duration::from_secs_f64(step * share);
                core_time.elapsed += Duration::from_secs_f64(step);
                let slowed = share * (1.0 - cold * 2.0 / 3.0) / uneven;
                seconds += step;
                committed += step * slowed * (self.rate)(engine, virtual_time);
                if committed >= self.end * self.density {
                    break true;
                }
                if seconds - told_at >= self.tells {
                    told = committed;
                    told_at = seconds;
                }
                if policy.is_over(reading(seconds, committed, told, core_time)) {
                    break false;
                }
            };
            if !over {
                let virtual_time = committed / self.density;
                seconds += self.lingers;
                committed += self.lingers * (self.rate)(engine, virtual_time);
            }
            let (why, _) = policy.end(Milestone {
                pending: Some(self.pending),
                ..reading(seconds, committed, committed, core_time)
            });
            stretches.push((engine, seconds - began, why));
            if over {
                return (stretches, seconds);
            }
            seconds += self.handover;
        }
    }

    /// How long the run would take on one engine.
    fn alone(&self, engine: Engine) -> f64 {
        let mut seconds = 0.0;
        let mut committed = 0.0;
        while committed < self.end * self.density {
            seconds += 1e-3;
            committed += 1e-3 * (self.rate)(engine, committed / self.density);
        }
        seconds
    }

    /// How long the run takes, compared to the best engine.
    fn loss(&self) -> f64 {
        let engines =
            self.facts().engines.into_iter().map(|(engine, _)| engine).chain([Engine::SEQUENTIAL]);
        let best = engines.map(|engine| self.alone(engine)).fold(f64::INFINITY, f64::min);
        self.run().1 / best
    }
}

/// The rate of the sequential engine, and that of all others.
fn rates(sequential: f64, others: f64) -> impl Fn(Engine, f64) -> f64 {
    move |engine, _| if engine.is_sequential() { sequential } else { others }
}

fn engines(stretches: &[Stretch]) -> Vec<Engine> {
    stretches.iter().map(|stretch| stretch.0).collect()
}

#[test]
fn short_runs_are_sequential() {
    for (seconds, ratio) in [(0.001, 2.0), (0.02, 2.0), (0.05, 2.0), (0.05, 0.5)] {
        let (stretches, _) = world(seconds, rates(1e7, ratio * 1e7)).run();
        assert_eq!(engines(&stretches), [Engine::SEQUENTIAL], "{seconds} s");
        assert_eq!(
            stretches[0].2,
            "every run begins sequentially; too little was left for trying another engine"
        );
    }
}

#[test]
fn a_faster_engine_is_found_and_kept() {
    for seconds in [1.0, 3.0, 30.0] {
        for ratio in [1.1, 1.3, 1.9] {
            let world = world(seconds, rates(1e7, ratio * 1e7));
            let (stretches, whole) = world.run();
            assert_eq!(engines(&stretches)[..2], [Engine::SEQUENTIAL, OPTIMISTIC]);
            assert!(
                stretches[1].2.contains(&format!(
                    "kept, as it is {ratio:.2} times as fast as the sequential engine"
                )),
                "{stretches:?}"
            );
            let on_it: f64 = stretches
                .iter()
                .filter(|stretch| stretch.0 == OPTIMISTIC)
                .map(|stretch| stretch.1)
                .sum();
            assert!(
                on_it > 0.9 * whole && world.loss() < 1.05,
                "{seconds} s, {ratio}: {on_it} of {whole}, {}",
                world.loss()
            );
        }
    }
}

#[test]
fn a_slower_engine_costs_little_and_is_tried_ever_more_rarely() {
    for seconds in [0.3, 1.0, 3.0, 30.0, 300.0] {
        for ratio in [0.02, 0.3, 0.55, 0.8, 0.95, 1.0] {
            let world = world(seconds, rates(1e7, ratio * 1e7));
            let (stretches, _) = world.run();
            assert!(world.loss() < 1.04, "{seconds} s, {ratio}: {}", world.loss());
            assert!(stretches.len() < 40, "{seconds} s, {ratio}: {} stretches", stretches.len());
            assert!(
                seconds < 1.0 || engines(&stretches).contains(&OPTIMISTIC),
                "{seconds} s, {ratio}: it is tried"
            );
        }
    }
}

#[test]
fn counts_that_come_rarely_mislead_nobody() {
    for ratio in [0.6, 1.5] {
        let world = World { tells: 0.03, ..world(5.0, rates(1e7, ratio * 1e7)) };
        assert!(world.loss() < 1.05, "{ratio}: {}", world.loss());
    }
}

/// An engine that needs longer than a trial to get up to speed is not judged before it has.
#[test]
fn engines_may_warm_up_slowly() {
    // It warms up again whenever it is its turn, which no policy can help.
    for (seconds, loss) in [(1.0, 1.1), (3.0, 1.06)] {
        let world = World { warm_up: 0.06, ..world(seconds, rates(1e7, 1.4e7)) };
        let (stretches, _) = world.run();
        assert_eq!(engines(&stretches)[..2], [Engine::SEQUENTIAL, OPTIMISTIC]);
        assert!(
            stretches[1].2.contains("; kept") && world.loss() < loss,
            "{seconds} s: {stretches:?}, {}",
            world.loss()
        );
    }
    let slow = World { warm_up: 0.06, ..world(3.0, rates(1e7, 0.8e7)) };
    assert!(slow.loss() < 1.05, "{}", slow.loss());
}

/// Engines that take long to come to an end leave the next one as much time to show how fast it is.
#[test]
fn trials_are_as_long_wherever_they_begin() {
    let world = World { lingers: 0.2, ..world(20.0, rates(1e7, 1.2e7)) };
    let (stretches, _) = world.run();
    let trials = &stretches[1..stretches.len() - 1];
    let shortest = trials.iter().map(|stretch| stretch.1).fold(f64::INFINITY, f64::min);
    assert!(
        shortest > world.lingers + 4.0 * START && stretches.len() > 4 && world.loss() < 1.05,
        "{stretches:?}, {}",
        world.loss()
    );
}

/// The share of the run, in time, that it spent on the parallel engine.
fn in_parallel(stretches: &[Stretch]) -> f64 {
    let seconds =
        |all: &mut dyn Iterator<Item = &Stretch>| all.map(|stretch| stretch.1).sum::<f64>();
    seconds(&mut stretches.iter().filter(|stretch| stretch.0 == OPTIMISTIC))
        / seconds(&mut stretches.iter())
}

/// Beside others, two threads would be faster only at their expense, as three programs share two
/// cores.
#[test]
fn cores_are_left_to_others_that_use_them() {
    let beside_one = |engine: Engine, _| if engine.is_sequential() { 1.0 } else { 0.75 };
    let beside_parallel_run = |engine: Engine, _| if engine.is_sequential() { 0.67 } else { 0.5 };
    for ratio in [1.3, 1.8] {
        for share in [beside_one, beside_parallel_run] {
            let (stretches, _) = World { share, ..world(5.0, rates(1e7, ratio * 1e7)) }.run();
            assert!(in_parallel(&stretches) < 0.12, "{ratio}: {stretches:?}");
            assert!(
                stretches[1].2.contains("per core, as others use the cores as well"),
                "{stretches:?}"
            );
        }
    }
}

/// The engine changes soon when others come, and when they have gone.
#[test]
fn cores_are_given_back_and_taken_again() {
    let share = |engine: Engine, seconds| match engine.is_sequential() {
        _ if !(2.0..4.0).contains(&seconds) => 1.0,
        true => 0.67,
        false => 0.5,
    };
    let (stretches, seconds) = World { share, ..world(15.0, rates(1e7, 1.6e7)) }.run();
    let others = 2.0 / seconds;
    assert!(
        (0.95 - 1.5 * others..1.0 - 0.8 * others).contains(&in_parallel(&stretches)),
        "{seconds} s: {stretches:?}"
    );
}

/// An engine whose PEs have uneven shares gets another chance, with even ones.
#[test]
fn shares_are_evened_out_before_an_engine_is_judged() {
    for ratio in [1.3, 1.7] {
        let world = World { uneven: 1.8, ..world(5.0, rates(1e7, ratio * 1e7)) };
        let (stretches, _) = world.run();
        assert_eq!(engines(&stretches)[..3], [Engine::SEQUENTIAL, OPTIMISTIC, OPTIMISTIC]);
        assert!(
            stretches[1].2.contains("one PE had 1.8 times the mean work")
                && stretches[2].2.contains("shared out evenly"),
            "{stretches:?}"
        );
        assert!(world.loss() < 1.05, "{ratio}: {}", world.loss());
    }
    // Nothing can be gained here.
    let slow = World { uneven: 1.8, ..world(5.0, rates(1e7, 0.8e7)) };
    assert!(
        slow.loss() < 1.05 && engines(&slow.run().0)[2] == Engine::SEQUENTIAL,
        "{}",
        slow.loss()
    );
}

/// Where it takes long to hand everything over, only a long run is worth a trial.
#[test]
fn expensive_handovers_are_rare() {
    let large = |seconds, ratio| World {
        handover: 0.15,
        pending: 1_000_000,
        ..world(seconds, rates(1e7, ratio * 1e7))
    };
    assert_eq!(large(1.0, 1.3).run().0.len(), 1);
    assert!(
        large(60.0, 1.3).loss() < 1.03 && large(60.0, 0.6).loss() < 1.05,
        "{} {}",
        large(60.0, 1.3).loss(),
        large(60.0, 0.6).loss()
    );
}

#[test]
fn large_models_begin_in_parallel() {
    let large = |seconds, ratio, lookahead| {
        let small = world(seconds, rates(1e7, ratio * 1e7));
        World {
            lps: 1_000_000,
            lookahead,
            handover: 0.1,
            pending: 1_000_000,
            density: 1e6,
            end: 10.0 * seconds,
            ..small
        }
    };
    for (seconds, lookahead) in [(1.0, 0.1), (1.0, 0.0), (30.0, 0.1), (30.0, 0.0)] {
        let world = large(seconds, 1.5, lookahead);
        assert_eq!(world.run().0[0].0, OPTIMISTIC, "{seconds} s");
        assert!(world.loss() < 1.04, "{seconds} s, lookahead {lookahead}: {}", world.loss());
    }
    // If that was wrong, the run finds out.
    assert!(large(30.0, 0.3, 0.1).loss() < 1.1, "{}", large(30.0, 0.3, 0.1).loss());
}

/// Without enough lookahead, or with hardly anything to do at a time, nobody is made to wait.
#[test]
fn hopeless_engines_are_not_tried() {
    let few = World { pending: 3, ..world(100.0, rates(1e7, 2e7)) };
    let stretches = few.run().0;
    assert_eq!(engines(&stretches), [Engine::SEQUENTIAL]);
    assert!(
        stretches[0].2.ends_with("; with 3 pending events, PEs would mostly wait for each other"),
        "{}",
        stretches[0].2
    );
    let short = World { lookahead: 0.001, ..world(100.0, rates(1e7, 0.9e7)) };
    assert!(!engines(&short.run().0).contains(&CONSERVATIVE));
    let long = World { lookahead: 0.1, ..world(100.0, rates(1e7, 0.9e7)) };
    assert!(
        engines(&long.run().0).contains(&CONSERVATIVE)
            && engines(&long.run().0).contains(&OPTIMISTIC)
    );
}

/// Halfway, the model begins to do something else.
#[test]
fn another_engine_is_found_when_the_model_changes() {
    for (first, then) in [(0.5, 1.6), (1.6, 0.5)] {
        let world = world(20.0, move |engine: Engine, time: f64| {
            match (engine.is_sequential(), time < 1e5) {
                (true, true) => 1e7,
                (true, false) => 0.5e7,
                (false, true) => first * 1e7,
                (false, false) => then * 0.5e7,
            }
        });
        let (stretches, whole) = world.run();
        let best = 10.0 / f64::max(1.0, first) + 20.0 / f64::max(1.0, then);
        assert!(whole < 1.1 * best, "{whole} s, where {best} s would do: {stretches:?}");
    }
}

/// All events get more expensive as time goes on: that tells nothing about engines.
#[test]
fn a_model_that_slows_down_is_not_taken_for_a_slow_engine() {
    let world = world(10.0, |engine: Engine, time: f64| {
        let slow = 1.0 / (1.0 + time / 2e4);
        slow * if engine.is_sequential() { 1e7 } else { 1.25e7 }
    });
    assert!(world.loss() < 1.06, "{}", world.loss());
}

#[test]
fn the_rate_of_the_sequential_engine_tells_how_expensive_events_are() {
    let mut policy = Policy::new(world(1.0, rates(5e4, 1e6)).facts());
    policy.candidates[0].speed = Some(Speed { rate: 5e4, threads: 1, share: 1.0 });
    policy.next = Some((1, Phase::Chosen));
    assert_eq!(policy.choice(), EngineChoice { engine: OPTIMISTIC, event_rate: Some(5e4) });
}
