//! What a run observes, and from when on: warm-up, rows, files.

use std::fs;
use std::time::Duration;

use crate::support::Scripted;
use serde_json::json;
use warpline::Synchronisation;
use warpline::base::LpId;
use warpline::prelude::*;
use warpline_testkit::{Story, time_limit};

const TICKS: Counter = Counter::slot(0);
const TIMES: Mean = Mean::slot(1);
const LEVEL: TimeMean = TimeMean::slot(2);
const SPREAD: Histogram = Histogram::slot(3);
const PLANNED: TimeMean = TimeMean::slot(4);
const TICKED: Table = Table(0);
const SUMMARY: Table = Table(1);

/// Two LPs tick at 1, 2, 3, … and keep a level that is the number of ticks so far.
#[derive(Debug, Default)]
struct Clock {
    /// The tick that fails, if any.
    fails: Option<u32>,
}

impl Model for Clock {
    type State = (u32, Level);
    type Event = ();

    fn lps(&self) -> u32 {
        2
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(TICKS, "ticks", "", "ticks").items(2);
        declare.mean(TIMES, "times", "s", "times of ticks");
        declare.time_mean(LEVEL, "level", "", "ticks so far, both LPs together");
        declare.histogram(SPREAD, "spread", "s", "times of ticks");
        declare.time_mean(PLANNED, "planned", "", "one span, known beforehand");
        declare.table(
            TICKED,
            "ticked",
            &[("tick", ""), ("half", "s"), ("odd", ""), ("remark, if any", "")],
        );
        declare.table(SUMMARY, "summary", &[("ticks", "1")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        lp.count(TICKS.at(1), 100);
        lp.observe(TIMES, 0.0);
        if lp.id().0 == 0 {
            lp.span(PLANNED, 2.0, 6.0, 3.0);
        }
        lp.send(lp.id(), 1.0, ());
        (0, Level::default())
    }

    fn handle(&self, (ticks, level): &mut Self::State, (): &(), lp: &mut Context<Self>) {
        *ticks += 1;
        lp.count(TICKS, 1);
        lp.observe(TIMES, lp.now());
        lp.sample(SPREAD, lp.now());
        level.set(f64::from(*ticks), LEVEL, lp);
        let remark: Cell = match *ticks {
            2 => "a \"second\", later".into(),
            3 => format!("two\n{}", "lines").into(),
            _ => "".into(),
        };
        lp.record(
            TICKED,
            &[(*ticks).into(), (lp.now() / 2.0).into(), (*ticks % 2 == 1).into(), remark],
        );
        if self.fails == Some(*ticks) {
            lp.fail("as planned");
        }
        lp.send(lp.id(), 1.0, ());
    }

    fn finish(&self, (ticks, _): &Self::State, lp: &mut Finish<Self>) {
        lp.record(SUMMARY, &[(*ticks).into()]);
    }
}

#[test]
fn without_warmup_everything_counts() {
    let run = Simulation::new(Clock::default()).end(4.5).run().expect("it runs");
    let statistics = &run.statistics;
    assert_eq!((statistics.counter(TICKS), statistics.counter(TICKS.at(1))), (8, 200));
    let times = statistics.mean(TIMES);
    assert_eq!(
        (times.count, times.mean, times.min, times.max),
        (10, Some(2.0), Some(0.0), Some(4.0))
    );
    // Each LP: 0 for 1, 1 for 1, 2 for 1, 3 for 1, 4 for 0.5.
    assert_eq!(statistics.time_mean(LEVEL).mean.map(|mean| mean * 4.5), Some(16.0));
    assert_eq!(statistics.histogram(SPREAD).count(), 8);
    assert_eq!(statistics.time_mean(PLANNED).mean.map(|mean| mean * 4.5), Some(7.5));
    assert_eq!(run.record.results["ticks"], json!([8, 200]));
}

#[test]
fn before_the_end_of_the_warmup_only_rows_count() {
    let run = Simulation::new(Clock::default()).end(4.5).warmup(2.0).run().expect("it runs");
    let statistics = &run.statistics;
    // The ticks at 2, 3 and 4; the warm-up's own end is observed.
    assert_eq!((statistics.counter(TICKS), statistics.counter(TICKS.at(1))), (6, 0));
    let times = statistics.mean(TIMES);
    assert_eq!((times.count, times.mean, times.min), (6, Some(3.0), Some(2.0)));
    assert_eq!(statistics.histogram(SPREAD).count(), 6);
    // Each LP: 2 for 1, 3 for 1, 4 for 0.5.
    assert_eq!(statistics.time_mean(LEVEL).mean.map(|mean| mean * 2.5), Some(14.0));
    // Observed at time 0, during the warm-up, but a span of time counts where it lies.
    assert_eq!(statistics.time_mean(PLANNED).mean.map(|mean| mean * 2.5), Some(7.5));
    assert_eq!(run.tables[0].rows.len(), 8, "rows are there from the start");
    assert_eq!(run.record.committed_events, 8);
    let all = Simulation::new(Clock::default()).end(4.5).run().expect("it runs");
    assert_eq!(all.record.digest, run.record.digest, "the warm-up changes nothing that happens");
    assert_eq!(all.tables, run.tables);
}

#[test]
fn rows_are_in_the_order_of_events() {
    let run = Simulation::new(Clock::default()).end(3.5).run().expect("it runs");
    let [ticked, summary] = &run.tables[..] else { panic!("two tables: {:?}", run.tables) };
    assert_eq!((ticked.name.as_str(), summary.name.as_str()), ("ticked", "summary"));
    let places: Vec<(f64, u32)> = ticked.rows.iter().map(|(time, lp, _)| (*time, lp.0)).collect();
    assert_eq!(places, [(1.0, 0), (1.0, 1), (2.0, 0), (2.0, 1), (3.0, 0), (3.0, 1)]);
    assert_eq!(
        ticked.rows[3].2,
        [2u32.into(), 1.0.into(), false.into(), "a \"second\", later".into()]
    );
    assert_eq!(
        summary.rows,
        [(3.5, LpId(0), vec![3u32.into()]), (3.5, LpId(1), vec![3u32.into()])]
    );
    assert_eq!(ticked.columns[1], ("half".to_owned(), "s".to_owned()));
}

/// The event rate is that of the event loop: working on results afterwards takes wall time, but
/// executes no events.
#[test]
fn the_event_rate_is_that_of_the_loop() {
    const RESULTS_TAKE: Duration = Duration::from_millis(60);
    for sync in [Synchronisation::Sequential, Synchronisation::Optimistic] {
        let _limit = time_limit(sync);
        let results = || {
            std::thread::sleep(RESULTS_TAKE);
            serde_json::Value::Null
        };
        let simulation =
            Simulation::new(Scripted { results, ..Scripted::default() }).end(10.0).sync(sync);
        let simulation =
            if sync == Synchronisation::Sequential { simulation } else { simulation.threads(2) };
        let record = simulation.run().expect("it runs").record;
        let wall = record.wall_seconds;
        let of_loop = record.loop_seconds;
        assert!(
            of_loop > 0.0 && wall >= of_loop + RESULTS_TAKE.as_secs_f64(),
            "{sync:?}: {of_loop} s of {wall} s"
        );
        assert_eq!((record.committed_events, record.event_rate), (3, 3.0 / of_loop), "{sync:?}");
    }
}

const TITLES: &str = "time,lp,tick,half [s],odd,\"remark, if any\"\n";

#[test]
fn rows_are_written_to_files() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let records = Records::Write(directory.path().to_owned());
    let run = Simulation::new(Clock::default()).end(2.5).records(records).run().expect("it runs");
    assert!(run.tables.is_empty() && run.incomplete.is_none());
    let read =
        |name: &str| fs::read_to_string(directory.path().join(name)).expect("the file was written");
    let rows = "1,0,1,0.5,true,\n1,1,1,0.5,true,\n2,0,2,1,false,\"a \"\"second\"\", \
                later\"\n2,1,2,1,false,\"a \"\"second\"\", later\"\n";
    assert_eq!(read("ticked.csv"), format!("{TITLES}{rows}"));
    assert_eq!(read("summary.csv"), "time,lp,ticks [1]\n2.5,0,2\n2.5,1,2\n");
    assert_eq!(fs::read_dir(directory.path()).expect("it is there").count(), 2);
    let records = Records::Write(directory.path().to_owned());
    Simulation::new(Clock::default()).end(3.5).records(records).run().expect("it runs");
    let more = "3,0,3,1.5,true,\"two\nlines\"\n3,1,3,1.5,true,\"two\nlines\"\n";
    assert_eq!(read("ticked.csv"), format!("{TITLES}{rows}{more}"));
}

/// Rows that were written to files before a mistake stay there, as the error says.
#[test]
fn rows_before_a_mistake_stay() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let records = Records::Write(directory.path().to_owned());
    let error = Simulation::new(Clock { fails: Some(2) })
        .records(records)
        .run()
        .expect_err("it fails at 2");
    assert!(
        error.to_string().contains("rows that were written to files before stay there"),
        "{error}"
    );
    let rows =
        fs::read_to_string(directory.path().join("ticked.csv")).expect("the file was written");
    assert_eq!(rows, format!("{TITLES}1,0,1,0.5,true,\n1,1,1,0.5,true,\n"));
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let nowhere = directory.path().join("nowhere");
    let error = Simulation::new(Clock::default())
        .records(Records::Write(nowhere.clone()))
        .run()
        .expect_err("there is no such directory");
    assert!(
        matches!(&error, Error::Rows { path, .. } if *path == nowhere.join("ticked.csv")),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.contains("cannot write rows")
            && text.contains("ticked.csv")
            && text.contains("another directory"),
        "{text}"
    );
}

/// A report of rows that were kept has the same files as one of rows that were written during the
/// run.
#[test]
fn a_run_writes_its_own_report() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("a/kept");
    let written = directory.path().join("written");
    std::fs::create_dir(&written).unwrap();
    let page = Simulation::new(Clock::default()).run().unwrap().report(&kept).unwrap();
    Simulation::new(Clock::default())
        .records(Records::Write(written.clone()))
        .run()
        .unwrap()
        .report(&written)
        .unwrap();
    assert_eq!(page, kept.join("report.html"));
    let names = |directory: &std::path::Path| {
        let mut names: Vec<_> =
            std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&kept), names(&written));
    let tables: Vec<_> =
        names(&kept).into_iter().filter(|name| name.to_string_lossy().ends_with(".csv")).collect();
    assert!(!tables.is_empty());
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    for table in tables {
        assert_eq!(read(kept.join(&table)), read(written.join(&table)));
        assert!(
            read(page.clone()).contains(&*table.to_string_lossy()),
            "the page links to {table:?}"
        );
    }
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let error = Simulation::new(Clock::default()).run().unwrap().report(&file).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot use ")
            && error.to_string().contains("name a directory"),
        "{error}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_one_file_and_nothing_else() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    std::os::unix::fs::symlink("/dev/full", directory.path().join("ticked.csv"))
        .expect("links can be made");
    // A short file fails when it is completed, a long one before.
    for end in [3.0, 3000.0] {
        let simulation = || Simulation::new(Clock::default()).end(end);
        let run = simulation()
            .records(Records::Write(directory.path().to_owned()))
            .run()
            .expect("the simulation itself is right");
        let error = run.incomplete.expect("the disk is full");
        assert!(
            matches!(&error, Error::Rows { path, .. } if path.ends_with("ticked.csv")),
            "{error:?}"
        );
        assert!(error.to_string().contains("free some space"), "{error}");
        let whole = simulation().run().expect("it runs");
        assert!(whole.incomplete.is_none());
        assert_eq!(
            (run.record.digest, run.record.results, run.states),
            (whole.record.digest, whole.record.results, whole.states)
        );
        let summary = fs::read_to_string(directory.path().join("summary.csv"))
            .expect("the other file was written");
        assert_eq!(summary.lines().count(), 3);
    }
}

#[test]
fn dropped_rows_leave_nothing() {
    let run =
        Simulation::new(Clock::default()).end(4.5).records(Records::Drop).run().expect("it runs");
    assert!(run.tables.is_empty());
    assert_eq!(run.statistics.counter(TICKS), 8);
}

const HELD: TimeMean = TimeMean::slot(0);
const APART: TimeMean = TimeMean::slot(1);
const FREE: TimeMean = TimeMean::slot(2);

/// Each of four LPs holds a level at 3. With `raises`, LP 2 raises its level to 5 halfway. The
/// model has no `finish`.
struct Holders {
    raises: bool,
}

impl Model for Holders {
    type State = [Level; 3];
    type Event = ();

    fn lps(&self) -> u32 {
        4
    }

    fn lookahead(&self) -> f64 {
        1.0
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.time_mean(HELD, "held", "", "all four together").slices(2);
        declare.time_mean(APART, "apart", "", "each for itself").items(4);
        declare.time_mean(FREE, "free", "", "0 at first, and for good");
    }

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        if lp.id() == LpId(2) {
            lp.send(lp.id(), 5.0, ());
        }
        let apart = APART.at(lp.id().0);
        [Level::new(3.0, HELD, lp), Level::new(3.0, apart, lp), Level::default()]
    }

    fn handle(&self, [held, apart, _]: &mut Self::State, (): &(), lp: &mut Context<Self>) {
        if self.raises {
            held.set(5.0, HELD, lp);
            apart.set(5.0, APART.at(lp.id().0), lp);
        }
    }
}

/// Every engine counts levels that never change.
#[test]
fn levels_count_whether_they_change_or_not() {
    let _limit = time_limit(100);
    let held = |raises: bool,
                simulation: &dyn Fn(
        Simulation<'static, Holders>,
    ) -> Simulation<'static, Holders>| {
        simulation(Simulation::new(Holders { raises }).end(10.0)).run().expect("it runs").record
    };
    let expected = held(true, &|simulation| simulation.sync(Synchronisation::Sequential));
    let results = &expected.results;
    let apart: Vec<_> = (0..4).map(|item| results["apart"][item]["mean"].clone()).collect();
    assert_eq!(
        (&results["held"]["mean"], json!(apart)),
        (&json!(13.0), json!([3.0, 3.0, 4.0, 3.0])),
        "{results}"
    );
    assert_eq!(
        (&results["held"]["levels"], &results["held"]["single_max"]),
        (&json!(4), &json!(5.0))
    );
    assert_eq!(
        (&results["apart"][2]["max"], &results["apart"][1]["min"]),
        (&json!(5.0), &json!(3.0))
    );
    assert_eq!((&results["free"]["mean"], &results["free"]["max"]), (&json!(0.0), &json!(0.0)));
    assert_eq!(expected.series["held"].values, [Some(12.0), Some(14.0)]);
    for pes in 1..=4 {
        for sync in [Synchronisation::Optimistic, Synchronisation::Conservative] {
            let record = held(true, &|simulation| simulation.sync(sync).threads(pes));
            assert_eq!(
                (&record.results, &record.series),
                (results, &expected.series),
                "{sync:?} on {pes} PEs"
            );
        }
    }
    let constant = held(false, &|simulation| simulation.warmup(0.3));
    assert_eq!(
        (&constant.results["held"]["mean"], &constant.results["apart"][3]["mean"]),
        (&json!(12.0), &json!(3.0))
    );
    let several =
        Simulation::new(Holders { raises: true }).end(10.0).replicate(3).expect("three runs");
    assert_eq!(
        several.spread("held").map(|held| (held.mean, held.deviation)),
        Some((13.0, Some(0.0)))
    );
}

const VALUES: Mean = Mean::slot(0);
const SPANS: TimeMean = TimeMean::slot(1);

/// Observes these values, and a span of each.
fn observing(values: &[f64]) -> Simulation<'static, Story> {
    let values = values.to_vec();
    let story = Story::new(1)
        .declare(|declare| {
            declare.mean(VALUES, "values", "", "what is given");
            declare.time_mean(SPANS, "spans", "", "the same, one after the other");
        })
        .init(move |lp| {
            for (number, &value) in (0u32..).zip(&values) {
                lp.observe(VALUES, value);
                lp.span(SPANS, f64::from(number), f64::from(number + 1), value);
            }
            0
        });
    Simulation::new(story)
}

/// Means and deviations neither overflow nor underflow, however large or small the values are.
#[test]
fn magnitudes_do_not_matter_to_means() {
    let observed = |values: &[f64]| {
        let end = values.len() as f64;
        observing(values).end(end).run().expect("it runs").statistics
    };
    for (values, mean, deviation) in [
        (&[1.0, 1e170][..], 0.5e170, 0.5f64.sqrt() * 1e170),
        (&[1e160, 2e160], 1.5e160, 0.5f64.sqrt() * 1e160),
        (&[1e-170, 2e-170], 1.5e-170, 0.5f64.sqrt() * 1e-170),
        (&[1e308, 1e308, 1e308], 1e308, 0.0),
    ] {
        let estimate = observed(values).mean(VALUES);
        let over_time = observed(values).time_mean(SPANS);
        let near = |is: Option<f64>| is.is_some_and(|is| (is - mean).abs() <= 1e-15 * mean);
        assert!(
            near(estimate.mean) && over_time.mean == estimate.mean,
            "{estimate:?} and {over_time:?} of {values:?}"
        );
        assert!(
            estimate.deviation.is_some_and(|is| (is - deviation).abs() <= 1e-15 * deviation),
            "{:?} of {values:?}",
            estimate.deviation
        );
    }
    // The area of the spans overflows, though every value is finite.
    let long = observing(&[1e300; 10]).end(1e10).run().expect("it runs");
    assert_eq!(long.statistics.time_mean(SPANS).mean, Some(1e300 / 1e9));
}
