//! The critical path, and what follows from it: known by hand for simple models, and by brute force
//! for random ones.

mod brute_force;

use std::iter;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::Config;
use warpline::engine::Lookahead;
use warpline::prelude::*;
use warpline::{CORES, CoreFindings, EventCost, Explanation, Findings, Place};
use warpline_kernel::{Groups, Partition};
use warpline_testkit::random_model::Inline;
use warpline_testkit::{RandomModel, Recipe, Story, cases, time_limit};

use brute_force::{Log, Path};

/// What LPs do, starting at time 0.
#[derive(Clone, Copy)]
enum Play {
    /// They tick once in every unit of time, and LP 0 this many times.
    Clocks { haste: u32 },
    /// A ball goes round all of them.
    Ball,
    /// LP 0 gives all others work, and goes on when the last of them has answered.
    ForkAndJoin,
    /// They tick, and send each other messages with a delay of at least 0.5.
    Hops,
    /// They tick; LP 0 works for this long in every tick.
    Busy(Duration),
    /// They tick until this time, at which LP 2 panics.
    Panics(f64),
}

struct Players {
    lps: u32,
    play: Play,
    lookahead: f64,
}

impl Players {
    fn new(lps: u32, play: Play) -> Self {
        Players { lps, play, lookahead: 0.0 }
    }

    fn story(self) -> Story {
        let Players { lps, play, lookahead } = self;
        Story::new(lps)
            .lookahead(lookahead)
            .init(move |lp| {
                if lp.id() == LpId(0) || !matches!(play, Play::Ball | Play::ForkAndJoin) {
                    lp.send(lp.id(), 0.0, 0);
                }
                0
            })
            .handle(move |waits, _, lp| play.act(lps, waits, lp))
    }

    fn explained(self, end: f64) -> Explanation {
        Simulation::new(self.story())
            .end(end)
            .explain(EventCost::Counted)
            .expect("nothing is wrong with it")
    }
}

impl Play {
    /// What an LP does with each event.
    fn act(self, lps: u32, waits: &mut u64, lp: &mut Context<Story>) {
        let me = lp.id();
        match self {
            Play::Clocks { haste } => {
                lp.send(me, if me == LpId(0) { 1.0 / f64::from(haste) } else { 1.0 }, 0)
            }
            Play::Ball => lp.send((me.0 + 1) % lps, 1.0, 0),
            Play::ForkAndJoin if me != LpId(0) => lp.send(0, 1.0, 0),
            Play::ForkAndJoin => {
                // How many answers LP 0 waits for.
                *waits = waits.saturating_sub(1);
                if *waits == 0 {
                    *waits = u64::from(lps - 1);
                    (1..lps).for_each(|other| lp.send(other, 1.0, 0));
                }
            }
            Play::Hops => {
                let to = lp.random().below(lps);
                let delay = 0.5 + lp.random().exponential(0.5);
                lp.send(to, delay, 0);
            }
            Play::Busy(time) => {
                let started = Instant::now();
                while me == LpId(0) && started.elapsed() < time {}
                lp.send(me, 1.0, 0);
            }
            Play::Panics(at) => {
                assert!(me != LpId(2) || lp.now() < at, "it is {at}");
                lp.send(me, 1.0, 0);
            }
        }
    }
}

fn on(findings: &Findings, cores: u32) -> CoreFindings {
    *findings.cores.iter().find(|one| one.cores == cores).expect("it is one of them")
}

/// What is true of every model.
fn check_bounds(findings: &Findings) {
    assert_eq!(findings.cores.iter().map(|one| one.cores).collect::<Vec<_>>(), CORES);
    for one in &findings.cores {
        let rising =
            [1.0, one.declared, one.in_order, one.these_blocks, one.any_engine, f64::from(one.pes)];
        assert!(rising.is_sorted(), "{one:?}");
        assert!(one.pes <= one.cores);
    }
    assert_eq!(findings.slices.iter().map(|slice| slice.work).sum::<u64>(), findings.work);
    assert_eq!(findings.slices.iter().map(|slice| slice.path).sum::<u64>(), findings.path.length);
    assert_eq!(findings.load.iter().map(|one| one.work).sum::<u64>(), findings.work);
}

#[test]
fn a_ball_allows_no_parallelism() {
    let explanation = Players::new(16, Play::Ball).explained(100.0);
    let findings = &explanation.findings;
    check_bounds(findings);
    assert_eq!(
        (findings.events, findings.path.length, findings.path.messages, explanation.parallelism()),
        (100, 100, 99, 1.0)
    );
    assert!(findings.cores.iter().all(|one| (one.any_engine, one.in_order) == (1.0, 1.0)));
    assert_eq!(findings.path.lps.len(), 16);
}

#[test]
fn independent_lps_allow_as_much_as_there_are_of_them() {
    let explanation = Players::new(16, Play::Clocks { haste: 1 }).explained(100.0);
    let findings = &explanation.findings;
    check_bounds(findings);
    assert_eq!(
        (findings.events, findings.path.length, findings.path.messages, explanation.parallelism()),
        (1600, 100, 0, 16.0)
    );
    for (cores, expected) in [(2, 2.0), (8, 8.0), (64, 16.0), (1000, 16.0)] {
        let one = on(findings, cores);
        assert_eq!(
            (one.any_engine, one.these_blocks, one.in_order, one.seen),
            (expected, expected, expected, Some(expected)),
            "{cores}"
        );
        // Nothing says that they are independent.
        assert_eq!((one.declared, one.declared_delay, one.seen_delay), (1.0, 0.0, None));
    }
    assert_eq!(findings.path.lps, [warpline::LpWork { lp: LpId(0), work: 100 }]);
}

#[test]
fn an_lp_with_half_of_the_events_allows_twice_the_speed() {
    // 16 other LPs have as many together.
    let explanation = Players::new(17, Play::Clocks { haste: 16 }).explained(100.0);
    check_bounds(&explanation.findings);
    assert_eq!((explanation.findings.events, explanation.parallelism()), (3200, 2.0));
    assert!(explanation.findings.cores.iter().all(|one| one.any_engine == 2.0));
    assert_eq!(explanation.findings.load[0], warpline::LpWork { lp: LpId(0), work: 1600 });
}

#[test]
fn the_path_of_forks_and_joins_goes_through_the_last_answers() {
    // 50 rounds: 10 pieces of work at once, then 10 answers one after the other, the last of which
    // begins the next round.
    let explanation = Players::new(11, Play::ForkAndJoin).explained(100.5);
    let findings = &explanation.findings;
    check_bounds(findings);
    assert_eq!(
        (findings.events, findings.path.length, findings.path.messages),
        (1 + 50 * 20, 1 + 50 * 11, 50 * 2)
    );
    // By ties, all work on the path is that of the LP whose answer comes first.
    let lps: Vec<_> = findings.path.lps.iter().map(|one| (one.lp.0, one.work)).collect();
    assert_eq!(lps, [(0, 501), (1, 50)]);
    // Each LP is on a PE of its own.
    assert_eq!(on(findings, 64).in_order, 1001.0 / 551.0);
}

#[test]
fn declared_lookahead_counts_and_so_do_the_delays_seen() {
    let explained =
        |lookahead| Players { lookahead, ..Players::new(64, Play::Hops) }.explained(200.0);
    let silent = explained(0.0);
    let promised = explained(0.5);
    [&silent, &promised].into_iter().for_each(|explanation| check_bounds(&explanation.findings));
    let [of_silent, of_promised] =
        [&silent, &promised].map(|explanation| on(&explanation.findings, 8));
    assert_eq!(
        (of_silent.declared, of_silent.declared_delay, of_promised.declared_delay),
        (1.0, 0.0, 0.5)
    );
    let seen = of_silent.seen_delay.expect("they send");
    assert!((0.5..0.52).contains(&seen.seen) && seen.declared == 0.0, "{seen:?}");
    // A window of half the mean delay has half of the pending events: some 32 for 8 PEs, so the
    // busiest PE has 7 or 8.
    assert!((3.0..6.0).contains(&of_promised.declared), "{of_promised:?}");
    let ratio = of_silent.seen.expect("it was seen early") / of_promised.declared;
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
    assert_eq!(silent.findings.path, promised.findings.path);
    assert!(
        silent.findings.delays.len() == 64
            && silent.findings.delays.iter().all(|delay| delay.seen >= 0.5 - 1e-9)
    );
}

#[test]
fn measured_costs_see_what_counting_does_not() {
    let _limit = time_limit("measured costs");
    let explained = |cost| {
        Simulation::new(Players::new(8, Play::Busy(Duration::from_micros(300))).story())
            .end(50.0)
            .explain(cost)
    };
    let counted = explained(EventCost::Counted).expect("a result");
    assert_eq!(counted.parallelism(), 8.0);
    // An event of another LP takes long if the thread is kept off its core meanwhile.
    let measured = iter::repeat_with(|| explained(EventCost::Measured).expect("a result"))
        .take(10)
        .inspect(|measured| check_bounds(&measured.findings))
        .find(|measured| measured.parallelism() < 2.0 && measured.findings.load[0].lp == LpId(0))
        .expect("LP 0 takes nearly all of the time");
    let least = 50 * Duration::from_micros(299).as_nanos() as u64;
    assert!(measured.findings.load[0].work >= least, "{} ns", measured.findings.load[0].work);
    assert_eq!(measured.digest, counted.digest);
}

#[test]
fn a_mistake_of_the_model_is_the_error_of_a_run() {
    let simulation = || Simulation::new(Players::new(4, Play::Panics(7.0)).story()).end(50.0);
    let error = simulation().explain(EventCost::Counted).expect_err("LP 2 panics");
    let Error::Fault(failure) = &error else { panic!("{error}") };
    assert!(matches!(failure.place, Place::Event { lp: LpId(2), time: 7.0, .. }), "{error}");
    assert_eq!(error.to_string(), simulation().run().expect_err("LP 2 panics").to_string());
}

/// The least delay, rounded as the engine does: down to three binary digits after the first.
fn rounded_down(delay: f64) -> f64 {
    f64::from_bits(delay.to_bits() >> 49 << 49)
}

/// Checks the findings for one number of cores.
fn check_cores(
    findings: &Findings,
    one: &CoreFindings,
    log: &Log,
    lookahead: &Lookahead,
    partition: &Partition,
) {
    let over = |time: u64| if time == 0 { 1.0 } else { findings.work as f64 / time as f64 };
    let (time, most) = log.in_order(partition);
    assert_eq!(
        (one.in_order, one.busiest.work, one.these_blocks),
        (over(time), most, over(most.max(findings.path.length)))
    );
    let declared = log.declared(lookahead, partition);
    assert_eq!(
        (one.declared_delay, one.declared),
        (declared, over(log.windows(partition, declared, 0))),
        "{} PEs",
        one.pes
    );
    let (least, from) = log.least_delay(partition, rounded_down);
    assert_eq!(one.seen_delay.is_some(), least < f64::INFINITY);
    if let Some(seen) = one.seen_delay {
        assert!(
            (seen.seen - least).abs() <= 1e-9 || seen.seen == seen.declared,
            "{seen:?} instead of {least}"
        );
    }
    let work = log.events.len() - from;
    let expected = (work as u64 >= findings.work / 10).then(|| {
        match log.windows(partition, rounded_down(least), from) {
            0 => 1.0,
            time => work as f64 / time as f64,
        }
    });
    assert_eq!(
        one.seen, expected,
        "{} PEs, {least} from event {from} of {}",
        one.pes, findings.events
    );
}

fn check_by_brute_force<M: Model + Clone>(model: &M, seed: u64, end: f64) -> Result<(), String> {
    let simulation = || Simulation::new(model.clone()).seed(seed).end(end);
    let explanation =
        simulation().explain(EventCost::Counted).map_err(|error| error.to_string())?;
    let run = simulation().run().map_err(|error| error.to_string())?;
    let findings = &explanation.findings;
    let log = Log::of(model, seed, end);
    assert_eq!(
        (findings.events, &explanation.digest),
        (run.record.committed_events, &run.record.digest)
    );
    assert_eq!(findings.events, log.events.len() as u64);
    check_bounds(findings);
    let lps = findings.path.lps.iter().map(|one| (one.lp.0, one.work)).collect();
    assert_eq!(
        Path { length: findings.path.length, messages: findings.path.messages, lps },
        log.path()
    );
    let lookahead = Lookahead::of(model, log.lps).map_err(|why| why.to_string())?;
    for one in &findings.cores {
        let partition =
            Partition::weighted(log.lps, one.pes, &lookahead, &Groups::default(), |lp| {
                model.weight(lp)
            })
            .map_err(|(lp, _)| lp.to_string())?;
        check_cores(findings, one, &log, &lookahead, &partition);
    }
    for delay in &findings.delays {
        let least = log
            .sends
            .iter()
            .filter(|sent| sent.from == delay.from)
            .map(|sent| sent.delay)
            .fold(f64::INFINITY, f64::min);
        assert!(
            (delay.seen - least).abs() <= 1e-9 || delay.seen == delay.declared,
            "{delay:?} instead of {least}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: cases(40), failure_persistence: None, max_shrink_iters: 500, ..Config::default() })]

    #[test]
    fn random_models_are_explained_as_by_brute_force(recipe: Recipe, seed: u64, end in 1.0..40.0) {
        let recipe = Recipe { energy: recipe.energy.min(1 + 1500 / (recipe.lps * recipe.starters)), ..recipe };
        let checked = check_by_brute_force(&RandomModel::<1, Inline>::new(&recipe), seed, end);
        prop_assert!(checked.is_ok(), "{:?}", checked);
    }
}
