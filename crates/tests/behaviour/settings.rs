//! Settings that make no sense are refused before anything is simulated, with a hint at what would.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::{Scripted, assert_words};
use warpline::prelude::*;
use warpline::{Cancellation, Settings, Synchronisation, Undo};
use warpline_testkit::{Hops, time_limit};

fn refusal(simulation: Simulation<Scripted>) -> String {
    match simulation.run() {
        Err(Error::Setting(message)) => message,
        other => panic!("expected the setting to be refused: {other:?}"),
    }
}

/// A model that must not be run.
fn idle() -> Scripted {
    Scripted { init: |_| panic!("nothing should be simulated"), ..Scripted::default() }
}

#[test]
fn impossible_ends_are_refused() {
    for (end, text) in [
        (0.0, "0"),
        (-1.0, "-1"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_words(
            &refusal(Simulation::new(idle()).end(end)),
            &["end time", text, "finite", "greater than 0"],
        );
    }
    let smallest = Simulation::new(Scripted::default())
        .end(f64::from_bits(1))
        .run()
        .expect("any time after 0 is an end");
    assert_eq!(smallest.record.committed_events, 0);
}

#[test]
fn impossible_warmups_are_refused() {
    for (warmup, text) in
        [(10.0, "10"), (11.0, "11"), (-0.5, "-0.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")]
    {
        assert_words(
            &refusal(Simulation::new(idle()).end(10.0).warmup(warmup)),
            &["warm-up", text, "between 0 and the end time, 10"],
        );
    }
}

#[test]
fn models_that_make_no_sense_are_refused() {
    assert_words(
        &refusal(Simulation::new(Scripted { lps: 0, ..idle() })),
        &["`Scripted`", "no LPs", "Model::lps"],
    );
    for lookahead in [-1.0, f64::NAN, f64::INFINITY] {
        let text = refusal(Simulation::new(Scripted { lookahead, ..idle() }));
        assert_words(&text, &["`Scripted`", "lookahead", &lookahead.to_string(), "finite"]);
    }
    let text = refusal(Simulation::new(Scripted {
        links: |lp| Some(vec![Link { to: LpId(lp.0 + 2), lookahead: 1.0 }]),
        ..idle()
    }));
    assert_words(&text, &["`Scripted`", "link from LP 2 to LP 4", "LPs 0 to 3", "Model::lps"]);
    let text = refusal(Simulation::new(Scripted {
        links: |_| Some(vec![Link { to: LpId(1), lookahead: -2.0 }]),
        ..idle()
    }));
    assert_words(&text, &["`Scripted`", "lookahead -2", "from LP 0 to LP 1", "finite"]);
    let text =
        refusal(Simulation::new(Scripted { links: |lp| panic!("{lp} knows nobody"), ..idle() }));
    assert_words(&text, &["`Scripted`", "panicked", "links", "LP 0 knows nobody"]);
    let text = refusal(Simulation::new(idle()).undo(Undo::Reverse));
    assert_words(&text, &["`Scripted`", "no reverse code", "Model::reverse", "#[model]", "copy"]);
    for cancellation in [Cancellation::Lazy, Cancellation::Dynamic] {
        let text = refusal(Simulation::new(idle()).cancellation(cancellation));
        let wanted = format!("--cancellation {}", cancellation.name());
        assert_words(
            &text,
            &[
                "`Scripted`",
                "compare its events",
                &wanted,
                "--cancellation aggressive",
                "PartialEq",
                "#[model(compare)]",
            ],
        );
    }
}

#[test]
fn impossible_weights_are_refused() {
    let refused = |weight| {
        refusal(
            Simulation::new(Scripted { weight, ..idle() })
                .threads(2)
                .sync(Synchronisation::Optimistic),
        )
    };
    assert_words(
        &refused(|lp| 1.0 - f64::from(lp.0)),
        &["`Scripted`", "weight -1 of LP 2: it", "finite", "zero or more"],
    );
    assert_words(&refused(|lp| if lp.0 == 3 { f64::NAN } else { 1.0 }), &["weight NaN", "LP 3"]);
    assert_words(
        &refused(|lp| panic!("{lp} has no weight")),
        &["`Scripted`", "panicked", "weights", "has no weight"],
    );
}

#[test]
fn groups_must_be_of_consecutive_lps() {
    let refused = |group| {
        refusal(
            Simulation::new(Scripted { group, ..idle() })
                .threads(2)
                .sync(Synchronisation::Optimistic),
        )
    };
    let text = refused(|lp| Some(lp.0 % 2 * 7));
    assert_words(
        &text,
        &["`Scripted`", "LP 0 and LP 2 in group 0", "consecutive numbers", "Model::group"],
    );
    assert_words(
        &refused(|lp| panic!("{lp} has no friends")),
        &["`Scripted`", "panicked", "groups", "has no friends"],
    );
    // Three of the four LPs belong together, so PEs have unequal shares.
    let together = Scripted { group: |lp| (lp.0 > 0).then_some(1), ..Scripted::default() };
    let run = Simulation::new(together)
        .threads(2)
        .virtual_cluster(1)
        .run()
        .expect("groups are only wishes");
    let pes: Vec<_> = run
        .record
        .parallel
        .expect("it was parallel")
        .pes
        .iter()
        .map(|pe| (pe.first_lp, pe.lps))
        .collect();
    assert_eq!(pes, [(0, 1), (1, 3)]);
}

#[test]
fn wrong_declarations_are_refused() {
    let refused =
        |declare: fn(&mut Declarations)| refusal(Simulation::new(Scripted { declare, ..idle() }));
    let text = refused(|d| {
        d.counter(Counter::slot(0), "a", "", "");
        d.mean(Mean::slot(0), "b", "", "");
    });
    assert_words(&text, &["`Scripted`", "statistic `b`", "slot 0", "next free slot is 1"]);
    let text = refused(|d| {
        d.counter(Counter::slot(1), "a", "", "");
    });
    assert_words(&text, &["statistic `a`", "slot 1", "next free slot is 0"]);
    let text = refused(|d| {
        d.counter(Counter::slot(0), "a", "", "");
        d.histogram(Histogram::slot(1), "a", "", "");
    });
    assert_words(&text, &["two statistics", "`a`", "own name"]);
    assert_words(
        &refused(|d| d.table(Table(3), "t", &[])),
        &["table `t`", "slot 3", "next free slot is 0"],
    );
    let text = refused(|d| [0, 1].into_iter().for_each(|slot| d.table(Table(slot), "t", &[])));
    assert_words(&text, &["two tables", "`t`"]);
}

#[test]
fn impossible_numbers_of_threads_are_refused() {
    let with =
        |threads, model| Simulation::new(model).sync(Synchronisation::Optimistic).threads(threads);
    for threads in [0, 262_145, u32::MAX] {
        assert_words(
            &refusal(with(threads, idle())),
            &["`threads` cannot be", &threads.to_string(), "it takes", "1"],
        );
    }
    assert_words(&refusal(with(262_145, idle())), &["1 to 262144", "takes memory", "cores"]);
    // With more threads than LPs, there are as many PEs as LPs.
    let _limit = time_limit("four threads");
    let run = with(262_144, Scripted::default()).run().expect("262144 are allowed");
    assert_eq!(
        (&run.record.engine["threads"], run.record.parallel.expect("it was parallel").pes.len()),
        (&4.into(), 4)
    );
}

/// States of four megabytes for a million LPs or more, which fit no machine.
#[derive(Debug)]
struct Vast {
    lps: u32,
}

impl Model for Vast {
    type State = [u8; 1 << 22];
    type Event = ();
    fn lps(&self) -> u32 {
        self.lps
    }
    fn init(&self, _: &mut Init<Self>) -> Self::State {
        panic!("nothing should be simulated")
    }
    fn handle(&self, _: &mut Self::State, (): &(), _: &mut Context<Self>) {}
}

/// This is an error, not an abort.
#[test]
fn states_that_do_not_fit_are_an_error() {
    match Simulation::new(Vast { lps: 1 << 26 }).run() {
        Err(error @ Error::Memory { .. }) => {
            assert_words(&error.to_string(), &["the states of LPs", "GB", "fewer LPs"])
        }
        other => panic!("expected the model to be refused: {:?}", other.err()),
    }
}

#[test]
fn a_run_that_asks_for_too_much_leaves_other_runs_alone() {
    let refused = || {
        let vast = Simulation::new(Vast { lps: 1 << 20 });
        assert!(matches!(vast.run(), Err(Error::Memory { .. })));
    };
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| (0..100).for_each(|_| refused()));
        let mut runs = 0;
        while runs < 5 || !asks.is_finished() {
            let hops = Hops { lps: 2000, messages: 10, lookahead: 0.1 };
            let run = Simulation::new(hops).end(0.5).threads(2).run();
            assert!(run.is_ok(), "{:?}", run.err());
            runs += 1;
        }
    });
}

#[test]
fn verification_checks_settings_too() {
    for simulation in
        [Simulation::new(idle()).end(-1.0), Simulation::new(idle()).undo(Undo::Reverse)]
    {
        assert!(matches!(simulation.verify(), Err(warpline::VerifyError::Run(Error::Setting(_)))));
    }
}

/// A model that gives each answer about itself once, and then another one.
#[derive(Debug, Default)]
struct Fickle {
    lps: AtomicU32,
    lookahead: AtomicU32,
    ties: AtomicU32,
    /// By LP.
    links: [AtomicU32; 6],
    lookahead_of: [AtomicU32; 6],
}

impl Fickle {
    fn first(asked: &AtomicU32) -> bool {
        asked.fetch_add(1, Ordering::Relaxed) == 0
    }
}

impl Model for &'static Fickle {
    type State = u64;
    type Event = ();

    fn lps(&self) -> u32 {
        if Fickle::first(&self.lps) { 6 } else { 3 }
    }

    fn lookahead(&self) -> f64 {
        if Fickle::first(&self.lookahead) { 0.25 } else { 7.5 }
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let first = Fickle::first(&self.links[lp.index()]);
        (!first || lp.0 == 4).then(|| {
            (0..if first { 6 } else { 1 }).map(|to| Link { to: LpId(to), lookahead: 0.5 }).collect()
        })
    }

    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        let first = Fickle::first(&self.lookahead_of[lp.index()]);
        (!first || lp.0 == 2).then_some(if first { 0.375 } else { 9.0 })
    }

    fn unbiased_ties(&self) -> bool {
        Fickle::first(&self.ties)
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        lp.send(lp.id(), 1.0, ());
        0
    }

    fn handle(&self, seen: &mut u64, (): &(), lp: &mut Context<Self>) {
        *seen = seen.rotate_left(5) ^ lp.random().next_u64();
        let lps = lp.lps();
        let to = lp.random().below(lps);
        lp.send(to, 0.5, ());
    }
}

#[test]
fn every_question_to_a_model_is_asked_once() {
    let model: &'static Fickle = Box::leak(Box::default());
    let expected = Simulation::new(model).end(20.0).run().expect("it runs");
    let asked = |model: &Fickle| {
        // LP 4 has links, and is not asked for its lookahead.
        assert_eq!(model.links.each_ref().map(|asked| asked.load(Ordering::Relaxed)), [1; 6]);
        assert_eq!(
            model.lookahead_of.each_ref().map(|asked| asked.load(Ordering::Relaxed)),
            [1, 1, 1, 1, 0, 1]
        );
        [&model.lps, &model.lookahead, &model.ties].map(|asked| asked.load(Ordering::Relaxed))
    };
    assert_eq!(asked(model), [1; 3]);
    let recorded = |run: &warpline::Run<&'static Fickle>| {
        ["lps", "lookahead", "ties"].map(|setting| run.record.engine[setting].to_string())
    };
    assert_eq!(recorded(&expected), ["6", "0.25", "\"unbiased\""]);
    for (threads, cluster) in [(1, None), (3, None), (3, Some(5))] {
        let model: &'static Fickle = Box::leak(Box::default());
        let simulation =
            Simulation::new(model).end(20.0).sync(Synchronisation::Optimistic).threads(threads);
        let run = cluster
            .into_iter()
            .fold(simulation, Simulation::virtual_cluster)
            .run()
            .expect("it runs");
        assert_eq!(
            (run.record.digest.as_str(), &run.states),
            (expected.record.digest.as_str(), &expected.states)
        );
        assert_eq!(
            (asked(model), recorded(&run)),
            ([1; 3], recorded(&expected)),
            "{threads} threads, {cluster:?}"
        );
    }
    let model: &'static Fickle = Box::leak(Box::default());
    let verified = Simulation::new(model).end(20.0).verify().expect("copies undo anything");
    assert_eq!((asked(model), verified.digest), ([1; 3], expected.record.digest));
}

/// A report is made from the record alone, and shows what each setting does and when it hurts.
#[test]
fn a_record_says_what_its_settings_mean() {
    let sequential = Simulation::new(Scripted::default());
    let parallel = Simulation::new(Scripted::default())
        .sync(Synchronisation::Optimistic)
        .threads(2)
        .virtual_cluster(1);
    for (simulation, has_gvt) in [(sequential, false), (parallel, true)] {
        let record = simulation.run().expect("it runs").record;
        assert_eq!(record.settings.iter().any(|note| note.name == "gvt_interval"), has_gvt);
        for setting in Settings::table() {
            let name = setting.name.replace('-', "_");
            let has_value = ["seed", "end"].contains(&&*name) || record.engine.contains_key(&name);
            let note = record.settings.iter().find(|note| note.name == name);
            assert_eq!(note.is_some(), has_value, "{name}");
            if let Some(note) = note {
                assert_eq!(
                    (&*note.unit, &note.meaning, &*note.hurts),
                    (setting.unit, &setting.meaning, setting.hurts)
                );
                assert!(!note.meaning.is_empty() && !note.hurts.is_empty(), "{name}");
            }
        }
    }
}
