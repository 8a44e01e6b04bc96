//! Checks the estimate on simulated steps, with a simulated clock.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use super::*;
use crate::gauge::clock::WallClock;

/// A clock set by hand, and how long the thread has been off its core. Reading it takes time.
#[derive(Clone, Debug, Default)]
struct Wound(Rc<Cell<u64>>, Rc<Cell<u64>>);

const READING: u64 = 25;

impl Wound {
    fn pass(&self, nanoseconds: u64) {
        self.0.set(self.0.get() + nanoseconds);
    }

    /// Others have the core.
    fn pass_off_core(&self, nanoseconds: u64) {
        self.1.set(self.1.get() + nanoseconds);
        self.pass(nanoseconds);
    }
}

impl Clock for Wound {
    fn now(&self) -> u64 {
        self.pass(READING);
        self.0.get()
    }

    fn on_core(&self) -> Option<u64> {
        Some(self.0.get() - self.1.get())
    }
}

/// The cost of a step, apart from its events.
const RECEIVE: u64 = 100;
const HAND_OVER: u64 = 50;
const GVT: u64 = 200;
/// The cost of an event.
const POP: u64 = 20;
const HANDLE: u64 = 50;
const SEND: u64 = 30;
/// The cost of an idle step, and the pause after it.
const IDLE: u64 = 150;
const YIELD: u64 = 1000;
const COMMIT: u64 = 5000;
const ROLLBACK: u64 = 300;

struct Bench {
    clock: Wound,
    meter: Meter<Wound>,
}

impl Bench {
    fn new(thread: bool) -> Self {
        let clock = Wound::default();
        let mut meter = Meter::new(clock.clone());
        if thread {
            meter.start();
        }
        Bench { clock, meter }
    }

    fn spend(&mut self, nanoseconds: u64, phase: Phase, sample: bool) {
        self.clock.pass(nanoseconds);
        if sample {
            self.meter.lap(phase);
        }
    }

    fn step(&mut self, events: u32, rollbacks: u32, commits: bool) {
        let sample = self.meter.begin_step();
        self.meter.begin_sample();
        self.spend(if events > 0 { RECEIVE } else { IDLE }, Phase::Receive, sample);
        for event in 0..events {
            self.spend(POP, Phase::PendingSet, sample);
            if event < rollbacks {
                let since = self.meter.begin_rollback(Phase::Execute, false);
                self.clock.pass(ROLLBACK);
                self.meter.end_rollback(since);
            }
            self.spend(HANDLE, Phase::Execute, sample);
            self.spend(SEND, Phase::Send, sample);
        }
        if events > 0 {
            self.spend(HAND_OVER, Phase::Send, sample);
            self.clock.pass(GVT);
        }
        if commits {
            let since = self.meter.begin_commit();
            self.clock.pass(COMMIT);
            self.meter.end_commit(since);
        }
        self.meter.end_step(events == 0);
        self.meter.end_sample(events == 0);
    }
}

fn assert_near(phases: &Phases, expected: &Phases, within: f64) {
    for ((name, found), (_, expected)) in phases.list().into_iter().zip(expected.list()) {
        assert!(
            found >= 0.0 && (found - expected).abs() <= within * expected,
            "{name}: {found} instead of {expected}"
        );
    }
}

fn sum(phases: &Phases) -> f64 {
    phases.list().iter().map(|(_, seconds)| seconds).sum()
}

const STEPS: u64 = 100_000;

/// Steps of 10 to 73 events, every 16th followed by idle ones; a commit in every eighth, a rollback
/// in every tenth.
fn drive(bench: &mut Bench, thread: bool) -> Phases {
    let mut expected = [0u64; 8];
    for step in 0..STEPS {
        let events = 10 + step * 37 % 64;
        let rolls = u64::from(step % 10 == 0);
        bench.step(events as u32, rolls as u32, step % 8 == 0);
        let parts = [
            RECEIVE,
            events * POP,
            events * HANDLE,
            events * SEND + HAND_OVER,
            rolls * ROLLBACK,
            GVT,
        ];
        parts.iter().zip(&mut expected).for_each(|(part, sum)| *sum += part);
        expected[6] += if step % 8 == 0 { COMMIT } else { 0 };
        for _ in 0..if step % 16 == 0 { 5 } else { 0 } {
            bench.step(0, 0, false);
            bench.clock.pass(YIELD);
            expected[7] += IDLE + if thread { YIELD } else { 0 };
        }
    }
    let [receive, pending_set, event_processing, send, rollback, gvt, fossil_collection, idle] =
        expected.map(|time| time as f64 * 1e-9);
    Phases {
        event_processing,
        send,
        receive,
        pending_set,
        rollback,
        gvt,
        fossil_collection,
        idle,
        off_core: 0.0,
    }
}

#[test]
fn phases_of_a_thread_are_its_time() {
    let mut bench = Bench::new(true);
    let expected = drive(&mut bench, true);
    bench.meter.stop();
    let Measured { phases, samples } = bench.meter.phases();
    assert_near(&phases, &expected, 0.05);
    assert!(samples > 100.0, "{samples}");
    let thread = bench.meter.thread.unwrap();
    let time = (thread.stopped.unwrap().0 - thread.started) as f64 * 1e-9;
    assert!((sum(&phases) / time - 1.0).abs() < 1e-9);
}

#[test]
fn phases_of_a_pe_that_shares_its_thread_are_its_steps() {
    let mut bench = Bench::new(false);
    let expected = drive(&mut bench, false);
    assert_near(&bench.meter.phases().phases, &expected, 0.05);
}

#[test]
fn many_rollbacks_are_sampled() {
    let mut bench = Bench::new(true);
    let before = bench.clock.0.get();
    for _ in 0..STEPS {
        bench.step(4, 2, false);
    }
    let phases = bench.meter.phases().phases;
    let expected = (2 * STEPS * ROLLBACK) as f64 * 1e-9;
    assert!((phases.rollback / expected - 1.0).abs() < 0.02, "{phases:?}");
    // The total cost of measuring.
    let work = STEPS * (RECEIVE + 4 * (POP + HANDLE + SEND) + 2 * ROLLBACK + HAND_OVER + GVT);
    let spent = (bench.clock.0.get() - before) as f64 / work as f64;
    assert!(spent < 1.012, "{spent}");
}

#[test]
fn a_thread_that_loses_its_core_in_a_sample_does_not_skew_the_others() {
    let mut bench = Bench::new(true);
    let mut samples = 0;
    for _ in 0..STEPS {
        bench.step(20, 0, false);
        samples += u32::from(bench.meter.working.is_due());
        if bench.meter.working.is_due() && samples % 50 == 49 {
            assert!(bench.meter.begin_step());
            bench.meter.begin_sample();
            bench.clock.pass_off_core(4_000_000);
            bench.meter.lap(Phase::Receive);
            bench.meter.end_step(false);
            bench.meter.end_sample(false);
        }
    }
    assert!(samples > 150);
    bench.meter.stop();
    let phases = bench.meter.phases().phases;
    assert!(
        (phases.receive / phases.event_processing - RECEIVE as f64 / (20 * HANDLE) as f64).abs()
            < 0.02,
        "{phases:?}"
    );
    assert!((phases.off_core - 4e-3 * f64::from(samples / 50)).abs() < 1e-4, "{phases:?}");
}

/// A PE that looks for messages a hundred times between two long steps, as most do whose events are
/// few and take long.
#[test]
fn steps_that_wait_do_not_hide_those_that_work() {
    for thread in [true, false] {
        let mut bench = Bench::new(thread);
        for _ in 0..200 {
            (0..100).for_each(|_| bench.step(0, 0, false));
            let sample = bench.meter.begin_step();
            bench.meter.begin_sample();
            bench.spend(100_000, Phase::Execute, sample);
            bench.meter.end_step(false);
            bench.meter.end_sample(false);
        }
        bench.meter.stop();
        let Measured { phases, samples } = bench.meter.phases();
        assert!((phases.event_processing / 20e-3 - 1.0).abs() < 0.02, "{phases:?}");
        assert!(
            phases.idle > 0.99 * 3e-3 && phases.idle < 8e-3 && samples > 20.0,
            "{phases:?}, {samples}"
        );
    }
}

/// The time for which others had the core is told apart, and counts neither as work nor as waiting.
#[test]
fn time_without_a_core_is_told_apart() {
    let mut bench = Bench::new(true);
    for step in 0..STEPS {
        bench.step(20, 0, false);
        if step % 1000 == 500 {
            bench.clock.pass_off_core(3_000_000);
        }
        if step % 1000 == 700 {
            // While it waits it needs no core.
            bench.step(0, 0, false);
            bench.clock.pass_off_core(2_000_000);
        }
        if step % 1000 == 900 {
            let slept = 1_000_000;
            bench.clock.pass_off_core(slept);
            bench.meter.slept(Duration::from_nanos(slept));
        }
    }
    bench.meter.stop();
    let Phases { off_core, idle, event_processing, .. } = bench.meter.phases().phases;
    assert!((off_core - 0.3).abs() < 1e-3 && (idle - 0.3).abs() < 1e-3, "{off_core} {idle}");
    let expected = (STEPS * 20 * HANDLE) as f64 * 1e-9;
    assert!((event_processing / expected - 1.0).abs() < 0.03, "{event_processing}, not {expected}");
}

/// If one step takes longer than all others together, samples do not say where the time went,
/// whether that step is among them or not.
#[test]
fn a_few_samples_do_not_decide_over_a_whole_run() {
    let run = |heavy: u64| {
        let mut bench = Bench::new(true);
        for step in 0..2000 {
            let sample = bench.meter.begin_step();
            bench.meter.begin_sample();
            bench.spend(if step == heavy { 50_000_000 } else { 1000 }, Phase::Execute, sample);
            bench.meter.end_step(false);
            bench.meter.end_sample(false);
        }
        bench.meter.stop();
        bench.meter.phases()
    };
    for heavy in [0, 6].into_iter().chain(1000..1100) {
        let Measured { samples, .. } = run(heavy);
        assert!(samples < 2.5, "{heavy}: {samples}");
    }
    assert!(run(u64::MAX).samples > 20.0, "{:?}", run(u64::MAX));
}

#[test]
fn short_and_empty_runs_have_phases_too() {
    let mut bench = Bench::new(true);
    let nothing = bench.meter.phases().phases;
    assert!(sum(&nothing) < 1e-7 && nothing.idle == sum(&nothing), "{nothing:?}");
    bench.step(1, 0, true);
    bench.meter.stop();
    let phases = bench.meter.phases().phases;
    let none = ["rollback", "idle", "without a core"];
    // The clock of the thread's own time is read before the other.
    let takes_time = |seconds: f64| seconds > READING as f64 * 1e-9;
    assert!(
        phases.list().iter().all(|(name, seconds)| takes_time(*seconds) != none.contains(name)),
        "{phases:?}"
    );
    assert_eq!(sum(&Bench::new(false).meter.phases().phases), 0.0);
    let mut idle = Bench::new(true);
    (0..100).for_each(|_| idle.step(0, 0, false));
    let phases = idle.meter.phases().phases;
    assert_eq!(phases.idle, sum(&phases));
}

#[test]
fn time_before_a_restart_does_not_count() {
    for thread in [false, true] {
        let mut late = Bench::new(thread);
        let mut fresh = Bench::new(thread);
        (0..3000).for_each(|i| late.step(i % 5, 1, i % 7 == 0));
        late.meter.restart();
        for bench in [&mut late, &mut fresh] {
            (0..3000).for_each(|i| bench.step(8, i % 2, i % 50 == 0));
            bench.meter.stop();
        }
        assert_near(&late.meter.phases().phases, &fresh.meter.phases().phases, 1e-6);
    }
}

#[test]
fn the_wall_clock_tells_nanoseconds_since_its_origin() {
    let origin = Instant::now();
    let clock = WallClock { origin: Some(origin), on_core: None };
    let before = origin.elapsed();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let now = u128::from(clock.now());
    let after = origin.elapsed().as_nanos();
    assert!(
        before.as_nanos() + 2_000_000 <= now && now <= after,
        "{now} is not between {before:?} and {after} ns"
    );
}

#[test]
fn a_clock_that_stands_still_takes_no_samples() {
    let mut meter = Meter::new(WallClock { origin: None, on_core: None });
    for _ in 0..1000 {
        assert!(!meter.begin_step());
        meter.end_step(false);
    }
    assert_eq!((meter.now(), meter.phases().samples), (0, 0.0));
}
