//! Conservative LPs among optimistic ones, and effects of events on the outside world.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpline::prelude::*;
use warpline::{GvtAlgorithm, LpChoice, Messages, Synchronisation};
use warpline_testkit::Story;
use warpline_testkit::matrix::ALGORITHMS;

#[path = "../../warpline/examples/live_log/plant.rs"]
mod plant;

use plant::{Plant, Setup};

/// The plant of the example, with a log in this directory.
fn simulation(directory: &Path, bursts_at: f64) -> Simulation<'static, Plant> {
    let log = directory.join("live.log").display().to_string();
    let setup = Setup { tanks: 40, alarm: 6.0, bursts_at, log };
    Simulation::configured(&setup).expect("a plant").end(30.0)
}

/// Ways to run it in parallel, on threads and in virtual clusters, with and without the use of
/// lookahead.
fn ways() -> Vec<(String, impl Fn(Simulation<'static, Plant>) -> Simulation<'static, Plant>)> {
    let mut ways = Vec::new();
    for (number, gvt) in (0..).zip(ALGORITHMS.iter().copied()) {
        for (pes, cluster) in
            [(2, None), (2, Some(number)), (3, Some(10 + number)), (7, Some(20 + number))]
        {
            for lookahead in [true, false] {
                let messages = [Messages::Auto, Messages::Copy, Messages::Shared]
                    [(number as usize + pes as usize) % 3];
                let way = move |simulation: Simulation<'static, Plant>| {
                    let simulation = simulation
                        .sync(Synchronisation::Mixed)
                        .threads(pes)
                        .gvt(gvt)
                        .use_lookahead(lookahead)
                        .messages(messages);
                    cluster.into_iter().fold(simulation, Simulation::virtual_cluster)
                };
                ways.push((
                    format!(
                        "{gvt:?}, {pes} PEs, {messages:?}, cluster {cluster:?}, \
                                    lookahead {lookahead}"
                    ),
                    way,
                ));
            }
        }
    }
    ways
}

fn log_in(directory: &Path) -> Vec<String> {
    std::fs::read_to_string(directory.join("live.log"))
        .expect("there is a log")
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_log_of_a_conservative_lp_is_that_of_a_sequential_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let expected =
        simulation(directory.path(), 1e9).sync(Synchronisation::Sequential).run().expect("a run");
    let lines = log_in(directory.path());
    assert!(lines.len() > 100, "{} lines", lines.len());
    let mut undone = 0;
    for (name, way) in ways() {
        let run = way(simulation(directory.path(), 1e9)).run().expect("a run");
        assert_eq!(run.record.digest, expected.record.digest, "{name}");
        assert!(log_in(directory.path()) == lines, "{name}: another log");
        let [tanks, room] = &run.record.kinds[..] else { panic!("{name}: {:?}", run.record.kinds) };
        assert_eq!(
            (room.kind.as_str(), room.conservative, room.lps, room.rolled_back_events),
            ("control room", true, 1, 0),
            "{name}"
        );
        assert_eq!(
            (tanks.kind.as_str(), tanks.conservative, tanks.lps),
            ("tank", false, 40),
            "{name}"
        );
        assert_eq!(
            (room.committed_events, room.committed_events + tanks.committed_events),
            (lines.len() as u64, run.record.committed_events)
        );
        assert!(
            room.set_aside_events >= room.committed_events
                || run.record.engine["use_lookahead"] == true,
            "{name}: {room:?}"
        );
        undone += tanks.rolled_back_events;
    }
    assert!(undone > 0, "the others were undone");
}

/// Tanks that go ahead may burst long before the control room has heard of what happened earlier.
#[test]
fn nothing_is_logged_that_follows_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let empty =
        || std::fs::write(directory.path().join("live.log"), "").expect("it can be emptied");
    let mut all = 0;
    for bursts_at in [6.2, 7.0, 7.5, 8.0] {
        empty();
        let text = |error: Error| error.to_string();
        let failed = simulation(directory.path(), bursts_at)
            .sync(Synchronisation::Sequential)
            .run()
            .map_err(text)
            .expect_err("a tank bursts");
        let lines = log_in(directory.path());
        all += lines.len();
        for (name, way) in ways() {
            empty();
            assert_eq!(
                way(simulation(directory.path(), bursts_at)).run().map_err(text).err().as_ref(),
                Some(&failed),
                "{name}"
            );
            assert!(log_in(directory.path()) == lines, "{name}, {bursts_at}: another log");
        }
    }
    assert!(all > 10, "{all} lines before a tank bursts");
}

const CLOCKS: u32 = 6;
const WAITS: u32 = 4;

/// LPs with clocks, each of whose ticks is reported outside.
struct Clocks {
    story: Story,
    said: Arc<Mutex<Vec<(u32, u64)>>>,
    /// How many ticks the conservative LP has executed.
    ticked: Arc<AtomicU32>,
}

impl Clocks {
    /// The report of this tick of the conservative LP fails, if any does.
    fn new(fails_at: Option<u64>) -> Self {
        let said = Arc::<Mutex<Vec<_>>>::default();
        let ticked = Arc::<AtomicU32>::default();
        let list = said.clone();
        let count = ticked.clone();
        let story = Story::new(CLOCKS)
            .is_conservative(|lp| lp.0 == WAITS)
            .init(|lp| {
                lp.send(lp.id(), 1.0 + 0.125 * f64::from(lp.id().0), 0);
                0
            })
            .handle(move |ticks, _, lp| {
                *ticks += 1;
                let id = lp.id().0;
                if id == WAITS {
                    // Only a conservative LP executes each event exactly once.
                    count.fetch_add(1, Ordering::Relaxed);
                }
                let tick = *ticks;
                let said = list.clone();
                lp.when_settled(move || {
                    assert!(fails_at != Some(tick) || id != WAITS, "the printer is on fire");
                    said.lock().unwrap().push((id, tick));
                });
                let other = (id + 1) % CLOCKS;
                let to = if lp.random().below(4) == 0 { other } else { id };
                let delay = lp.random().exponential(1.0);
                lp.send(to, delay, 0);
            });
        Clocks { story, said, ticked }
    }
}

#[test]
fn effects_outside_happen_in_the_order_of_events() {
    let said = |simulation: Simulation<'static, Story>, said: &Mutex<Vec<(u32, u64)>>| {
        simulation.end(50.0).run().expect("a run");
        std::mem::take(&mut *said.lock().unwrap())
    };
    let Clocks { story, said: list, .. } = Clocks::new(None);
    let expected = said(Simulation::new(story).sync(Synchronisation::Sequential), &list);
    assert!(expected.len() > 100);
    for &gvt in ALGORITHMS {
        let Clocks { story, said: list, ticked } = Clocks::new(None);
        let run = Simulation::new(story).threads(3).virtual_cluster(7).gvt(gvt);
        assert_eq!(said(run, &list), expected, "{gvt:?}");
        let own = expected.iter().filter(|(id, _)| *id == WAITS).count();
        assert_eq!(
            ticked.load(Ordering::Relaxed) as usize,
            own,
            "{gvt:?}: a conservative LP executes each event once"
        );
    }
}

const TICKS_MOST: u32 = 3000;

/// An LP that waits until its first effect outside has happened, for at most `TICKS_MOST` ticks,
/// which it counts.
fn patient(waited: Arc<AtomicU32>) -> Story {
    let heard = Arc::<AtomicBool>::default();
    Story::new(2)
        .is_conservative(|lp| lp.0 == 0)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(move |_, tick, lp| {
            if lp.id().0 == 0 {
                let hears = heard.clone();
                lp.when_settled(move || hears.store(true, Ordering::Relaxed));
                if !heard.load(Ordering::Relaxed) {
                    waited.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            if tick < u64::from(TICKS_MOST) {
                lp.send(lp.id(), 1.0, tick + 1);
            }
        })
}

/// Effects outside happen while the run goes on, not only at its end.
#[test]
fn effects_outside_happen_soon() {
    for (sync, threads) in
        [(Synchronisation::Sequential, 1), (Synchronisation::Mixed, 1), (Synchronisation::Mixed, 2)]
    {
        let waited = Arc::<AtomicU32>::default();
        let model = patient(waited.clone());
        Simulation::new(model).sync(sync).threads(threads).end(1e9).run().expect("a run");
        let waited = waited.load(Ordering::Relaxed);
        assert!(
            (1..TICKS_MOST).contains(&waited),
            "{sync:?}, {threads} threads: {waited} ticks of {TICKS_MOST}"
        );
    }
}

#[test]
fn an_effect_that_panics_is_the_last() {
    let expected =
        Simulation::new(Clocks::new(None).story).end(30.0).run().expect("a run").record.digest;
    for sync in [Synchronisation::Sequential, Synchronisation::Mixed] {
        let Clocks { story, said, .. } = Clocks::new(Some(3));
        let run = Simulation::new(story).sync(sync).end(30.0).run().expect("a run");
        assert_eq!(run.record.digest, expected, "the run goes on");
        let Some(Error::Act { lp, why, .. }) = run.incomplete else {
            panic!("{sync:?}: {:?}", run.incomplete)
        };
        assert_eq!((lp, why.starts_with("the printer is on fire")), (LpId(WAITS), true), "{why}");
        let said = said.lock().unwrap();
        assert!(
            said.contains(&(WAITS, 2)) && !said.contains(&(WAITS, 3)) && !said.contains(&(0, 20)),
            "{sync:?}: {said:?}"
        );
    }
}

#[test]
fn verification_and_explanation_have_no_effects_outside() {
    let Clocks { story, said, .. } = Clocks::new(None);
    Simulation::new(story.clone()).end(10.0).verify().expect("it is in order");
    Simulation::new(story)
        .end(10.0)
        .explain(warpline::EventCost::Counted)
        .expect("it can be explained");
    assert_eq!(*said.lock().unwrap(), []);
}

#[test]
fn conservative_lps_are_refused_where_they_make_no_sense() {
    let clocks = || Simulation::new(Clocks::new(None).story).end(10.0);
    let refused = |simulation: Simulation<'static, Story>| {
        simulation.run().expect_err("it is refused").to_string()
    };
    let error = refused(clocks().sync(Synchronisation::Optimistic));
    assert!(
        error.contains("every LP goes ahead, but 1 of model") && error.contains("--sync mixed"),
        "{error}"
    );
    for (choice, expected) in [
        ("7", "there is no LP 7: ids go from 0 to 5"),
        ("clock", "no kind of LP called `clock`: the model names none"),
    ] {
        let choice = warpline::settings::SettingValue::parse(choice).expect("it can be read");
        let error = refused(clocks().conservative_lps(choice));
        assert!(error.contains(expected), "{error}");
    }
    let error =
        refused(clocks().sync(Synchronisation::Conservative).conservative_lps(LpChoice::all()));
    assert!(error.contains("`conservative-lps` is `all`, but `sync` is `conservative`"), "{error}");
    let sync = |simulation: Simulation<'static, Story>| {
        simulation.run().expect("it runs").record.engine["sync"].clone()
    };
    assert_eq!(
        sync(clocks().sync(Synchronisation::Optimistic).conservative_lps(LpChoice::none())),
        "optimistic"
    );
    assert_eq!(
        sync(clocks().threads(2)),
        "mixed",
        "several threads mean a mixed run if there are conservative LPs"
    );
    assert_eq!(sync(clocks().gvt(GvtAlgorithm::Gsu).conservative_lps(LpChoice::all())), "mixed");
}
